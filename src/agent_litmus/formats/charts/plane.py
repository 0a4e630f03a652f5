"""Geometry of the frontier's plane: where it ends, and which part of it is dominated."""

from collections.abc import Sequence

from agent_litmus.formats.charts.data import FrontierPoint, Standing

LOW, HIGH = -0.04, 1.04
"""Ends of both axes; beyond 0 and 1 so that markers at the corners are whole."""


def dominated_steps(points: Sequence[FrontierPoint], delta: float) -> tuple[tuple[float, float], ...]:
    """Upper edge of the region behind the agents on the frontier, as steps (U1, SR) that hold to the next.

    By point estimates, as scoring's dominance rule: an agent at (u, s) covers whatever is less than ``delta``
    better on both axes and worse on one, hence the two rectangles up to (u + delta, s) and (u, s + delta). Empty
    without an agent on the frontier that has both figures.
    """
    corners = [
        corner
        for point in points
        if point.standing is Standing.FRONTIER and point.u1.value is not None and point.sr.value is not None
        for corner in _corners(point.u1.value, point.sr.value, delta)
    ]
    if not corners:
        return ()
    ends = sorted({u1 for u1, _ in corners})
    heights = [max(sr for u1, sr in corners if u1 >= end) for end in ends]
    return tuple(zip([LOW, *ends], [*heights, LOW], strict=True))


def _corners(u1: float, sr: float, delta: float) -> tuple[tuple[float, float], tuple[float, float]]:
    return (min(u1 + delta, 1.0), sr), (u1, min(sr + delta, 1.0))
