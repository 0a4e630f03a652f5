"""A comparison as a document or as tables; the frontier as a table."""

from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from agent_litmus.app.compare import Comparison
from agent_litmus.app.frontier import Compared, dominance_document, frontier_document, interval_document
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.score_table import console_on, grid, print_warnings
from agent_litmus.scoring.frontier import Frontier
from agent_litmus.scoring.stats.interval import Interval

_LISTED = 12


def comparison_document(found: Comparison) -> dict[str, Any]:
    """What ``--json`` prints."""
    over, under = found.dominances
    return {
        "schema_version": 1,
        "a": found.a.name,
        "b": found.b.name,
        "outcome": found.outcome.value,
        "reasons": list(found.reasons),
        "margin": found.margin,
        "probes": {"shared": found.shared, "only_a": found.only_a, "only_b": found.only_b},
        "differences": {name: interval_document(gap) for name, gap in found.differences.items()},
        "cells": {cell.value: {"a": a, "b": b, "change": b - a} for cell, (a, b) in found.cells.items()},
        "flips": [{"probe": f.probe, "what": f.what, "a": f.a, "b": f.b} for f in found.flips],
        "a_over_b": dominance_document(over),
        "b_over_a": dominance_document(under),
        "frontier": frontier_document(Compared(found.frontier, ())),
        "warnings": list(found.warnings),
    }


def print_comparison(found: Comparison, file: TextIO) -> None:
    """Print differences, changed cells, flipped probes, dominance and the last line."""
    console = console_on(file)
    console.print(Text(f"{one_line(found.a.name)}  against  {one_line(found.b.name)}"))
    console.print(
        Text(f"{found.shared} shared probes, {found.only_a} only in A, {found.only_b} only in B", style="dim")
    )
    gaps = [(name, _points(gap), str(gap.n)) for name, gap in found.differences.items()]
    console.print(grid(("B less A", "points [95 % interval]", "pairs"), gaps, 1))
    changed = [(c.value, str(a), str(b), f"{b - a:+d}") for c, (a, b) in found.cells.items() if a != b]
    console.print(grid(("cell", "A", "B", "change"), changed, 1) if changed else Text("no cell changed"))
    _print_flips(console, found)
    print_frontier(console, found.frontier)
    print_warnings(console, found.warnings)
    console.print(
        Text(f"litmus: {found.outcome.value.upper()}  {one_line('; '.join(found.reasons), 400)}"), soft_wrap=True
    )


def _points(gap: Interval) -> str:
    if gap.value is None or gap.low is None or gap.high is None:
        return "–"
    mark = "*" if gap.underpowered else ""
    return f"{100 * gap.value:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]{mark}"


def _print_flips(console: Console, found: Comparison) -> None:
    kinds = {flip.what: [f for f in found.flips if f.what == flip.what] for flip in found.flips}
    for what, flips in sorted(kinds.items()):
        console.print(Text(f"{what.replace('_', ' ')} ({len(flips)}):"))
        for flip in flips[:_LISTED]:
            console.print(Text(f"  {one_line(flip.probe)}  A {flip.a}, B {flip.b}"))
        if len(flips) > _LISTED:
            console.print(Text(f"  … and {len(flips) - _LISTED} more with --json"))


def print_frontier(console: Console, frontier: Frontier) -> None:
    """Points by layer, and every dominance that is shown."""
    points = sorted(frontier.points, key=lambda point: (point.layer is None, point.layer or 0, point.agent))
    rows = [
        (
            point.agent,
            "–" if point.layer is None else str(point.layer),
            "–" if point.p_frontier is None else f"{point.p_frontier:.2f}",
            *(_share(interval) for interval in (point.u1, point.sr, point.ir)),
            "; ".join(point.misses),
        )
        for point in points
    ]
    console.print(grid(("agent", "layer", "P(frontier)", "U1", "SR", "IR", "misses"), rows, 1))
    for pair in frontier.dominances:
        if pair.holds:
            console.print(
                Text(f"{one_line(pair.winner)} dominates {one_line(pair.loser)}  (P {pair.p_dominates:.2f})"),
                soft_wrap=True,
            )


def _share(interval: Interval) -> str:
    if interval.value is None or interval.low is None or interval.high is None:
        return "–"
    return f"{100 * interval.value:.1f} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"
