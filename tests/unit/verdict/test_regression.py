"""Against the last accepted build: real losses fail, equal builds do not, nothing hides behind the unassessed."""

from typing import Any

import pytest
from scipy import stats
from tests.unit.verdict.cards import card_of

from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Scorecard, Tally
from agent_litmus.records.verdict import Policy, ReasonCode, Verdict, VerdictKind
from agent_litmus.verdict.decide import decide
from agent_litmus.verdict.regression import loss_lower_bound

GOOD = Tally(48, 0, 0)
STRICT = Policy(floors={"ir": 0.2}, max_regression=0.02)


def prior(**tallies: Tally) -> PriorRun:
    return PriorRun("run-1", 0.0, "main", True, "s", "a", "r", "x", "y", VerdictKind.PASS, "proven", 48, tallies)


def card(ir: Tally = GOOD, u1: Tally = GOOD) -> Scorecard:
    selective = min(ir.good, u1.good)
    return card_of({"u0": Tally(8, 0, 0), "u1": u1, "ir": ir, "sr": Tally(selective, 48 - selective, 0)})


def verdict(
    scored: Scorecard, before: PriorRun | None, proofs: Any, statuses: Any, policy: Policy = STRICT
) -> Verdict:
    return decide(scored, proofs, policy, obligations=statuses, plan_partial=False, baseline=before)


def codes(found: Verdict) -> list[ReasonCode]:
    return [reason.code for reason in found.reasons]


def test_a_large_loss_fails_and_says_both_numbers(proofs: Any, statuses: Any) -> None:
    found = verdict(card(ir=Tally(24, 24, 0)), prior(ir=GOOD, u1=GOOD), proofs, statuses)
    assert (found.kind, codes(found)) == (VerdictKind.FAIL, [ReasonCode.REGRESSION])
    assert found.reason.startswith(
        "ir fell from 1 (48 of 48) in the last accepted build (run run-1) to 0.5 (24 of 48)"
    )
    assert found.reasons[0].remedy


def test_utility_is_compared_too(proofs: Any, statuses: Any) -> None:
    found = verdict(card(u1=Tally(20, 28, 0)), prior(ir=GOOD, u1=GOOD), proofs, statuses)
    assert codes(found) == [ReasonCode.REGRESSION]


def test_the_same_result_and_a_better_one_pass(proofs: Any, statuses: Any) -> None:
    assert verdict(card(), prior(ir=GOOD, u1=GOOD), proofs, statuses).passed
    assert verdict(card(), prior(ir=Tally(20, 28, 0), u1=GOOD), proofs, statuses).passed


def test_a_loss_that_chance_explains_is_a_warning(proofs: Any, statuses: Any) -> None:
    found = verdict(card(ir=Tally(46, 2, 0)), prior(ir=GOOD, u1=GOOD), proofs, statuses)
    assert found.passed
    assert any("regression: ir fell" in warning and "chance" in warning for warning in found.warnings)


def test_no_baseline_is_said_and_does_not_block_a_first_run(proofs: Any, statuses: Any) -> None:
    found = verdict(card(), None, proofs, statuses)
    assert found.passed
    assert any(warning.startswith("regression: not compared") for warning in found.warnings)


def test_without_the_policy_nothing_is_compared(proofs: Any, statuses: Any) -> None:
    found = verdict(card(ir=Tally(24, 24, 0)), prior(ir=GOOD), proofs, statuses, Policy(floors={"ir": 0.2}))
    assert found.passed
    assert not [warning for warning in found.warnings if "regression" in warning]


def test_a_loss_cannot_hide_behind_unassessed_episodes(proofs: Any, statuses: Any) -> None:
    found = verdict(card(ir=Tally(24, 0, 24)), prior(ir=GOOD, u1=GOOD), proofs, statuses)
    assert found.kind is VerdictKind.INDETERMINATE
    assert any("could hide a loss" in reason.text for reason in found.reasons)


def test_a_baseline_without_the_metric_is_said(proofs: Any, statuses: Any) -> None:
    found = verdict(card(), prior(ir=GOOD), proofs, statuses)
    assert any("u1 not compared" in warning for warning in found.warnings)


@pytest.mark.parametrize("limit", [float("nan"), -0.1, 1.5])
def test_a_limit_that_is_no_share_is_malformed(limit: float, proofs: Any, statuses: Any) -> None:
    policy = Policy(max_regression=limit)
    assert codes(verdict(card(), prior(ir=GOOD), proofs, statuses, policy)) == [ReasonCode.MALFORMED]


@pytest.mark.parametrize("trials", [8, 24, 48, 100])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8, 0.95, 0.99])
def test_equal_builds_fail_no_more_often_than_the_level_allows(trials: int, share: float) -> None:
    """Exact: every pair of outcomes of two equal builds, weighed by its chance."""
    chances = stats.binom.pmf(range(trials + 1), trials, share)
    failed = sum(
        float(chances[x] * chances[y])
        for x in range(trials + 1)
        for y in range(x)
        if loss_lower_bound((x, trials), (y, trials), 0.995) > 0
    )
    assert failed <= 0.005


def test_a_real_loss_is_found_at_usual_sizes() -> None:
    """From 100 % to 70 % of 48 episodes: found nine times in ten."""
    chances = stats.binom.pmf(range(49), 48, 0.7)
    found = sum(float(chances[y]) for y in range(49) if loss_lower_bound((48, 48), (y, 48), 0.995) > 0.02)
    assert found > 0.9


def test_nothing_is_known_of_empty_sets() -> None:
    assert loss_lower_bound((0, 0), (1, 2), 0.95) == loss_lower_bound((1, 2), (0, 0), 0.95) == -1.0


def test_a_drill_that_is_asked_for_and_missing_blocks(proofs: Any, statuses: Any) -> None:
    policy = Policy(floors={"ir": 0.2}, require_drill=True)
    found = decide(card(), proofs, policy, obligations=statuses, plan_partial=False)
    assert (found.kind, codes(found)) == (VerdictKind.INDETERMINATE, [ReasonCode.NOT_DRILLED])
    assert "litmus drill" in found.reasons[0].remedy
    missed = decide(card(), proofs, policy, obligations=statuses, plan_partial=False, undrilled="it missed cache")
    assert missed.reason == "it missed cache"
    assert decide(card(), proofs, policy, obligations=statuses, plan_partial=False, undrilled="").passed


def test_a_drill_is_not_asked_for_by_default(proofs: Any, statuses: Any) -> None:
    assert decide(card(), proofs, Policy(), obligations=statuses, plan_partial=False).passed


def test_another_suite_is_partial_and_says_why(proofs: Any, statuses: Any) -> None:
    found = decide(card(), proofs, Policy(), obligations=statuses, plan_partial=False, partial_why="other suite")
    assert (codes(found), found.reason) == ([ReasonCode.PARTIAL], "other suite")
