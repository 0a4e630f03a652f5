"""Where labels go beside points, so that none hides another or a point."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]
"""Rows of left, top, right, bottom, in pixels."""

_MARK = 6.0
"""Half the size of a marker, pixels."""
_GAP = 3.0


class Spot(NamedTuple):
    """Where a label hangs: by its left or right edge or its middle, whichever is next to the marker."""

    x: float
    y: float
    """Middle of its height."""
    align: str
    """``left``, ``right`` or ``center``: the part of the label that is at ``x``."""
    reach: float
    """How far it had to go."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Spots in the order of the points."""

    spots: tuple[Spot, ...]
    free: bool
    """Whether every label is clear of all others, of every marker and of the frame."""


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    *,
    frame: tuple[float, float],
    soft: Sequence[tuple[float, float, float, float]] = (),
    reaches: Sequence[float] = (0.0, 12.0, 24.0),
) -> Placement:
    """Place one label for each point, one after the other, each at its best free spot.

    Args:
        points: Middles of the markers, pixels.
        sizes: Width and height of each label, pixels.
        frame: Width and height of the plot; labels stay inside.
        soft: Boxes better left free, such as interval lines.
        reaches: Distances from the marker to try, pixels.
    """
    hard = np.array([(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in points]).reshape(-1, 4)
    lines = np.array(soft, dtype=np.float64).reshape(-1, 4)
    spots, free = [], True
    for (x, y), size in zip(points, sizes, strict=True):
        tried = [_spot(x, y, size, reach, turn) for reach in reaches for turn in range(16)]
        costs = [_cost(_box(spot, size), hard, lines, frame) for spot in tried]
        best = min(range(len(tried)), key=lambda i: (costs[i][0], costs[i][1] + 8.0 * tried[i].reach, i))
        spots.append(tried[best])
        free &= costs[best][0] == 0.0
        hard = np.vstack([hard, _box(tried[best], size)])
    return Placement(tuple(spots), free)


def _spot(x: float, y: float, size: tuple[float, float], reach: float, turn: int) -> Spot:
    """A label to the right (turn 0) and on around; its nearest edge or corner is ``reach`` beyond the marker."""
    angle = turn * pi / 8
    away = _MARK + _GAP + reach
    across, down = cos(angle), sin(angle)
    align = ("right", "center", "left")[_sign(across) + 1]
    return Spot(x + away * across, y + away * down + _sign(down) * size[1] / 2, align, reach)


def _sign(number: float) -> int:
    """-1, 0 or 1, where a near vertical counts as vertical."""
    return 0 if abs(number) < 1e-9 else round(np.sign(number))


def _box(spot: Spot, size: tuple[float, float]) -> Boxes:
    width, height = size
    left = spot.x - {"left": 0.0, "center": width / 2, "right": width}[spot.align]
    return np.array([left, spot.y - height / 2, left + width, spot.y + height / 2])


def _cost(box: Boxes, hard: Boxes, lines: Boxes, frame: tuple[float, float]) -> tuple[float, float]:
    """Area that hides something or is outside the frame, and area over lines; square pixels."""
    outside = max(0.0, -box[0], -box[1], box[2] - frame[0], box[3] - frame[1])
    return _overlap(box, hard) + 100.0 * outside, _overlap(box, lines)


def _overlap(box: Boxes, others: Boxes) -> float:
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    return float((width.clip(0) * height.clip(0)).sum())
