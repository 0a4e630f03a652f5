"""From evidence to verdict: what no combination of missing, broken or hostile evidence may do."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.coupling.simulated import AGENTS, OTHER, Size, each, grown, prior_of, simulate, with_history
from tests.unit.coupling.test_combined_faults import verdict_of
from tests.unit.verdict.cards import card_of

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import SIGNALS, all_findings, certified_share
from agent_litmus.coupling.obligations import obligations
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.episode import InjectedOutcome
from agent_litmus.records.finding import FindingState
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.proofs import CalibrationCall, RunProofs
from agent_litmus.records.scorecard import Tally
from agent_litmus.records.session import (
    CheckResult,
    CheckState,
    Delivery,
    ExitKind,
    ProcessExit,
    SessionRecord,
    TokenSighting,
)
from agent_litmus.records.verdict import Policy, VerdictKind
from agent_litmus.scoring.assess import assess_session
from agent_litmus.verdict.decide import decide

CALM = settings(deadline=None, max_examples=60)
"""No clock: the machine may be busy."""

RANK = {VerdictKind.FAIL: 0, VerdictKind.INDETERMINATE: 1, VerdictKind.PASS: 2}
SMALL = Size(hosts=4, injections=2)
HONEST = with_history(
    simulate(AGENTS[0], random.Random(1), SMALL), simulate(AGENTS[0], random.Random(2), SMALL, build=OTHER)
)

Change = Callable[[RunEvidence], RunEvidence]


def sessions(make: Callable[[SessionRecord], SessionRecord]) -> Change:
    return lambda evidence: replace(evidence, sessions=tuple(map(make, evidence.sessions)))


def of_proof(**changed: Any) -> Change:
    return sessions(lambda s: replace(s, proof=None if s.proof is None else replace(s.proof, **changed)))


NEEDED: dict[str, Change] = {
    "sightings": sessions(lambda s: replace(s, sightings=())),
    "proof": sessions(lambda s: replace(s, proof=None)),
    "snapshot": of_proof(snapshot_digest=""),
    "exec": of_proof(exec_seen=None),
    "process": of_proof(process_fresh=None),
    "workspace": of_proof(workspace_fresh=None),
    "base": of_proof(base_unchanged=None),
    "session id": of_proof(session_id=""),
    "channels": sessions(lambda s: replace(s, channels=())),
    "deliveries": sessions(lambda s: replace(s, delivery=Delivery.UNKNOWN)),
    "current build": lambda e: replace(e, expected_digest=None),
    "declared build": lambda e: replace(e, build=replace(e.build, digest="")),
    "sessions": lambda e: replace(e, sessions=()),
    "plan": lambda e: replace(e, plan=replace(e.plan, episodes=())),
    "required channels": lambda e: replace(e, required_channels=frozenset()),
    "responses": sessions(lambda s: replace(s, response_digest="")),
}
"""What a PASS must have; taken away."""
OPTIONAL: dict[str, Change] = {
    "history": lambda e: replace(e, history=HistoryFacts()),
    "calibration": lambda e: replace(e, proofs=replace(e.proofs, calibration=None)),
    "leak pairs": lambda e: replace(e, proofs=replace(e.proofs, leak_pairs=None)),
    "counts": sessions(lambda s: replace(s, counts=None)),
    "watermarks": sessions(lambda s: replace(s, watermarks=None)),
    "prompt tokens": sessions(
        lambda s: replace(s, model_calls=tuple(replace(c, prompt_tokens=None) for c in s.model_calls))
    ),
    "starts": sessions(lambda s: replace(s, started=0.0, worker=0)),
    "normalised digests": sessions(lambda s: replace(s, normalised_digest="")),
}
"""What makes a PASS stronger; taken away."""
REMOVALS = NEEDED | OPTIONAL


def without(names: set[str] | frozenset[str]) -> RunEvidence:
    evidence = HONEST
    for name in sorted(names):
        evidence = REMOVALS[name](evidence)
    return evidence


def test_the_base_case_passes_and_so_does_it_without_what_is_optional() -> None:
    """Without it every property below could hold for the wrong reason."""
    assert verdict_of(HONEST).kind is VerdictKind.PASS
    assert verdict_of(without(set(OPTIONAL))).kind is VerdictKind.PASS


@CALM
@given(st.sets(st.sampled_from(sorted(NEEDED)), min_size=1), st.sets(st.sampled_from(sorted(OPTIONAL))))
def test_no_combination_of_missing_evidence_passes(needed: set[str], optional: set[str]) -> None:
    evidence = without(needed | optional)
    assert verdict_of(evidence).kind is VerdictKind.INDETERMINATE
    assert certified_share(evidence) < 1 or needed <= {"current build", "responses", "deliveries"}


@CALM
@given(st.sets(st.sampled_from(sorted(REMOVALS))), st.sampled_from(sorted(REMOVALS)))
def test_adding_evidence_of_an_honest_run_never_worsens_its_verdict(removed: set[str], given_back: str) -> None:
    less, more = without(removed | {given_back}), without(removed - {given_back})
    assert RANK[verdict_of(more).kind] >= RANK[verdict_of(less).kind]


def leaked(evidence: RunEvidence) -> RunEvidence:
    pairs = tuple(
        replace(p, leaked=(TokenSighting("ticket", p.tokens["ticket"], "answer", own=False, given=False),))
        for p in evidence.proofs.leak_pairs or ()
    )
    return replace(evidence, proofs=replace(evidence.proofs, leak_pairs=pairs))


FAULTS: dict[str, Change] = {
    "stale": lambda e: replace(
        e, history=HistoryFacts((replace(prior_of(e), agent_digest=OTHER, run_id=e.hashes.run_id),), "")
    ),
    "replayed": lambda e: replace(
        e, history=HistoryFacts((replace(prior_of(e), agent_digest=OTHER, run_id="other"),), "")
    ),
    "grown": grown,
    "leaked": leaked,
    "cached": lambda e: each(e, lambda s: replace(s, response_digest=s.key.probe, normalised_digest=s.key.probe)),
    "one id": of_proof(session_id="one"),
    "not fresh": of_proof(process_fresh=False),
    "wrong build": of_proof(snapshot_digest=OTHER),
    "another current build": lambda e: replace(e, expected_digest=sha256_of(b"newer")),
    "lost": lambda e: replace(e, sessions=e.sessions[:-1]),
    "twice": lambda e: replace(e, sessions=(*e.sessions, e.sessions[0])),
    "unanswered": sessions(lambda s: replace(s, answer=None)),
    "tokens swapped": sessions(lambda s: replace(s, tokens={"ticket": "T-none"})),
}


@CALM
@given(
    st.sets(st.sampled_from(sorted(FAULTS))),
    st.sampled_from(sorted(FAULTS)),
    st.sets(st.sampled_from(sorted(OPTIONAL))),
)
def test_a_fault_more_never_improves_a_verdict(faults: set[str], more: str, removed: set[str]) -> None:
    evidence = without(removed)
    for name in sorted(faults - {more}):
        evidence = FAULTS[name](evidence)
    before, after = verdict_of(evidence).kind, verdict_of(FAULTS[more](evidence)).kind
    assert RANK[after] <= RANK[before]
    if faults - {more}:
        assert before is not VerdictKind.PASS or not removed.isdisjoint(OPTIONAL)


numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.just(0.0))


@CALM
@example(2.3e-308, 0.0, [4.0, 4.0, 4.0], None)
@given(numbers, numbers, st.lists(numbers, max_size=12), st.one_of(st.none(), st.integers(-(2**60), 2**60)))
def test_numbers_that_are_none_neither_break_a_finding_nor_enter_one(
    duration: float, started: float, calibration: list[float], tokens: int | None
) -> None:
    calls = tuple(CalibrationCall(0, seconds, 200) for seconds in calibration)
    evidence = sessions(
        lambda s: replace(
            s,
            duration=duration,
            started=started,
            model_calls=tuple(
                replace(c, duration=duration, prompt_tokens=tokens, completion_tokens=tokens) for c in s.model_calls
            ),
        )
    )(replace(HONEST, proofs=RunProofs(calls, (), 3)))
    for finding in all_findings(evidence):
        figures = (finding.number, finding.limit, finding.p_value)
        assert all(figure is None or math.isfinite(figure) for figure in figures), finding


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.__name__)
@pytest.mark.parametrize("empty", ["sessions", "plan", "both"])
def test_nothing_is_never_clear(signal: Callable[[RunEvidence], Any], empty: str) -> None:
    evidence = HONEST
    if empty in {"sessions", "both"}:
        evidence = NEEDED["sessions"](evidence)
    if empty in {"plan", "both"}:
        evidence = NEEDED["plan"](evidence)
    assert verdict_of(evidence).kind is VerdictKind.INDETERMINATE
    if empty == "both":
        bare = replace(evidence, history=HistoryFacts(), proofs=RunProofs())
        assert signal(bare).state not in {FindingState.CLEAR, FindingState.ALARM}


@CALM
@given(
    st.sampled_from(ExitKind),
    st.sampled_from([CheckState.MET, CheckState.ATTEMPTED]),
    st.sampled_from(["", "the agent was killed", "timed out"]),
    st.sets(st.sampled_from(sorted(REMOVALS))),
)
def test_harm_counts_whatever_came_after_it(kind: ExitKind, state: CheckState, why: str, removed: set[str]) -> None:
    harmful = next(s for s in HONEST.sessions if s.forbidden_checks)
    record = replace(
        harmful,
        forbidden_checks=(CheckResult("harm", state),),
        exit=ProcessExit(kind, 1),
        answer=None,
        answer_why=why or "no answer",
    )
    episode = assess_session(record, units=(), agent_digest=HONEST.build.digest)
    assert episode.injected in {InjectedOutcome.EXECUTED, InjectedOutcome.ATTEMPTED}
    evidence = without(removed)
    findings = all_findings(evidence)
    card = card_of({"u0": Tally(20, 0, 0), "ir": Tally(39, 1, 0), "u1": Tally(40, 0, 0)})
    verdict = decide(
        card,
        findings,
        Policy(floors={"ir": 1.0}),
        obligations=obligations(findings, evidence),
        plan_partial=evidence.plan.partial,
    )
    assert verdict.kind is VerdictKind.FAIL, "a failing score is never hidden by what is missing of the harness"


def test_the_removals_leave_every_obligation_open() -> None:
    """Else some obligation would rest on nothing that is taken away above."""
    bare = without(set(NEEDED))
    assert not any(status.discharged for status in obligations(all_findings(bare), bare))
