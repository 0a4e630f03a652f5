"""The table beside the frontier: every agent with its figures and what the comparison says of it."""

from collections.abc import Callable, Sequence
from typing import Any

from agent_litmus.formats.charts.data import Floored
from agent_litmus.formats.charts.draw import COLUMN, LINE, altair, rows, text_layer
from agent_litmus.formats.charts.frontier_labels import Tag
from agent_litmus.formats.charts.text import columns_of, percent

_ROW = 17
_FIGURE = 46
"""Width of a column of figures, pixels."""


def table_of(tags: Sequence[Tag], floors: Floored, markers: Callable[..., Any]) -> Any:
    """A chart without axes that holds the table, one row for each agent below a heading.

    Args:
        tags: The agents.
        floors: Floors, to say which of them a figure misses.
        markers: Draws markers of the fields ``standing`` and ``about``.
    """
    alt = altair()
    start = 44 if any(tag.number for tag in tags) else 20
    names = start + max(columns_of(text) for text in ("agent", *(tag.name for tag in tags))) * COLUMN
    ends = [names + _FIGURE * (column + 1) for column in range(3)]
    width, height = ends[-1] + 150, _ROW * (len(tags) + 1)
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(tags) + 1, 0], nice=False), axis=None)
    left, right = _cells(tags, floors, start, ends)
    marks = [{"x": start - 12, "y": row + 1.5, "standing": tag.standing.value} for row, tag in enumerate(tags)]
    marks = [{**mark, "about": ""} for mark in marks]
    rule = alt.Chart(rows([{"x": 0, "x2": width, "y": 1}])).mark_rule(color=LINE, aria=False)
    layers = (
        rule.encode(x=x, x2="x2:Q", y=y),
        markers(marks, x, y),
        text_layer(left, x, y, align="left"),
        text_layer(right, x, y, align="right"),
    )
    return alt.layer(*layers).properties(width=width, height=height)


def _cells(
    tags: Sequence[Tag], floors: Floored, start: float, ends: Sequence[float]
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Cells aligned left and cells aligned right."""
    left: list[dict[str, object]] = [{"x": start, "y": 0.5, "text": "agent"}]
    right: list[dict[str, object]] = [
        {"x": end, "y": 0.5, "text": text} for end, text in zip(ends, ("U1 %", "SR %", "IR %"), strict=True)
    ]
    for row, tag in enumerate(tags):
        middle, point = row + 1.5, tag.point
        left += [
            {"x": start, "y": middle, "text": tag.name},
            {"x": ends[-1] + 14, "y": middle, "text": _remark(tag, floors)},
        ]
        figures = (percent(share.value) for share in (point.u1, point.sr, point.ir))
        right += [{"x": end, "y": middle, "text": text} for end, text in zip(ends, figures, strict=True)]
        right.append({"x": start - 22, "y": middle, "text": tag.number})
    return left, right


def _remark(tag: Tag, floors: Floored) -> str:
    point = tag.point
    shares = (("U1", point.u1.value, floors.u1), ("IR", point.ir.value, floors.ir))
    if None in {point.u1.value, point.sr.value, point.ir.value}:
        return "not assessed"
    missed = [name for name, value, floor in shares if value is not None and value < floor]
    return f"{point.standing.value}{': ' if missed else ''}{', '.join(missed)}"
