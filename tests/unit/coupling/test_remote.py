"""A remote agent: known by its endpoint's word, worked with through the harness's tools alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.coupling.remote import receipt, remote_run
from tests.unit.coupling.simulated import OTHER
from tests.unit.coupling.test_combined_faults import verdict_of

from agent_litmus.coupling.binding import binding
from agent_litmus.coupling.effects import effects
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import all_findings, certified_share
from agent_litmus.coupling.isolation import isolation
from agent_litmus.coupling.obligations import obligations
from agent_litmus.coupling.watermarks import watermarks
from agent_litmus.records.effect import Channel
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.session import EndpointReceipt
from agent_litmus.records.verdict import VerdictKind


def with_receipts(
    evidence: RunEvidence, index: int, make: Callable[[tuple[EndpointReceipt, ...]], tuple[EndpointReceipt, ...]]
) -> RunEvidence:
    sessions = list(evidence.sessions)
    proof = sessions[index].proof
    assert proof is not None
    sessions[index] = replace(sessions[index], proof=replace(proof, endpoint=make(proof.endpoint)))
    return replace(evidence, sessions=tuple(sessions))


def changed(index: int = 3, **fields: Any) -> Callable[[RunEvidence], RunEvidence]:
    return lambda e: with_receipts(e, index, lambda rs: (replace(rs[0], **fields), *rs[1:]))


def ends(**fields: Any) -> Callable[[RunEvidence], RunEvidence]:
    return lambda e: replace(e, proofs=replace(e.proofs, **fields))


def test_an_honest_remote_agent_proves_everything_and_passes() -> None:
    run = remote_run()
    findings = all_findings(run)
    by = {status.obligation: status.by for status in obligations(findings, run) if status.discharged}
    assert set(by) == set(Obligation)
    assert by[Obligation.IDENTITY] == ("binding",)
    assert by[Obligation.ISOLATION] == ("leak_pairs",)
    assert by[Obligation.EFFECTS] == ("watermarks",)
    assert verdict_of(run).kind is VerdictKind.PASS
    assert certified_share(run) == 1.0


def test_a_session_without_any_proof_is_named() -> None:
    run = remote_run()
    bare = replace(run, sessions=(replace(run.sessions[0], proof=None), *run.sessions[1:]))
    assert "1 of 42 sessions have no receipt" in binding(bare).seen
    assert certified_share(bare) < 1


def test_a_key_is_not_needed_for_the_endpoints_word() -> None:
    run = remote_run()
    for index in range(len(run.sessions)):
        run = with_receipts(run, index, lambda rs: tuple(replace(r, mac_valid=None) for r in rs))
    assert binding(run).state is FindingState.CLEAR


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (changed(digest=OTHER), "report another build"),
        (changed(mac_valid=False), "wrong HMAC"),
        (changed(nonce="nonce-1"), "nonces stand in several"),
        (ends(endpoint_start=(receipt("x", "a", OTHER),)), "before the run, replica 'a'"),
        (ends(endpoint_end=(receipt("x", "", OTHER),)), "first after the run: "),
        (lambda e: replace(e, expected_digest=OTHER), "the current build is"),
    ],
    ids=["digest", "mac", "nonce", "start", "end", "current"],
)
def test_another_build_behind_the_url_is_an_exact_alarm(
    fault: Callable[[RunEvidence], RunEvidence], said: str
) -> None:
    finding = binding(fault(remote_run()))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert said in finding.seen


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda e: with_receipts(e, 3, lambda _: ()), "1 of 42 sessions have no receipt"),
        (lambda e: replace(e, sessions=()), "no session ran"),
        (ends(endpoint_start=None), "before the run"),
        (ends(endpoint_end=()), "after the run"),
        (changed(digest=""), "no well-formed build digest"),
        (changed(nonce=""), "did not come back"),
        (changed(why="garbled"), "garbled"),
        (changed(replica="c"), "replica 'c' answered"),
        (changed(replica=""), "replica '' answered"),
        (ends(endpoint_end=(receipt("x", "a"),)), "replica 'b' answered"),
        (lambda e: replace(e, expected_digest=None), "was not told"),
    ],
    ids=[
        "session",
        "none",
        "start",
        "end",
        "digest",
        "nonce",
        "why",
        "replica",
        "unnamed",
        "replica at the end",
        "current",
    ],
)
def test_what_the_endpoint_did_not_say_is_missing(fault: Callable[[RunEvidence], RunEvidence], said: str) -> None:
    finding = binding(fault(remote_run()))
    assert finding.state is FindingState.MISSING
    assert said in finding.seen
    assert verdict_of(fault(remote_run())).kind is not VerdictKind.PASS


def test_no_process_of_a_remote_agent_is_witnessed() -> None:
    finding = isolation(remote_run())
    assert finding.state is FindingState.MISSING
    assert "leak pairs" in finding.seen


def test_few_leak_pairs_leave_isolation_open() -> None:
    run = remote_run(pairs=9)
    verdict = verdict_of(run)
    assert [reason.text for reason in verdict.reasons] == ["isolation is not proven"]


def test_checks_past_the_tools_cannot_be_proven() -> None:
    run = replace(remote_run(), required_channels=frozenset({Channel.TOOLS, Channel.FILES}))
    assert watermarks(run).discharges == ()
    assert "past the harness's tools" in effects(run).seen
    assert "mocked" in effects(remote_run()).seen
    assert verdict_of(run).kind is VerdictKind.INDETERMINATE
    assert watermarks(replace(run, required_channels=frozenset())).discharges == ()


@pytest.mark.parametrize(
    ("marks", "said"),
    [(None, "set no watermarks"), ((0, 0), "0 of 0"), ((2, 0), "0 of 42")],
    ids=["none", "not handed out", "not read back"],
)
def test_mocked_tools_bring_no_watermark_back(marks: tuple[int, int] | None, said: str) -> None:
    run = remote_run()
    mocked = replace(run, sessions=tuple(replace(s, watermarks=marks) for s in run.sessions))
    finding = watermarks(mocked)
    assert finding.state is FindingState.MISSING
    assert said in finding.seen
    assert verdict_of(mocked).kind is VerdictKind.INDETERMINATE


@pytest.mark.parametrize(("silent", "state"), [(21, FindingState.CLEAR), (22, FindingState.MISSING)])
def test_half_of_the_sessions_must_bring_theirs_back(silent: int, state: FindingState) -> None:
    run = remote_run()
    sessions = tuple(
        replace(s, watermarks=(1, 0) if index < silent else (1, 1)) for index, s in enumerate(run.sessions)
    )
    assert watermarks(replace(run, sessions=sessions)).state is state


def unanswered(evidence: RunEvidence, count: int) -> RunEvidence:
    """The endpoint did not answer in the first ``count`` sessions: no answer, no receipt."""
    sessions = [
        replace(s, answer=None, answer_why="status 502", proof=replace(s.proof, endpoint=()))
        if number < count and s.proof is not None
        else s
        for number, s in enumerate(evidence.sessions)
    ]
    return replace(evidence, sessions=tuple(sessions))


def test_a_session_without_an_answer_needs_no_receipt_and_is_counted_apart() -> None:
    finding = binding(unanswered(remote_run(), 2))
    assert finding.state is FindingState.CLEAR
    assert finding.seen.startswith("40 of 42 sessions were answered")
    assert finding.number == 40


def test_an_endpoint_that_never_answers_proves_no_identity() -> None:
    finding = binding(unanswered(remote_run(), 42))
    assert finding.state is FindingState.MISSING
    assert "none of 42 sessions was answered" in finding.seen


def test_another_build_that_answers_a_leak_pair_is_an_exact_alarm() -> None:
    run = remote_run()
    assert run.proofs.leak_pairs
    first, *rest = run.proofs.leak_pairs
    pairs = (replace(first, endpoint=(receipt("asked", "a", OTHER),)), *rest)
    finding = binding(replace(run, proofs=replace(run.proofs, leak_pairs=pairs)))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "(leak pair)" in finding.seen


def test_remedies_are_those_of_a_remote_agent() -> None:
    run = remote_run()
    assert "leak_pairs" in isolation(run).remedy
    assert "tool calls" in effects(run).remedy
    assert "replica" in binding(replace(run, sessions=())).remedy
