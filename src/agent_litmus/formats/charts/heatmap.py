"""Heat map of resistance and selective resistance by category of injection."""

from collections.abc import Iterator, Sequence
from typing import Any

from agent_litmus.formats.charts.data import CategoryRate, Share, chart_error, need_some
from agent_litmus.formats.charts.draw import altair, rows, svg_of, text_layer
from agent_litmus.formats.charts.text import percent, safe_names

_CELL = (40, 24)
"""Width and height of a cell, pixels."""
_STEPS = ("#3f1d5c", "#6d4a86", "#9a7fae", "#c6b6d3", "#f1ecf5")
"""From 0 to 1, dark to light."""
_LIGHT_FROM = 0.4
"""Share from which black is read more easily than white."""
_PANELS = (("IR", "ir", "IR, resistance, %"), ("SR", "sr", "SR, selective resistance, %"))


def heatmap_svg(rates: Sequence[CategoryRate]) -> str:
    """Draw two panels, IR and SR, with a row for each agent and a column for each category, as they first occur.

    Raises:
        LitmusError: There are no rates, one agent has a category twice, or the extra ``charts`` is not installed.
    """
    need_some(rates, "heat map")
    agents, categories = (_in_order(getattr(rate, name) for rate in rates) for name in ("agent", "category"))
    if len({(rate.agent, rate.category) for rate in rates}) < len(rates):
        raise chart_error("one agent has one category twice in the heat map", "give each agent its own name")
    shown = {(rate.agent, rate.category): rate for rate in rates}
    panels = [
        _panel(shown, agents, categories, panel=index, title=title) for index, (_, _, title) in enumerate(_PANELS)
    ]
    chart = altair().hconcat(*panels, spacing=16)
    notes = [
        "Light: the agent held. Dark: it did not. –: nothing assessed.",
        "*: some episodes unassessed; the share is of the others."
        if any(rate.unassessed for rate in rates)
        else "",
    ]
    return svg_of(chart, title="Resistance by category of injection", notes=notes)


def _panel(
    shown: dict[tuple[str, str], CategoryRate],
    agents: Sequence[str],
    categories: Sequence[str],
    *,
    panel: int,
    title: str,
) -> Any:
    alt = altair()
    row_names, column_names = safe_names(agents), safe_names(categories, 28)
    cells = [
        _cell(shown.get((agent, category)), row, column, panel)
        for agent, row in zip(agents, row_names, strict=True)
        for category, column in zip(categories, column_names, strict=True)
    ]
    left = alt.Axis(title=None, ticks=False, domain=False, labelPadding=8, labels=panel == 0)
    top = alt.Axis(title=title, orient="top", ticks=False, domain=False, labelAngle=-45, labelPadding=6)
    x = alt.X("column:N", sort=column_names, axis=top, scale=alt.Scale(domain=column_names))
    y = alt.Y("row:N", sort=row_names, axis=left, scale=alt.Scale(domain=row_names))
    layers = alt.layer(*_layers(cells, x, y))
    return layers.properties(width=_CELL[0] * len(categories), height=_CELL[1] * len(agents))


def _layers(cells: Sequence[dict[str, object]], x: Any, y: Any) -> Iterator[Any]:
    alt = altair()
    scale = alt.Scale(domain=[0, 1], range=list(_STEPS), interpolate="rgb")
    filled, bare = ([cell for cell in cells if (cell["value"] is not None) is known] for known in (True, False))
    edge = {"stroke": "#ffffff", "strokeWidth": 1.5}
    rect = alt.Chart(rows(filled)).mark_rect(**edge)
    yield rect.encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None), description="about:N")
    empty = alt.Chart(rows(bare)).mark_rect(fill="#ffffff", stroke="#bbbbbb", strokeWidth=0.75)
    yield empty.encode(x=x, y=y, description="about:N")
    for dark in (False, True):
        chosen = [cell for cell in cells if cell["dark"] is dark]
        yield text_layer(chosen, x, y, color="#ffffff" if dark else "#111111", aria=False)


def _cell(rate: CategoryRate | None, row: str, column: str, panel: int) -> dict[str, object]:
    name, field, _ = _PANELS[panel]
    share: Share = getattr(rate, field) if rate else Share(None)
    unassessed = rate.unassessed if rate else 0
    text = percent(share.value)
    said = f"{text} %" if share.value is not None else "nothing assessed"
    return {
        "row": row,
        "column": column,
        "value": share.value,
        "dark": share.value is not None and share.value < _LIGHT_FROM,
        "text": text + "*" * bool(unassessed),
        "about": f"{row}, {column}: {name} {said}" + (f", {unassessed} unassessed" if unassessed else ""),
    }


def _in_order(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(names))
