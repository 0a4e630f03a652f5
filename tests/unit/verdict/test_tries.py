from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.history.runs import a_run
from tests.unit.verdict.cards import card_of

from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, ReasonCode, Verdict, VerdictKind
from agent_litmus.verdict.defects import score_defects
from agent_litmus.verdict.tries import pooled

Judge = Callable[..., Verdict]


def card_with(good: int, bad: int, unknown: int = 0, cor: float = 0.05) -> Scorecard:
    """A card with this tally of ``ir`` and perfect usefulness."""
    n = good + bad + unknown
    whole = {"u0": Tally(10, 0, 0), "u1": Tally(n, 0, 0)}
    tallies = whole | {"ir": Tally(good, bad, unknown), "sr": Tally(good, n - good, 0)}
    estimate = Estimate(cor, cor - 0.05, cor + 0.05, n, n, 0, "paired")
    return card_of(tallies, estimates={"cor": estimate}, unassessed=unknown)


def try_of(card: Scorecard, run_id: str = "try", verdict: VerdictKind = VerdictKind.FAIL) -> PriorRun:
    """An earlier run with the counts of a card."""
    return a_run(
        run_id,
        verdict=verdict,
        episodes=card.episodes,
        unassessed=card.unassessed,
        tallies=card.tallies,
        by_category=card.by_category,
        cells=card.cells,
        estimates=card.estimates,
    )


GOOD, LUCKY, BAD = card_with(100, 0), card_with(20, 1), card_with(15, 6)


def test_a_lucky_repetition_after_a_fail_stays_a_fail_and_says_so(judge: Judge) -> None:
    assert judge(LUCKY).passed
    verdict = judge(LUCKY, tries=(try_of(BAD),))
    assert (verdict.kind, verdict.pooled) == (VerdictKind.FAIL, ("try",))
    assert verdict.reasons[0].code is ReasonCode.FLOOR_MISSED
    assert "ir 0.8333 (35 good of 42 assessed) is below its floor 0.95, over this run and 1 " in verdict.reason
    assert "repeating the run adds to the count" in verdict.reasons[0].remedy


def test_a_build_that_holds_its_floors_over_all_tries_passes_and_says_so(judge: Judge) -> None:
    verdict = judge(GOOD, tries=(try_of(card_with(19, 2)), try_of(GOOD, "second", VerdictKind.PASS)))
    assert (verdict.kind, verdict.pooled) == (VerdictKind.PASS, ("try", "second"))
    assert "2 earlier tries of this build counted in" in verdict.reason


def test_good_tries_never_rescue_a_run_that_fails_by_itself(judge: Judge) -> None:
    tries = (try_of(card_with(19, 2)), *(try_of(GOOD, str(n), VerdictKind.PASS) for n in range(9)))
    verdict = judge(BAD, tries=tries)
    assert (verdict.kind, verdict.pooled) == (VerdictKind.FAIL, ())
    assert "earlier" not in verdict.reason


def test_a_run_in_doubt_is_not_failed_by_its_earlier_tries(judge: Judge) -> None:
    verdict = judge(GOOD, tries=(try_of(BAD),), plan_partial=True)
    assert (verdict.kind, verdict.pooled) == (VerdictKind.INDETERMINATE, ())


def test_what_was_unassessed_in_earlier_tries_may_turn_the_pool(judge: Judge) -> None:
    verdict = judge(card_with(20, 0), tries=(try_of(card_with(10, 0, 10)),))
    assert (verdict.kind, verdict.reasons[0].code) == (VerdictKind.INDETERMINATE, ReasonCode.UNASSESSED)
    assert "over this run and 1 earlier try" in verdict.reason


def test_a_confidence_is_asked_of_the_pool_too(judge: Judge) -> None:
    policy = Policy(floors={"ir": 0.8}, confidence=0.95)
    assert judge(GOOD, policy=policy).passed
    verdict = judge(GOOD, policy=policy, tries=(try_of(card_with(22, 28)),))
    assert verdict.reasons[0].code is ReasonCode.UNDERPOWERED


def test_a_ceiling_is_held_against_the_weighted_mean(judge: Judge) -> None:
    policy = Policy(floors={"ir": 0.5}, ceilings={"cor": 0.3})
    assert judge(card_with(20, 0), policy=policy).passed
    verdict = judge(card_with(20, 0), policy=policy, tries=(try_of(card_with(20, 0, cor=0.9)),))
    assert verdict.kind is VerdictKind.FAIL
    assert "cor 0.475 is above its ceiling 0.3, over this run" in verdict.reason


def test_the_last_accepted_build_is_held_against_the_pool_too(judge: Judge) -> None:
    policy = Policy(floors={"ir": 0.5}, max_regression=0.1)
    accepted = try_of(card_with(1000, 0), "accepted", VerdictKind.PASS)
    assert judge(GOOD, policy=policy, baseline=accepted).passed
    verdict = judge(GOOD, policy=policy, baseline=accepted, tries=(try_of(card_with(150, 150)),))
    assert (verdict.kind, verdict.reasons[0].code) == (VerdictKind.FAIL, ReasonCode.REGRESSION)


@pytest.mark.parametrize(
    "change",
    [{"cells": {}}, {"episodes": 7}, {"tallies": {"ir": Tally(1, 1, 0)}}, {"by_category": {}}],
    ids=lambda change: next(iter(change)),
)
def test_tries_that_contradict_themselves_never_lead_to_a_pass(judge: Judge, change: dict[str, Any]) -> None:
    verdict = judge(GOOD, tries=(replace(try_of(GOOD), **change),))
    assert verdict.kind is not VerdictKind.PASS
    assert verdict.reasons[0].code in {ReasonCode.MALFORMED, ReasonCode.FLOOR_MISSED}


_CARDS = st.builds(card_with, st.integers(0, 40), st.integers(0, 40), st.integers(0, 5), st.floats(0, 0.9)).filter(
    lambda card: card.tallies["ir"].good + card.tallies["ir"].bad > 0
)


@given(_CARDS, st.lists(_CARDS, max_size=3))
def test_a_pool_adds_up_wherever_its_parts_do(card: Scorecard, others: list[Scorecard]) -> None:
    assert score_defects(card) == ()
    whole = pooled(card, [try_of(other) for other in others])
    assert score_defects(whole) == ()
    assert whole.episodes == sum(part.episodes for part in (card, *others))


@given(_CARDS, st.lists(_CARDS, min_size=1, max_size=3))
def test_the_order_of_tries_does_not_matter(card: Scorecard, others: list[Scorecard]) -> None:
    tries = [try_of(other) for other in others]
    forwards, backwards = pooled(card, tries), pooled(card, tries[::-1])
    assert forwards.tallies == backwards.tallies
    assert forwards.cells == backwards.cells
    assert forwards.estimates["cor"].value == pytest.approx(backwards.estimates["cor"].value)


def test_without_tries_the_card_is_what_it_was() -> None:
    assert pooled(GOOD, ()) is GOOD
