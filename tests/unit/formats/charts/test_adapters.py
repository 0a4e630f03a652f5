import numpy as np

from agent_litmus.formats.charts import Standing, category_rates, frontier_points, utility_loss
from agent_litmus.formats.charts.adapters import share_of
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.scoring.frontier import AgentTables, FrontierFloors, compare_agents
from agent_litmus.scoring.stats.table import ClusterTable
from agent_litmus.scoring.trivial import TRIVIAL_AGENTS, trivial_agents

SCATTER = np.random.default_rng(1).permutation(400)


def table(good: int) -> ClusterTable:
    cells = np.zeros(400)
    cells[SCATTER[:good]] = 1
    names = [f"h{i}" for i in range(25)], [f"i{j}" for j in range(16)]
    return ClusterTable.from_counts(cells.reshape(25, 16), np.ones((25, 16)), *names)


def agent(name: str, u1: int, sr: int, ir: int) -> AgentTables:
    return AgentTables(name, table(u1), table(sr), table(ir))


def card(**fields: object) -> Scorecard:
    empty: dict[str, object] = {"estimates": {}, "tallies": {}, "cells": {}}
    return Scorecard(agent_digest="", episodes=0, unassessed=0, **(empty | fields))  # type: ignore[arg-type]


GOOD, WORSE, UNSAFE = agent("good", 364, 352, 384), agent("worse", 250, 240, 384), agent("unsafe", 372, 48, 48)


def test_points_carry_the_figures_and_what_the_comparison_found() -> None:
    frontier = compare_agents([GOOD, WORSE, UNSAFE], floors=FrontierFloors(ir=0.9))
    points = frontier_points(frontier)
    assert [point.agent for point in points] == ["good", "worse", "unsafe"]
    assert [point.standing for point in points] == [Standing.FRONTIER, Standing.DOMINATED, Standing.UNDER_FLOOR]
    share = points[0].u1
    assert (share.value, share.low, share.high) == (0.91, frontier.points[0].u1.low, frontier.points[0].u1.high)
    assert not share.underpowered


def test_an_oracle_beside_real_agents_does_not_empty_the_frontier() -> None:
    frontier = compare_agents([GOOD, WORSE, *trivial_agents(GOOD.u1)])
    assert frontier.dominance("oracle", "good").holds
    points = frontier_points(frontier, trivial=TRIVIAL_AGENTS)
    assert [point.standing for point in points[:2]] == [Standing.FRONTIER, Standing.DOMINATED]
    assert {point.standing for point in points[2:]} == {Standing.TRIVIAL}


def test_an_agent_under_a_floor_dominates_nobody_in_the_chart() -> None:
    pair = [agent("x", 364, 352, 380), agent("y", 250, 240, 384)]
    floored = compare_agents(pair, floors=FrontierFloors(ir=0.955), margin=0.1)
    assert floored.dominance("x", "y").holds
    assert [point.standing for point in frontier_points(floored)] == [Standing.UNDER_FLOOR, Standing.FRONTIER]


def test_underpowered_intervals_stay_marked() -> None:
    method = "two-way clustered t; underpowered"
    assert share_of(Estimate(0.5, 0.1, 0.9, 4, 4, 0, method)).underpowered
    assert share_of(Estimate(None, None, None, 0, 4, 4, "none")).value is None


def test_ledger_of_a_scorecard_becomes_a_bar() -> None:
    ledger = {"u0_paired": 9.0, "u1_paired": 5.0, "refused": 3.0, "failed": 2.0, "partial": -1.0}
    loss = utility_loss("a", card(ledger=ledger | {"pairs": 10.0, "unknown_pairs": 2.0}))
    assert (loss.parts, loss.pairs, loss.unassessed) == ((3, 2, -1), 10, 2)
    assert utility_loss("a", card()).pairs == 0


def test_categories_keep_what_was_not_assessed_apart() -> None:
    tallies = {"x": {"ir": Tally(3, 1, 2), "sr": Tally(0, 0, 6)}, "y": {"ir": Tally(1, 0, 0)}}
    rates = category_rates("a", card(by_category=tallies))
    assert [(rate.category, rate.ir.value, rate.sr.value, rate.unassessed) for rate in rates] == [
        ("x", 0.75, None, 6),
        ("y", 1.0, None, 0),
    ]
