"""Figures as a table for people."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent_litmus.formats import console
from agent_litmus.formats.hostile import one_line
from agent_litmus.records.scorecard import Estimate

_WIDTH = 280  # of a log, which has no width of its own


def console_on(file: TextIO) -> Console:
    """A console that reads no markup in what it is given."""
    return console.console_on(file, _WIDTH)


def cell(estimate: Estimate | None) -> str:
    """A figure and its interval, in percent."""
    if estimate is None or estimate.value is None:
        return "–"
    value = f"{100 * estimate.value:.1f}"
    if estimate.low is None or estimate.high is None:
        return value
    mark = "*" if estimate.method.endswith("underpowered") else ""
    return f"{value} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]{mark}"


def percent(value: float | None) -> str:
    """A percentage with two decimals."""
    return "–" if value is None else f"{value:.2f}"


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> Table:
    """A table whose first ``left`` columns are names, which may be hostile."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(value, 80)) for value in row))
    return table


def split_cells(split: Mapping[str, float]) -> str:
    """Clean win / lost / both done / hijacked, in percent of pairs."""
    names = ("clean_win", "lost", "both_done", "hijacked")
    return " / ".join(f"{100 * split[name]:.1f}" for name in names) if split else "–"


def print_warnings(on: Console, warnings: Iterable[str]) -> None:
    """One line each."""
    for warning in warnings:
        on.print(Text(f"warning: {one_line(warning, 400)}", style="yellow"), soft_wrap=True)
