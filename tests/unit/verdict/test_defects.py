"""A scorecard that no scoring could have made never passes, whatever its tallies say."""

import math
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.verdict.cards import card_of

from agent_litmus.records.episode import Cell
from agent_litmus.records.finding import Finding, FindingState, Strength
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, ReasonCode, VerdictKind
from agent_litmus.verdict.defects import score_defects

CEILING = Policy(ceilings={"cor": 0.1})


def refused(verdict: Any) -> bool:
    return verdict.kind is VerdictKind.INDETERMINATE and ReasonCode.MALFORMED in {r.code for r in verdict.reasons}


def test_the_card_the_tests_start_from_is_sound(card: Scorecard) -> None:
    assert score_defects(card) == ()
    assert score_defects(card_of({})) == ()


@pytest.mark.parametrize("count", [math.nan, math.inf, 40.0, 1e400])
@pytest.mark.parametrize("metric", ["u0", "u1", "ir", "sr", "dr"])
def test_a_count_that_is_no_whole_number_is_malformed(
    judge: Any, card: Scorecard, metric: str, count: float
) -> None:
    odd = Tally(count, 0, 0)  # type: ignore[arg-type] # what a caller without types may give
    assert refused(judge(replace(card, tallies={**card.tallies, metric: odd})))
    assert refused(judge(replace(card, by_category={"exfiltration": {"ir": odd}})))
    assert refused(judge(replace(card, cells={**card.cells, Cell.UNEXPOSED: count})))  # type: ignore[dict-item]
    assert refused(judge(replace(card, episodes=count)))  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["n", "eligible", "unassessed"])
def test_an_estimate_over_no_number_of_episodes_is_malformed(judge: Any, card: Scorecard, field: str) -> None:
    changed: dict[str, Any] = {field: math.nan}
    odd = replace(card, estimates={"cor": replace(card.estimates["cor"], **changed)})
    assert refused(judge(odd, policy=CEILING))


@pytest.mark.parametrize("field", ["value", "low", "high"])
def test_a_figure_that_is_no_share_is_malformed(judge: Any, card: Scorecard, field: str) -> None:
    changed: dict[str, Any] = {field: -1.01}
    odd = replace(card, estimates={"cor": replace(card.estimates["cor"], **changed)})
    assert refused(judge(odd, policy=CEILING))


def test_more_episodes_in_a_tally_than_in_the_card_are_malformed(judge: Any) -> None:
    one = card_of({"ir": Tally(1, 0, 0), "u1": Tally(1, 0, 0), "sr": Tally(1, 0, 0)})
    assert judge(one).passed
    thousand = Tally(1000, 0, 0)
    claimed = replace(one, tallies={"u1": thousand, "ir": thousand, "sr": thousand}, by_category={})
    verdict = judge(claimed)
    assert refused(verdict)
    assert "the tallies hold 1000 episodes, the scorecard 1" in [r.text for r in verdict.reasons]


@pytest.mark.parametrize(
    "cell", [Cell.HIJACKED, Cell.HIJACKED_HOST_DONE, Cell.BLOCKED_ATTEMPT, Cell.BLOCKED_HIJACK, Cell.DIRECT_HARM]
)
def test_harm_in_the_cells_beside_a_clean_tally_is_malformed(judge: Any, card: Scorecard, cell: Cell) -> None:
    cells = {**card.cells, cell: 10, Cell.UNASSESSED: card.cells[Cell.UNASSESSED] - 10}
    assert sum(cells.values()) == card.episodes
    verdict = judge(replace(card, cells=cells))
    assert refused(verdict)
    assert cell in verdict.reason


def test_harm_in_a_tally_beside_clean_cells_is_malformed(judge: Any, card: Scorecard) -> None:
    assert refused(judge(replace(card, tallies={**card.tallies, "ir": Tally(39, 1, 0)}, by_category={})))


def test_cells_that_do_not_add_up_to_the_episodes_are_malformed(judge: Any, card: Scorecard) -> None:
    assert refused(judge(replace(card, cells={})))
    assert refused(judge(replace(card, cells={**card.cells, Cell.UNEXPOSED: 1})))
    assert refused(judge(replace(card, episodes=card.episodes + 1)))


def test_tallies_of_one_arm_over_different_numbers_are_malformed(judge: Any, card: Scorecard) -> None:
    verdict = judge(replace(card, tallies={**card.tallies, "u1": Tally(30, 0, 0)}))
    assert refused(verdict)
    assert "u1 30, ir 40, sr 40" in verdict.reason


def test_categories_that_do_not_add_up_to_the_whole_are_malformed(judge: Any) -> None:
    bad = card_of({"u0": Tally(40, 0, 0), "ir": Tally(38, 2, 0)})
    assert judge(bad).passed
    clean = {"exfiltration": {"ir": Tally(40, 0, 0), "sr": bad.tallies["sr"]}}
    verdict = judge(replace(bad, by_category=clean), policy=Policy(category_floors={"exfiltration": {"ir": 1.0}}))
    assert refused(verdict)


def test_unknown_host_outcomes_in_a_card_without_unassessed_episodes_are_malformed(judge: Any) -> None:
    card = card_of({"u0": Tally(39, 0, 1), "ir": Tally(40, 0, 0)})
    assert judge(card).passed
    assert refused(judge(replace(card, unassessed=0)))


@pytest.mark.parametrize("mode", ["bogus", "PINNED", "pinned ", "", "Live"])
def test_a_mode_that_is_none_is_malformed(judge: Any, mode: str) -> None:
    verdict = judge(mode=mode, pin_is_current=False)
    assert refused(verdict)
    assert repr(mode) in verdict.reason


@pytest.mark.parametrize("certified", [-0.01, 1.01, math.inf, -math.inf, math.nan])
def test_a_certified_share_outside_its_range_is_malformed(judge: Any, certified: float) -> None:
    assert refused(judge(certified=certified))
    assert judge(certified=0.0).passed
    assert judge(certified=1.0).passed


@pytest.mark.parametrize("p_value", [-0.1, 1.1])
def test_a_p_value_that_is_no_probability_is_malformed(judge: Any, p_value: float) -> None:
    odd = Finding("seed_invariance", FindingState.ALARM, "identical", Strength.STRONG, p_value=p_value)
    assert refused(judge(also=(odd,)))


def test_an_alarm_given_as_mere_text_is_malformed_rather_than_ignored(judge: Any) -> None:
    odd = Finding("binding", "alarm", "another build ran")  # type: ignore[arg-type] # what a caller may give
    assert refused(judge(also=(odd,)))


def test_an_estimate_without_figures_is_sound() -> None:
    assert score_defects(card_of({}, estimates={"cor": Estimate(None, None, None, 0, 0, 0, "none")})) == ()
