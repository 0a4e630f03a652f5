from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.coupling.binding import binding
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.effect import ProviderReport
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.session import ExitKind, ProcessExit

OTHER = sha256_of(b"another build")


def proof_of(evidence: RunEvidence, index: int, **changed: Any) -> RunEvidence:
    """The evidence with one session's proof changed."""
    sessions = list(evidence.sessions)
    proof = sessions[index].proof
    assert proof is not None
    sessions[index] = replace(sessions[index], proof=replace(proof, **changed))
    return replace(evidence, sessions=tuple(sessions))


def test_the_declared_build_seen_running_everywhere_proves_identity(honest: RunEvidence) -> None:
    finding = binding(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.IDENTITY,)
    assert finding.number == 60


def test_one_session_on_another_snapshot_is_an_exact_alarm(honest: RunEvidence) -> None:
    finding = binding(proof_of(honest, 7, snapshot_digest=OTHER))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "1 of 60 sessions mounted" in finding.seen
    assert OTHER in finding.seen
    assert finding.remedy
    assert finding.discharges == ()


def test_a_witness_that_saw_nothing_of_the_snapshot_run_is_an_exact_alarm(honest: RunEvidence) -> None:
    finding = binding(proof_of(honest, 0, exec_seen=False))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "exec witness" in finding.seen


@pytest.mark.parametrize("changed", [{"exec_seen": None}, {"snapshot_digest": ""}])
def test_one_session_without_observed_identity_is_missing(honest: RunEvidence, changed: dict[str, Any]) -> None:
    finding = binding(proof_of(honest, 3, **changed))
    assert finding.state is FindingState.MISSING
    assert "1 of 60 sessions have no observed identity" in finding.seen
    assert finding.discharges == ()


def test_a_session_without_any_proof_is_missing(honest: RunEvidence) -> None:
    first, *rest = honest.sessions
    assert binding(replace(honest, sessions=(replace(first, proof=None), *rest))).state is FindingState.MISSING


def test_a_report_about_an_older_build_is_an_exact_alarm(honest: RunEvidence) -> None:
    finding = binding(replace(honest, expected_digest=OTHER))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "current build" in finding.seen


def test_identity_is_missing_while_the_current_build_is_not_told(honest: RunEvidence) -> None:
    finding = binding(replace(honest, expected_digest=None))
    assert finding.state is FindingState.MISSING
    assert "was not told" in finding.seen
    assert "--digest" in finding.remedy


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:xyz", "none"])
def test_a_digest_that_is_none_never_matches_even_itself(honest: RunEvidence, digest: str) -> None:
    evidence = replace(honest, build=AgentBuild(digest, {}), expected_digest=digest)
    for index in range(60):
        evidence = proof_of(evidence, index, snapshot_digest=digest)
    finding = binding(evidence)
    assert finding.state is FindingState.MISSING
    assert "no well-formed build digest" in finding.seen


def test_a_pinned_suite_binds_to_its_pin_not_to_the_current_build(honest: RunEvidence) -> None:
    pinned = replace(honest, mode="pinned", pin=honest.build.digest, expected_digest=OTHER)
    assert binding(pinned).state is FindingState.CLEAR
    assert binding(replace(pinned, expected_digest=None)).state is FindingState.CLEAR
    wrong = binding(replace(pinned, pin=OTHER))
    assert wrong.state is FindingState.ALARM
    assert "the pin is" in wrong.seen


def test_a_pinned_suite_without_a_pin_is_missing(honest: RunEvidence) -> None:
    finding = binding(replace(honest, mode="pinned", pin=None))
    assert finding.state is FindingState.MISSING
    assert "names no pin" in finding.seen


def test_the_process_provider_never_proves_identity(honest: RunEvidence) -> None:
    finding = binding(replace(honest, provider=replace(honest.provider, name="process")))
    assert finding.state is FindingState.MISSING
    assert "exec witness" in finding.seen


def test_a_session_that_never_came_to_life_owes_no_proof(honest: RunEvidence) -> None:
    first, *rest = honest.sessions
    dead = replace(
        first,
        exit=ProcessExit(ExitKind.HARNESS_ERROR, why="no space"),
        answer=None,
        answer_why="no space",
        effects=(),
        proof=None,
    )
    assert binding(replace(honest, sessions=(dead, *rest))).state is FindingState.CLEAR
    assert binding(replace(honest, sessions=(dead,))).state is FindingState.MISSING


def test_a_session_that_failed_after_acting_owes_proof(honest: RunEvidence) -> None:
    first, *rest = honest.sessions
    acted = replace(first, exit=ProcessExit(ExitKind.HARNESS_ERROR), answer=None, answer_why="lost", proof=None)
    assert binding(replace(honest, sessions=(acted, *rest))).state is FindingState.MISSING


def test_the_report_of_a_provider_from_outside_is_taken_at_its_word(honest: RunEvidence) -> None:
    assert binding(replace(honest, provider=ProviderReport("firecracker", "1", (), ()))).state is FindingState.CLEAR
