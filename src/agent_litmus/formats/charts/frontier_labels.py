"""What stands beside each agent's marker: its name where all names fit, else its number in the table."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_litmus.formats.charts.data import FrontierPoint, Standing
from agent_litmus.formats.charts.draw import COLUMN, TEXT
from agent_litmus.formats.charts.placing import Placement, Spot, place_labels
from agent_litmus.formats.charts.plane import HIGH, LOW
from agent_litmus.formats.charts.text import columns_of, safe_names

SIDE = 460
"""Width and height of the plot, pixels."""

_NAMED_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Tag:
    """An agent with its safe name and its label in the plot."""

    point: FrontierPoint
    name: str
    number: str
    """Its number where the plot shows numbers, else empty."""
    spot: Spot | None
    """Where the label hangs, on the axes' own scale; ``None`` for an agent without a place in the plot."""

    @property
    def text(self) -> str:
        """The label in the plot."""
        return self.number or self.name

    @property
    def far(self) -> bool:
        """Whether the label needs a line to its marker."""
        return self.spot is not None and self.spot.reach > 0.0

    @property
    def standing(self) -> Standing:
        """What the comparison says of the agent."""
        return self.point.standing

    @property
    def x(self) -> float | None:
        """U1."""
        return self.point.u1.value

    @property
    def y(self) -> float | None:
        """SR."""
        return self.point.sr.value


def tags_of(points: Sequence[FrontierPoint]) -> tuple[Tag, ...]:
    """Names and label places, in the order of the points."""
    names = safe_names(point.agent for point in points)
    where = {i: (p.u1.value, p.sr.value) for i, p in enumerate(points)}
    middles = {i: (_pixel(x), SIDE - _pixel(y)) for i, (x, y) in where.items() if x is not None and y is not None}
    soft = [line for i in middles for line in _lines(points[i], middles[i])]
    numbers = [""] * len(points)
    placed = _placed([names[i] for i in middles], list(middles.values()), soft, (0.0, 12.0, 24.0))
    if len(middles) > _NAMED_AT_MOST or not placed.free:
        numbers = [str(i + 1) for i in range(len(points))]
        reaches = (0.0, 8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 90.0)
        placed = _placed([numbers[i] for i in middles], list(middles.values()), soft, reaches)
    spots = dict(zip(middles, placed.spots, strict=True))
    return tuple(
        Tag(point, names[i], numbers[i], _on_axes(spots[i]) if i in spots else None)
        for i, point in enumerate(points)
    )


def _placed(
    texts: Sequence[str],
    middles: Sequence[tuple[float, float]],
    soft: Sequence[tuple[float, float, float, float]],
    reaches: Sequence[float],
) -> Placement:
    sizes = [(columns_of(text) * COLUMN + 2.0, TEXT + 3.0) for text in texts]
    return place_labels(middles, sizes, frame=(SIDE, SIDE), soft=soft, reaches=reaches)


def _lines(point: FrontierPoint, middle: tuple[float, float]) -> list[tuple[float, float, float, float]]:
    x, y = middle
    lines = []
    if point.u1.low is not None and point.u1.high is not None:
        lines.append((_pixel(point.u1.low), y - 1.5, _pixel(point.u1.high), y + 1.5))
    if point.sr.low is not None and point.sr.high is not None:
        lines.append((x - 1.5, SIDE - _pixel(point.sr.high), x + 1.5, SIDE - _pixel(point.sr.low)))
    return lines


def _pixel(share: float) -> float:
    return (share - LOW) / (HIGH - LOW) * SIDE


def _on_axes(spot: Spot) -> Spot:
    return spot._replace(x=_axis(spot.x), y=_axis(SIDE - spot.y))


def _axis(pixel: float) -> float:
    return LOW + pixel / SIDE * (HIGH - LOW)
