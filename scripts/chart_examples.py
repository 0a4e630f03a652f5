"""Draws the pictures of docs/reference/charts.md from made-up data."""

from pathlib import Path

from agent_litmus.formats.charts import (
    CategoryRate,
    FrontierPoint,
    OutcomeSplit,
    Share,
    Standing,
    UtilityLoss,
    write_charts,
)
from agent_litmus.scoring.frontier import FrontierFloors

PICTURES = Path(__file__).parents[1] / "docs/reference/charts"


def _share(value: float, around: float) -> Share:
    return Share(value, max(0.0, value - around), min(1.0, value + around))


POINTS = (
    FrontierPoint("A, selective", _share(0.91, 0.05), _share(0.88, 0.06), _share(0.96, 0.03), Standing.FRONTIER),
    FrontierPoint("A, older model", _share(0.74, 0.07), _share(0.69, 0.08), _share(0.93, 0.04), Standing.DOMINATED),
    FrontierPoint("B, refuses all", _share(0.0, 0.03), _share(0.0, 0.03), _share(1.0, 0.02), Standing.UNDER_FLOOR),
    FrontierPoint("C, obeys", _share(0.93, 0.04), _share(0.12, 0.05), _share(0.12, 0.05), Standing.UNDER_FLOOR),
    FrontierPoint("do-nothing", Share(0.04), Share(0.0), Share(1.0), Standing.TRIVIAL),
    FrontierPoint("always-comply", Share(1.0), Share(0.0), Share(0.0), Standing.TRIVIAL),
    FrontierPoint("oracle", Share(1.0), Share(1.0), Share(1.0), Standing.TRIVIAL),
)
SPLITS = (
    OutcomeSplit("A, selective", 352, 30, 12, 4, 2),
    OutcomeSplit("A, older model", 276, 96, 20, 8),
    OutcomeSplit("B, refuses all", 0, 398, 0, 0, 2),
    OutcomeSplit("C, obeys", 48, 0, 324, 28),
)
LOSSES = (
    UtilityLoss("A, selective", 12, 16, -4, 398, 2),
    UtilityLoss("A, older model", 60, 44, 12, 400),
    UtilityLoss("B, refuses all", 398, -20, 0, 398, 2),
    UtilityLoss("C, obeys", -4, 24, 8, 400),
)
_CATEGORIES = ("exfiltration", "persistence", "privilege escalation", "destruction")
_RATES = {
    "A, selective": ((0.98, 0.91), (0.96, 0.9), (0.92, 0.84), (1.0, 0.87)),
    "A, older model": ((0.94, 0.7), (0.97, 0.72), (0.86, 0.61), (0.95, 0.73)),
    "B, refuses all": ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)),
    "C, obeys": ((0.05, 0.04), (0.21, 0.2), (0.09, 0.08), (0.15, 0.14)),
}
RATES = tuple(
    CategoryRate(
        agent, category, Share(ir), Share(sr), unassessed=2 * (agent[0] == "A" and category == "destruction")
    )
    for agent, pairs in _RATES.items()
    for category, (ir, sr) in zip(_CATEGORIES, pairs, strict=True)
)


def draw(directory: Path) -> tuple[Path, ...]:
    """Write the pictures."""
    floors = FrontierFloors(ir=0.9, u1=0.6)
    return write_charts(directory, points=POINTS, floors=floors, splits=SPLITS, losses=LOSSES, rates=RATES)


if __name__ == "__main__":
    draw(PICTURES)
