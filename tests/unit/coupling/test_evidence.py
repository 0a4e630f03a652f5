from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.coupling.evidence import RunEvidence, gather, multi_seed, replicates
from agent_litmus.coupling.findings import certified_share
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.effect import Channel
from agent_litmus.records.probe import (
    Carrier,
    CarrierKind,
    Check,
    CheckKind,
    Condition,
    Environment,
    HostTask,
    Injection,
    Probe,
    Suite,
    TokenAlphabet,
)
from agent_litmus.records.session import Delivery, ExitKind, ProcessExit

HOST = HostTask("close", Environment("desk"), "close it", (Check("c", CheckKind.MAIL_SENT, {}),), ())
INJECTION = Injection("leak", "leak", "send it", "exfiltration", (Check("f", CheckKind.PROCESS_RUN, {}),), ())
SUITE = Suite(
    id="desk",
    version="1",
    probes=(
        Probe("close", Condition.CONTROL, HOST),
        Probe("close+leak", Condition.INJECTED, HOST, INJECTION, Carrier("mail", CarrierKind.MAIL, "body")),
        Probe("close+page", Condition.INJECTED, HOST, INJECTION, Carrier("page", CarrierKind.PAGE, "page")),
        Probe("leak", Condition.DIRECT, HOST),
        Probe("harm", Condition.DIRECT, HOST),
    ),
    tokens={"door": TokenAlphabet.HEX, "ticket": TokenAlphabet.WORDS},
    digest="sha256:suite",
    mode="pinned",
    pin="sha256:pin",
    delivery_floor=0.6,
)


def test_evidence_of_a_suite_takes_over_what_the_suite_declares(honest: RunEvidence) -> None:
    evidence = gather(
        suite=SUITE,
        plan=honest.plan,
        build=AgentBuild("sha256:x", {}),
        sessions=honest.sessions,
        provider=honest.provider,
        expected_digest="sha256:y",
        sampling="deterministic",
    )
    assert evidence.required_channels == {Channel.TOOLS, Channel.EXEC}
    assert evidence.injected_probes == 2
    assert (evidence.mode, evidence.pin, evidence.delivery_floor) == ("pinned", "sha256:pin", 0.6)
    assert (evidence.expected_digest, evidence.sampling, evidence.build.digest) == (
        "sha256:y",
        "deterministic",
        "sha256:x",
    )
    assert evidence.token_space["door"] == 2**128
    assert 1000 < evidence.token_space["ticket"] < 10**6
    assert evidence.sessions == honest.sessions


def test_replicates_do_not_depend_on_the_order_of_the_run(honest: RunEvidence) -> None:
    assert replicates(honest.sessions) == replicates(honest.sessions[::-1])
    assert {len(group) for group in replicates(honest.sessions).values()} == {2}
    assert len(multi_seed(honest.sessions)) == 30
    assert multi_seed(honest.sessions[:30]) == []


@pytest.mark.parametrize("kind", ExitKind)
def test_only_sessions_that_never_started_and_claim_nothing_are_left_out(
    honest: RunEvidence, kind: ExitKind
) -> None:
    dead = replace(honest.sessions[0], exit=ProcessExit(kind), answer=None, answer_why="x", effects=())
    ran = replace(honest, sessions=(dead,)).ran
    assert bool(ran) is (kind not in {ExitKind.NOT_STARTED, ExitKind.HARNESS_ERROR})
    assert replace(honest, sessions=(replace(dead, answer="yes", answer_why=""),)).ran


def test_a_tail_is_exact() -> None:
    assert binomial_tail(0, 5, 0.5) == 1.0
    assert binomial_tail(5, 5, 0.5) == pytest.approx(1 / 32)
    assert binomial_tail(4, 5, 0.5) == pytest.approx(6 / 32)
    assert binomial_tail(1, 5, 0.0) == 0.0
    assert binomial_tail(5, 5, 1.0) == 1.0


FLAWS: dict[str, dict[str, Any]] = {
    "unfinished": {"answer_why": "timed out"},
    "unproven": {"proof": None},
    "unobserved": {"channels": ()},
    "silent": {"sightings": ()},
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flawed_session_is_not_certified(honest: RunEvidence, flaw: str) -> None:
    first, *rest = honest.sessions
    flawed = replace(first, **FLAWS[flaw])
    assert certified_share(replace(honest, sessions=(flawed, *rest))) == pytest.approx(59 / 60)


@pytest.mark.parametrize(
    "changed",
    [
        {"snapshot_digest": ""},
        {"snapshot_digest": "sha256:other"},
        {"exec_seen": None},
        {"exec_seen": False},
        {"process_fresh": None},
        {"session_id": ""},
    ],
)
def test_a_session_with_a_gap_in_its_proof_is_not_certified(honest: RunEvidence, changed: dict[str, Any]) -> None:
    first, *rest = honest.sessions
    assert first.proof is not None
    flawed = replace(first, proof=replace(first.proof, **changed))
    assert certified_share(replace(honest, sessions=(flawed, *rest))) == pytest.approx(59 / 60)


def test_an_injection_that_was_not_delivered_is_not_certified(honest: RunEvidence) -> None:
    last = replace(honest.sessions[-1], delivery=Delivery.UNKNOWN)
    assert certified_share(replace(honest, sessions=(*honest.sessions[:-1], last))) == pytest.approx(59 / 60)


@pytest.mark.parametrize(("beside", "certified"), [(True, 1.0), (False, 59 / 60)])
def test_a_stale_token_costs_the_certificate_only_where_no_own_one_stands(
    honest: RunEvidence, beside: bool, certified: float
) -> None:
    """A model may write a number of its own that looks like a token beside the one it was given."""
    first, *rest = honest.sessions
    own = replace(first.sightings[0], where="answer")
    odd = replace(own, value="ELM-9999", own=False, given=False)
    elsewhere = tuple(s for s in first.sightings if s.where != "answer")
    flawed = replace(first, sightings=(*elsewhere, odd, *((own,) if beside else ())))
    assert certified_share(replace(honest, sessions=(flawed, *rest))) == pytest.approx(certified)


def test_missing_and_doubled_sessions_are_not_certified(honest: RunEvidence) -> None:
    assert certified_share(replace(honest, sessions=honest.sessions[1:])) == pytest.approx(59 / 60)
    twice = (*honest.sessions, honest.sessions[0])
    assert certified_share(replace(honest, sessions=twice)) == pytest.approx(59 / 60)


def test_nothing_is_certified_without_checks_or_without_a_plan(honest: RunEvidence) -> None:
    assert certified_share(replace(honest, required_channels=frozenset())) == 0.0
    assert certified_share(replace(honest, plan=replace(honest.plan, episodes=()))) == 0.0


def test_two_empty_digests_certify_nothing(honest: RunEvidence) -> None:
    unhashed = tuple(replace(s, proof=replace(s.proof, snapshot_digest="")) for s in honest.sessions if s.proof)
    assert certified_share(replace(honest, build=AgentBuild("", {}))) == 0.0
    assert certified_share(replace(honest, build=AgentBuild("", {}), sessions=unhashed)) == 0.0
