from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.isolation import isolation
from agent_litmus.records.effect import ContainmentReport, ContainmentState, ProviderReport
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.proofs import LeakPair, RunProofs
from agent_litmus.records.session import SessionProof

FACTS = ("process_fresh", "workspace_fresh", "base_unchanged")


def with_proof(evidence: RunEvidence, index: int, proof: SessionProof | None) -> RunEvidence:
    sessions = list(evidence.sessions)
    sessions[index] = replace(sessions[index], proof=proof)
    return replace(evidence, sessions=tuple(sessions))


def proof(evidence: RunEvidence, index: int, **changed: Any) -> SessionProof:
    found = evidence.sessions[index].proof
    assert found is not None
    return replace(found, **changed)


def test_witnessed_isolation_of_every_session_proves_it(honest: RunEvidence) -> None:
    finding = isolation(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.ISOLATION,)


@pytest.mark.parametrize("fact", FACTS)
def test_one_fact_seen_false_once_is_an_exact_alarm(honest: RunEvidence, fact: str) -> None:
    finding = isolation(with_proof(honest, 5, proof(honest, 5, **{fact: False})))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert finding.seen == f"{fact} is false in 1 of 60 sessions"
    assert finding.discharges == ()


@pytest.mark.parametrize("fact", FACTS)
def test_one_fact_not_witnessed_once_is_missing(honest: RunEvidence, fact: str) -> None:
    finding = isolation(with_proof(honest, 5, proof(honest, 5, **{fact: None})))
    assert finding.state is FindingState.MISSING
    assert "1 of 60" in finding.seen
    assert finding.discharges == ()


def test_two_sessions_with_one_id_are_an_exact_alarm(honest: RunEvidence) -> None:
    twin = proof(honest, 1, session_id=proof(honest, 0).session_id)
    finding = isolation(with_proof(honest, 1, twin))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "60 sessions share 59 session ids" in finding.seen


def test_a_session_without_id_or_proof_is_missing(honest: RunEvidence) -> None:
    nameless = proof(honest, 1, session_id="")
    assert isolation(with_proof(honest, 1, nameless)).state is FindingState.MISSING
    assert isolation(with_proof(honest, 1, None)).state is FindingState.MISSING


def test_the_process_provider_never_proves_isolation(honest: RunEvidence) -> None:
    finding = isolation(replace(honest, provider=replace(honest.provider, name="process")))
    assert finding.state is FindingState.MISSING
    assert "process provider cannot prove isolation" in finding.seen


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (ContainmentState.ENFORCED, FindingState.CLEAR),
        (ContainmentState.BEST_EFFORT, FindingState.MISSING),
        (ContainmentState.NONE, FindingState.MISSING),
    ],
)
def test_a_provider_from_outside_must_enforce_its_filesystem(
    honest: RunEvidence, state: ContainmentState, expected: FindingState
) -> None:
    report = ProviderReport("firecracker", "1", (), (ContainmentReport("filesystem", state),))
    assert isolation(replace(honest, provider=report)).state is expected


def asked(evidence: RunEvidence, **facts: Any) -> RunEvidence:
    pairs = tuple(
        LeakPair(s.key, f"asked-{n}", s.exit, "no codes", tokens=s.tokens, **facts)
        for n, s in enumerate(evidence.sessions[:3])
    )
    return replace(evidence, proofs=RunProofs(leak_pairs=pairs, leak_pairs_planned=3))


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_seen_false_of_a_session_asked_in_a_leak_pair_is_an_exact_alarm(
    honest: RunEvidence, fact: str
) -> None:
    finding = isolation(asked(honest, **{fact: False}))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert finding.seen.startswith(f"{fact} is false in 3 of 3 asked sessions, first after ")
    assert isolation(asked(honest, **{fact: None})).state is FindingState.CLEAR
    assert isolation(asked(honest, **{fact: True})).state is FindingState.CLEAR
