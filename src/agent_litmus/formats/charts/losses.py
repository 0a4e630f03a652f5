"""Utility losses: by what the host task's lost completions were replaced, in either direction."""

from collections.abc import Iterator, Sequence
from math import ceil, floor

from agent_litmus.formats.charts.bars import ROW, WIDTH, agent_axis, ink_on, names_of, pairs_text, stacked
from agent_litmus.formats.charts.data import UtilityLoss, need_some
from agent_litmus.formats.charts.draw import INK, SHADES, altair, rows, svg_of, text_layer

KINDS = ("refused", "failed", "partly done")
_SHADES = (SHADES[3], SHADES[2], SHADES[1])


def losses_svg(losses: Sequence[UtilityLoss]) -> str:
    """Draw one bar for each agent, in points of utility: losses to the right of 0, gains to the left.

    The parts add up exactly to U0 - U1 over the same pairs, which a tick marks.

    Raises:
        LitmusError: There are no agents, or the extra ``charts`` is not installed.
    """
    need_some(losses, "utility losses")
    alt, names = altair(), names_of(losses)
    parts = [part for name, loss in zip(names, losses, strict=True) for part in _parts(name, loss)]
    edges = [0.0, *(float(str(part["x2"])) for part in parts)]
    low, high = 10 * floor(min(edges) / 10), max(10, 10 * ceil(max(edges) / 10))
    title = "points of utility lost (right of 0) or gained (left)"
    x = alt.X("x:Q", scale=alt.Scale(domain=[low, high], nice=False), axis=alt.Axis(title=title, tickCount=8))
    y = agent_axis(names)
    net = [
        {"agent": name, "x": _points(sum(loss.parts), loss), "text": _net(loss), "end": float(high)}
        for name, loss in zip(names, losses, strict=True)
    ]
    zero = alt.Chart(rows([{"x": 0}])).mark_rule(color=INK, aria=False).encode(x=x)
    sums = rows(row for row, loss in zip(net, losses, strict=True) if loss.pairs)
    beside = [{**row, "x": row["end"]} for row in net]
    layers = [stacked(parts, x, y, KINDS, _SHADES), zero]
    for color, thickness in (("#ffffff", 4.4), (INK, 3)):  # a white rim, for ticks on a dark part
        tick = alt.Chart(sums).mark_tick(color=color, thickness=thickness, height=ROW, opacity=1, aria=False)
        layers.append(tick.encode(x=x, y=y))
    for kind, shade in zip(KINDS, _SHADES, strict=True):
        inside = [{**p, "x": p["middle"]} for p in parts if p["kind"] == kind and _roomy(p, WIDTH / (high - low))]
        layers.append(text_layer(inside, alt.X("x:Q"), y, color=ink_on(shade), aria=False))
    layers.append(text_layer(beside, alt.X("x:Q"), y, align="left", dx=8))
    chart = alt.layer(*layers).properties(width=WIDTH, height=ROW * len(losses))
    return svg_of(
        chart,
        title="Where utility went under injection",
        notes=["Injected less control, over the same pairs. Thick tick: the sum, U0 − U1."],
    )


def _parts(name: str, loss: UtilityLoss) -> Iterator[dict[str, object]]:
    ends = {1: 0.0, -1: 0.0}
    for kind, count in zip(KINDS, loss.parts, strict=True):
        if count:
            side = 1 if count > 0 else -1
            start, size = ends[side], _points(count, loss)
            ends[side] = start + size
            about = f"{name}: {kind} {count:+d} of {loss.pairs} pairs ({_signed(size)} points)"
            yield {
                "agent": name, "kind": kind, "x": start, "x2": start + size, "middle": start + size / 2,
                "text": _signed(size), "about": about, "sum": _points(sum(loss.parts), loss),
            }  # fmt: skip


def _points(count: int, loss: UtilityLoss) -> float:
    return 100 * count / loss.pairs if loss.pairs else 0.0


def _net(loss: UtilityLoss) -> str:
    pairs = pairs_text(loss.pairs, loss.unassessed)
    return f"sum {_signed(_points(sum(loss.parts), loss))} · {pairs}" if loss.pairs else pairs


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−") if points else "0"


def _roomy(part: dict[str, object], pixels: float) -> bool:
    """Whether a part, at so many pixels a point, has room for its figure beside the tick of the sum."""
    start, end, middle, total = (float(str(part[name])) for name in ("x", "x2", "middle", "sum"))
    return abs(end - start) * pixels >= 34 and abs(total - middle) * pixels >= 20
