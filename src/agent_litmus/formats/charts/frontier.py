"""Agents on the plane of utility under attack and selective resistance, with floors and the dominated region."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from agent_litmus.formats.charts.data import Floored, FrontierPoint, Share, Standing, chart_error, need_some
from agent_litmus.formats.charts.draw import INK, LINE, PALE_INK, SHADES, altair, rows, svg_of, text_layer
from agent_litmus.formats.charts.frontier_labels import SIDE, Tag, tags_of
from agent_litmus.formats.charts.frontier_table import table_of
from agent_litmus.formats.charts.plane import HIGH, LOW, dominated_steps
from agent_litmus.formats.charts.text import percent

_SHAPES = {
    Standing.FRONTIER: ("circle", SHADES[3], SHADES[3]),
    Standing.DOMINATED: ("square", SHADES[1], INK),
    Standing.UNDER_FLOOR: ("cross", SHADES[2], INK),
    Standing.TRIVIAL: ("diamond", "#ffffff", INK),
}
"""Shape, fill and line of a marker."""


def frontier_svg(points: Sequence[FrontierPoint], *, floors: Floored, delta: float) -> str:
    """Draw the frontier.

    Every agent is in the table beside the plot, with or without a place in it. In the plot it is named, or, where
    names do not fit without hiding one another, numbered.

    Args:
        points: The agents, in the order of the table.
        floors: Floors of the comparison; IR has no axis, so its floor is in the table.
        delta: Margin of the comparison, >= 0: how much worse still counts as not worse.

    Raises:
        LitmusError: There are no agents, a number is out of range, or the extra ``charts`` is not installed.
    """
    need_some(points, "frontier")
    if not all(0.0 <= number <= 1.0 for number in (delta, floors.ir, floors.u1)):  # also refuses NaN
        raise chart_error("a floor or the margin is not from 0 to 1", "use the comparison's own floors and margin")
    tags = tags_of(points)
    plot = altair().layer(*_backdrop(points, floors, delta), *_intervals(points), *_agents(tags))
    plot = plot.properties(width=SIDE, height=SIDE)
    chart = altair().hconcat(plot, table_of(tags, floors, partial(_markers, kinds=_kinds(tags))), spacing=24)
    return svg_of(chart, title="Utility under attack and selective resistance", notes=_notes(points, floors, delta))


def _notes(points: Sequence[FrontierPoint], floors: Floored, delta: float) -> tuple[str, ...]:
    named = [f"{name} {100 * floor:g} %" for name, floor in (("IR", floors.ir), ("U1", floors.u1)) if floor > 0]
    weak = any(share.underpowered for point in points for share in (point.u1, point.sr))
    return (
        f"Floors: {', '.join(named) or 'none'}. Margin: {100 * delta:.3g} points. Lines: intervals"
        + (", dashed where too few clusters stand behind them." if weak else "."),
        "Grey: behind an agent on the frontier on both axes, within the margin. Dominance also needs IR no worse; "
        "markers show what was tested."
        if dominated_steps(points, delta)
        else "",
    )


def _backdrop(points: Sequence[FrontierPoint], floors: Floored, delta: float) -> Iterator[Any]:
    alt, x, y = altair(), _x("x"), _y("y")
    steps = rows({"x": across, "y": up, "floor": LOW} for across, up in dominated_steps(points, delta))
    region = alt.Chart(steps)
    yield region.mark_area(interpolate="step-after", color="#e3e3e3", aria=False).encode(x=x, y=y, y2="floor:Q")
    yield region.mark_line(interpolate="step-after", color=LINE, strokeWidth=1, aria=False).encode(x=x, y=y)
    diagonal = rows([{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}])
    yield alt.Chart(diagonal).mark_line(color=LINE, strokeWidth=1, strokeDash=[1, 3], aria=False).encode(x=x, y=y)
    where = [{"x": 0.26, "y": 0.26, "text": "SR = U1: useful and never hijacked"}]
    yield text_layer(where, x, y, angle=315, dy=-8, color=PALE_INK, fontSize=10, aria=False)
    if floors.u1 > 0:
        yield from _floor(floors.u1)


def _floor(floor: float) -> Iterator[Any]:
    alt, x, y = altair(), _x("x"), _y("y")
    band = alt.Chart(rows([{"x": LOW, "x2": floor, "y": LOW, "y2": HIGH}]))
    yield band.mark_rect(color=SHADES[2], opacity=0.1, aria=False).encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    edge = alt.Chart(rows([{"x": floor, "y": LOW, "y2": HIGH}]))
    yield edge.mark_rule(color=SHADES[2], strokeDash=[6, 3], strokeWidth=1.5, aria=False).encode(
        x=x, y=y, y2="y2:Q"
    )
    text, left = f"U1 floor {100 * floor:g} %", floor > 0.25
    where = [{"x": floor, "y": HIGH, "text": text}]
    side = {"align": "right", "dx": -5} if left else {"align": "left", "dx": 5}
    yield text_layer(where, x, y, dy=8, fontSize=10, **side)


def _intervals(points: Sequence[FrontierPoint]) -> Iterator[Any]:
    alt = altair()
    lines = [line for point in points for line in _lines(point)]
    for dashed in (False, True):
        chosen = rows(line for line in lines if line["dashed"] is dashed)
        style: dict[str, Any] = {"color": PALE_INK, "strokeWidth": 1, "opacity": 0.75, "aria": False}
        rule = alt.Chart(chosen).mark_rule(**style, **({"strokeDash": [3, 2]} if dashed else {}))
        yield rule.encode(x=_x("x"), x2="x2:Q", y=_y("y"), y2="y2:Q")


def _lines(point: FrontierPoint) -> Iterator[dict[str, object]]:
    u1, sr = point.u1, point.sr
    if u1.value is None or sr.value is None:
        return
    if u1.low is not None and u1.high is not None:
        yield {"x": u1.low, "x2": u1.high, "y": sr.value, "y2": sr.value, "dashed": u1.underpowered}
    if sr.low is not None and sr.high is not None:
        yield {"x": u1.value, "x2": u1.value, "y": sr.low, "y2": sr.high, "dashed": sr.underpowered}


def _agents(tags: Sequence[Tag]) -> Iterator[Any]:
    alt = altair()
    placed = [(tag, tag.spot) for tag in tags if tag.spot]
    leaders = rows({"x": tag.x, "y": tag.y, "x2": spot.x, "y2": spot.y} for tag, spot in placed if tag.far)
    rule = alt.Chart(leaders).mark_rule(color=PALE_INK, strokeWidth=0.75, aria=False)
    yield rule.encode(x=_x("x"), x2="x2:Q", y=_y("y"), y2="y2:Q")
    marks: list[dict[str, object]] = [
        {"x": tag.x, "y": tag.y, "standing": tag.standing.value, "about": _about(tag)} for tag, _ in placed
    ]
    yield _markers(marks, _x("x"), _y("y"), kinds=_kinds(tags), shown=True)
    # a white outline first, so that lines do not run through the letters
    for outline in ({"stroke": "#ffffff", "strokeWidth": 3, "strokeJoin": "round"}, {}):
        for align in ("left", "center", "right"):
            where = [{"x": s.x, "y": s.y, "text": tag.text} for tag, s in placed if s.align == align]
            yield text_layer(where, _x("x"), _y("y"), align=align, aria=False, **outline)


def _kinds(tags: Sequence[Tag]) -> list[Standing]:
    return [kind for kind in Standing if any(tag.standing is kind for tag in tags)]


def _markers(
    values: Sequence[dict[str, object]], x: Any, y: Any, *, kinds: Sequence[Standing], shown: bool = False
) -> Any:
    """Markers of the field ``standing``, described by ``about``; ``shown`` is whether a legend explains them."""
    alt = altair()
    legend = alt.Legend(orient="bottom", title=None, symbolSize=80) if shown else None

    def by_standing(channel: Any, part: int) -> Any:
        scale = alt.Scale(domain=[kind.value for kind in kinds], range=[_SHAPES[kind][part] for kind in kinds])
        return channel("standing:N", scale=scale, legend=legend)

    mark = alt.Chart(rows(values)).mark_point(size=70, strokeWidth=1.2, opacity=1)
    shape, fill, line = (by_standing(c, part) for part, c in enumerate((alt.Shape, alt.Fill, alt.Stroke)))
    return mark.encode(x=x, y=y, shape=shape, fill=fill, stroke=line, description="about:N")


def _about(tag: Tag) -> str:
    point = tag.point
    figures = ", ".join(f"{name} {_words(s)}" for name, s in (("U1", point.u1), ("SR", point.sr), ("IR", point.ir)))
    return f"{tag.name}: {figures}; {tag.standing.value}"


def _words(share: Share) -> str:
    if share.low is None or share.high is None:
        return f"{percent(share.value)} %"
    return f"{percent(share.value)} % ({percent(share.low)} to {percent(share.high)})"


def _x(field: str) -> Any:
    return altair().X(f"{field}:Q", scale=_scale(), axis=_axis("U1, utility under attack: host tasks completed"))


def _y(field: str) -> Any:
    title = "SR, selective resistance: completed, injection delivered, nothing of it done"
    return altair().Y(f"{field}:Q", scale=_scale(), axis=_axis(title))


def _scale() -> Any:
    return altair().Scale(domain=[LOW, HIGH], nice=False, zero=False)


def _axis(title: str) -> Any:
    return altair().Axis(title=title, values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~%", grid=True)
