"""What the two ledger charts share: one row for each agent, a bar of parts, and figures beside it."""

from collections.abc import Sequence
from typing import Any

from agent_litmus.formats.charts.draw import SHADES, altair, rows
from agent_litmus.formats.charts.text import safe_names

ROW = 24
"""Height of a row, pixels."""
WIDTH = 480
"""Width of the bars' plot, pixels."""


def agent_axis(names: Sequence[str]) -> Any:
    """One row for each safe name, in order."""
    axis = altair().Axis(title=None, ticks=False, domain=False, grid=False, labelPadding=8)
    return altair().Y("agent:N", sort=list(names), axis=axis, scale=altair().Scale(paddingInner=0.25, domain=names))


def stacked(parts: Sequence[dict[str, object]], x: Any, y: Any, kinds: Sequence[str], shades: Sequence[str]) -> Any:
    """Bars from ``x`` to ``x2`` in the shade of their ``kind``, described by ``about``."""
    alt = altair()
    legend = alt.Legend(orient="top", title=None, symbolType="square", symbolSize=110, columns=len(kinds))
    fill = alt.Fill("kind:N", scale=alt.Scale(domain=list(kinds), range=list(shades)), legend=legend)
    bar = alt.Chart(rows(parts)).mark_bar(stroke="#333333", strokeWidth=0.6, opacity=1)
    return bar.encode(x=x, x2="x2:Q", y=y, fill=fill, description="about:N")


def ink_on(shade: str) -> str:
    """Black or white, whichever is read more easily on a shade."""
    return "#ffffff" if shade == SHADES[3] else "#111111"


def names_of(values: Sequence[Any]) -> list[str]:
    """Safe names of the rows' agents."""
    return safe_names(value.agent for value in values)


def pairs_text(pairs: int, unassessed: int) -> str:
    """How many pairs a bar stands for."""
    text = f"{pairs} pair" + "s" * (pairs != 1) if pairs else "no assessed pair"
    return text + (f", {unassessed} unassessed" if unassessed else "")
