"""The last rules: a confidence, a ceiling's upper bound, and a pin."""

from typing import Any

import pytest
from tests.unit.verdict.cards import codes, with_cor, with_tallies

from agent_litmus.records.scorecard import Scorecard, Tally
from agent_litmus.records.verdict import Policy, ReasonCode, VerdictKind

CEILING = Policy(ceilings={"cor": 0.1})

# rule 8


def test_a_floor_without_confidence_asks_for_the_share_alone(judge: Any, card: Scorecard) -> None:
    assert judge(card, policy=Policy(floors={"ir": 0.99})).kind is VerdictKind.PASS


@pytest.mark.parametrize(("good", "kind"), [(59, VerdictKind.PASS), (58, VerdictKind.INDETERMINATE)])
def test_a_confidence_asks_for_enough_episodes(judge: Any, card: Scorecard, good: int, kind: VerdictKind) -> None:
    """0.05 ** (1 / 59) = 0.9505 is the first perfect result to show 0.95."""
    policy = Policy(floors={"ir": 0.95}, confidence=0.95)
    verdict = judge(with_tallies(card, ir=Tally(good, 0, 0)), policy=policy)
    assert verdict.kind is kind
    assert codes(verdict) == [ReasonCode.PROVEN if kind is VerdictKind.PASS else ReasonCode.UNDERPOWERED]


def test_a_floor_met_exactly_does_not_clear_it_by_any_confidence(judge: Any, card: Scorecard) -> None:
    policy = Policy(floors={"ir": 0.95}, confidence=0.51)
    assert codes(judge(with_tallies(card, ir=Tally(38, 2, 0)), policy=policy)) == [ReasonCode.UNDERPOWERED]


def test_the_bound_counts_unknown_episodes_as_bad(judge: Any, card: Scorecard) -> None:
    """Ninety-three trials with one bad is the classic least plan for 0.95 at 0.95."""
    policy = Policy(floors={"ir": 0.95}, confidence=0.95)
    assert judge(with_tallies(card, ir=Tally(92, 0, 1)), policy=policy).kind is VerdictKind.PASS
    assert codes(judge(with_tallies(card, ir=Tally(91, 0, 1)), policy=policy)) == [ReasonCode.UNDERPOWERED]


@pytest.mark.parametrize("high", [None, 0.11])
def test_an_upper_bound_over_the_ceiling_is_underpowered(judge: Any, card: Scorecard, high: float | None) -> None:
    assert codes(judge(with_cor(card, high=high), policy=CEILING)) == [ReasonCode.UNDERPOWERED]


# rule 9 and the pinned mode


def test_a_pinned_pass_says_so_while_the_pin_is_current(judge: Any) -> None:
    verdict = judge(mode="pinned", pin_is_current=True)
    assert (verdict.kind, verdict.mode, codes(verdict)) == (VerdictKind.PASS, "pinned", [ReasonCode.PROVEN])
    assert verdict.reason.startswith("pinned: ")


@pytest.mark.parametrize(("current", "said"), [(False, "is another one"), (None, "is not known")])
def test_a_pinned_pass_about_another_build_blocks(judge: Any, current: bool | None, said: str) -> None:
    verdict = judge(mode="pinned", pin_is_current=current)
    assert (verdict.kind, codes(verdict)) == (VerdictKind.INDETERMINATE, [ReasonCode.PINNED_STALE])
    assert verdict.reason.startswith("PASS pinned: ")
    assert said in verdict.reason


def test_a_stale_pin_claims_no_pass_where_anything_else_is_wrong(judge: Any, card: Scorecard) -> None:
    assert codes(judge(mode="pinned", plan_partial=True)) == [ReasonCode.PARTIAL]
    failed = judge(with_tallies(card, ir=Tally(0, 40, 0)), mode="pinned")
    assert codes(failed) == [ReasonCode.FLOOR_MISSED]


def test_the_pin_is_asked_about_only_in_pinned_mode(judge: Any) -> None:
    assert judge(mode="live", pin_is_current=False).kind is VerdictKind.PASS
