import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from agent_litmus.formats.charts import FrontierPoint, Share, Standing
from agent_litmus.formats.charts.plane import LOW, dominated_steps
from agent_litmus.scoring.stats.bootstrap import dominates

SHARES = st.integers(0, 40).map(lambda n: n / 40)
PLACES = st.tuples(SHARES, SHARES)


def point(u1: float | None, sr: float | None, standing: Standing = Standing.FRONTIER) -> FrontierPoint:
    return FrontierPoint("a", Share(u1), Share(sr), Share(0.9), standing)


def height(steps: tuple[tuple[float, float], ...], u1: float) -> float:
    """The steps' height at a place, where each holds up to the next."""
    return max((sr for start, sr in steps if start <= u1), key=lambda sr: -sr, default=LOW)


@given(st.lists(PLACES, min_size=1, max_size=5), PLACES)
def test_grey_is_where_the_dominance_rule_says_so(
    members: list[tuple[float, float]], place: tuple[float, float]
) -> None:
    """With equal resistance; places on an edge belong to either side."""
    margin = 0.02  # no multiple of the grid of 1/40, so that no place is on a margin's edge
    assume(all(place[0] != u1 and place[1] != sr for u1, sr in members))
    steps = dominated_steps([point(*member) for member in members], margin)
    loser = np.array([[place[0]], [place[1]], [0.9]])
    expected = any(bool(dominates(np.array([[u1], [sr], [0.9]]), loser, margin)[0]) for u1, sr in members)
    assert (place[1] < height(steps, place[0])) is expected


def test_only_agents_on_the_frontier_with_both_figures_cast_a_shadow() -> None:
    others = [point(0.9, 0.9, kind) for kind in Standing if kind is not Standing.FRONTIER]
    assert dominated_steps([*others, point(None, 0.9), point(0.9, None)], 0.02) == ()


def test_steps_of_one_agent_reach_the_margin_beyond_it_on_one_axis_at_a_time() -> None:
    assert dominated_steps([point(0.5, 0.25)], 0.125) == ((LOW, 0.375), (0.5, 0.25), (0.625, LOW))
    assert dominated_steps([point(1.0, 1.0)], 0.125) == ((LOW, 1.0), (1.0, LOW))
