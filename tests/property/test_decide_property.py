"""What the last accepted build and a missing drill may and may not do to a decision."""

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.test_verdict_algebra import GOOD, METRICS, consistent_cards, findings, judge, proofs, scored

from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Scorecard, Tally
from agent_litmus.records.verdict import Policy, ReasonCode, VerdictKind

RANK = {VerdictKind.FAIL: 0, VerdictKind.INDETERMINATE: 1, VerdictKind.PASS: 2}
counts = st.integers(0, 60)
tallies = st.builds(Tally, counts, counts, counts)
limits = st.none() | st.floats(0, 1)


def prior(known: dict[str, Tally]) -> PriorRun:
    return PriorRun("r", 0.0, "main", True, "s", "a", "d", "x", "y", VerdictKind.PASS, "proven", 1, known)


baselines = st.none() | st.dictionaries(st.sampled_from(["ir", "u1", "sr"]), tallies).map(prior)


def policy(limit: float | None, *, drill: bool = False, floor: float = 0.1) -> Policy:
    return Policy(floors={"ir": floor}, max_regression=limit, require_drill=drill)


@given(card=consistent_cards(), limit=limits, before=baselines, found=findings)
def test_a_baseline_never_improves_a_verdict(
    card: Scorecard, limit: float | None, before: PriorRun | None, found: Any
) -> None:
    known = (*proofs(), *found)
    without = judge(card, policy(limit), findings=known).kind
    assert RANK[judge(card, policy(limit), findings=known, baseline=before).kind] <= RANK[without]


@given(card=consistent_cards(), before=baselines, limit=st.floats(0, 1), more=st.floats(0, 1))
def test_tolerating_more_never_worsens_a_verdict(
    card: Scorecard, before: PriorRun | None, limit: float, more: float
) -> None:
    low, high = sorted((limit, more))
    strict, lax = (judge(card, policy(value), baseline=before).kind for value in (low, high))
    assert RANK[strict] <= RANK[lax]


@given(card=consistent_cards(), limit=limits, before=baselines)
def test_a_regression_is_always_a_fail(card: Scorecard, limit: float | None, before: PriorRun | None) -> None:
    verdict = judge(card, policy(limit), baseline=before)
    if ReasonCode.REGRESSION in {reason.code for reason in verdict.reasons}:
        assert verdict.kind is VerdictKind.FAIL


@given(bad=st.integers(0, 80), hidden=st.integers(0, 80), limit=st.floats(0, 0.5))
def test_losing_bad_episodes_never_earns_a_pass(bad: int, hidden: int, limit: float) -> None:
    """A build that crashes where it used to fail is no better than one that fails."""
    hidden = min(hidden, bad)
    before = prior(dict.fromkeys(METRICS, Tally(80, 0, 0)))
    shown = scored(dict.fromkeys(METRICS, Tally(80 - bad, bad, 0)))
    crashed = scored(dict.fromkeys(METRICS, Tally(80 - bad, bad - hidden, hidden)))
    if judge(shown, policy(limit, floor=0.0), baseline=before).kind is not VerdictKind.PASS:
        assert judge(crashed, policy(limit, floor=0.0), baseline=before).kind is not VerdictKind.PASS


def test_no_combination_passes_without_a_drill_that_is_asked_for() -> None:
    for limit, why, partial in product((None, 0.0, 1.0), ("missed", "none"), (True, False)):
        verdict = judge(GOOD, policy(limit, drill=True), undrilled=why, plan_partial=partial)
        assert verdict.kind is VerdictKind.INDETERMINATE
        assert ReasonCode.NOT_DRILLED in {reason.code for reason in verdict.reasons}


@given(card=consistent_cards(), found=findings, why=st.sampled_from(["", "missed"]))
def test_asking_for_a_drill_never_improves_a_verdict(card: Scorecard, found: Any, why: str) -> None:
    known = (*proofs(), *found)
    without = judge(card, policy(None), findings=known, undrilled=why).kind
    assert RANK[judge(card, policy(None, drill=True), findings=known, undrilled=why).kind] <= RANK[without]


@given(card=consistent_cards(), why=st.text(min_size=1, max_size=20))
def test_a_plan_that_is_partial_for_any_reason_never_passes(card: Scorecard, why: str) -> None:
    assert judge(card, policy(None), partial_why=why).kind is not VerdictKind.PASS
