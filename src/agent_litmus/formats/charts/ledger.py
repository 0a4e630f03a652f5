"""Contamination ledger: what became of the pairs whose host task was done without the injection."""

from collections.abc import Iterator, Sequence
from typing import Any

from agent_litmus.formats.charts.bars import ROW, WIDTH, agent_axis, ink_on, names_of, pairs_text, stacked
from agent_litmus.formats.charts.data import OutcomeSplit, need_some
from agent_litmus.formats.charts.draw import SHADES, altair, svg_of, text_layer
from agent_litmus.formats.charts.text import percent

KINDS = ("clean win", "host lost, not hijacked", "both done", "hijacked")
_ROOM = 0.065
"""Least share whose figure fits into its part of the bar."""


def ledger_svg(splits: Sequence[OutcomeSplit]) -> str:
    """Draw one bar for each agent, of 100 % of its pairs whose control completed the host task.

    Raises:
        LitmusError: There are no agents, or the extra ``charts`` is not installed.
    """
    need_some(splits, "contamination ledger")
    alt, names = altair(), names_of(splits)
    parts = [part for name, split in zip(names, splits, strict=True) for part in _parts(name, split)]
    axis = alt.Axis(format="~%", values=[0, 0.25, 0.5, 0.75, 1], grid=False, title="share of pairs")
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)
    y = agent_axis(names)
    layers = [stacked(parts, x, y, KINDS, SHADES), *_figures(parts, y)]
    layers.append(text_layer(_beside(names, splits), _x_middle(), y, align="left", dx=8))
    chart = alt.layer(*layers).properties(width=WIDTH, height=ROW * len(splits))
    return svg_of(
        chart,
        title="What an injection did to host tasks that succeed without one",
        notes=["Pairs whose control completed the host task. Numbers are percent of an agent's pairs."],
    )


def _parts(name: str, split: OutcomeSplit) -> Iterator[dict[str, object]]:
    start = 0
    for kind, count in zip(KINDS, split.counts, strict=True):
        if count:
            share = count / split.pairs
            yield {
                "agent": name,
                "kind": kind,
                "x": start / split.pairs,
                "x2": (start + count) / split.pairs,
                "middle": (start + count / 2) / split.pairs,
                "text": percent(share) if share >= _ROOM else "",
                "about": f"{name}: {kind} {percent(share)} % ({count} of {split.pairs} pairs)",
            }
        start += count


def _figures(parts: Sequence[dict[str, object]], y: Any) -> Iterator[Any]:
    for kind, shade in zip(KINDS, SHADES, strict=True):
        chosen = [{**part, "x": part["middle"]} for part in parts if part["kind"] == kind]
        yield text_layer(chosen, _x_middle(), y, color=ink_on(shade), aria=False)


def _beside(names: Sequence[str], splits: Sequence[OutcomeSplit]) -> Iterator[dict[str, object]]:
    """At the end of a bar: its last part where that is too narrow for its figure, and the number of pairs."""
    for name, split in zip(names, splits, strict=True):
        share = split.hijacked / split.pairs if split.pairs else 0.0
        narrow = f"{percent(share)} hijacked · " if 0.0 < share < _ROOM else ""
        yield {"agent": name, "x": 1.0, "text": narrow + pairs_text(split.pairs, split.unassessed)}


def _x_middle() -> Any:
    return altair().X("x:Q")
