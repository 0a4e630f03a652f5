"""The history in words and as JSON. All of it came from suites, agents and refs, and is hostile."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from pydantic import TypeAdapter
from rich.text import Text

from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.score_table import console_on, grid
from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Tally

_RUN = TypeAdapter(PriorRun)
_COLUMNS = ("run", "when (UTC)", "ref", "suite", "agent", "build", "verdict", "reason", "ir", "u1", "episodes")
_NARROW = ("run", "ref", "build", "verdict", "ir", "u1")
"""What is left where a terminal is too narrow for all; the id begins with the time."""
_ANY = 2000
"""Columns that every table fits into."""
_SHORT = 19
"""Characters of a digest that are shown: ``sha256:`` and twelve digits."""


def run_document(run: PriorRun) -> dict[str, Any]:
    """A run as JSON."""
    document: dict[str, Any] = _RUN.dump_python(run, mode="json")
    return document | {"attributed": run.attributed}


def runs_document(runs: Iterable[PriorRun]) -> dict[str, Any]:
    """Several runs as JSON, without their responses and tokens."""
    left_out = {"responses", "tokens"}
    return {"runs": [{k: v for k, v in run_document(run).items() if k not in left_out} for run in runs]}


def print_runs(runs: Sequence[PriorRun], file: TextIO) -> None:
    """A table of runs, in the order given; on a narrow terminal with the most important columns alone."""
    console = console_on(file)
    rows = [_row(run) for run in runs]
    table = grid(_COLUMNS, rows, 8)
    if console.measure(table, options=console.options.update_width(_ANY)).maximum > console.width:
        places = [_COLUMNS.index(name) for name in _NARROW]
        table = grid(_NARROW, ([row[place].removeprefix("sha256:") for place in places] for row in rows), 4)
        table.columns[0].no_wrap = True
    console.print(table)


def print_run(run: PriorRun, file: TextIO) -> None:
    """One run, everything that is known of it."""
    console = console_on(file)
    for name, value in _facts(run):
        console.print(Text(f"{name:<12} {one_line(value, 400)}"), soft_wrap=True)
    rows = [_tally_row("", metric, tally) for metric, tally in run.tallies.items()]
    for category, tallies in run.by_category.items():
        rows += [_tally_row(category, metric, tally) for metric, tally in tallies.items()]
    if rows:
        console.print(grid(("category", "metric", "good", "bad", "unknown", "good of assessed"), rows, 2))


def _row(run: PriorRun) -> tuple[str, ...]:
    return (
        run.run_id,
        when(run.at),
        run.ref + (" *" if run.protected else ""),
        run.suite_id,
        run.agent,
        run.agent_digest[:_SHORT],
        run.verdict.value + _marks(run),
        run.reason,
        _share(run.tallies.get("ir")),
        _share(run.tallies.get("u1")),
        str(run.episodes),
    )


def _marks(run: PriorRun) -> str:
    marks = [name for name, holds in (("partial", run.partial), ("restored", run.restored)) if holds]
    return f" ({', '.join(marks)})" if marks else ""


def _facts(run: PriorRun) -> Iterator[tuple[str, str]]:
    yield "run", run.run_id
    yield "when", f"{when(run.at)} UTC"
    yield "ref", (run.ref or "not named") + (" (protected)" if run.protected else "")
    yield "suite", f"{run.suite_id} {run.suite_digest}"
    yield "agent", f"{run.agent} {run.agent_digest}"
    yield "verdict", run.verdict.value + _marks(run)
    yield "reasons", ", ".join(run.reasons or (run.reason,))
    yield "episodes", f"{run.episodes}, {run.unassessed} unassessed"
    yield "cells", ", ".join(f"{cell} {count}" for cell, count in run.cells.items() if count) or "not recorded"
    yield "report", run.report_digest
    yield "results", f"{run.results_digest}, without tokens {run.normalised_results_digest}"
    yield "responses", f"{len(run.responses)} in the sketch"
    median = run.calibration_median
    yield "calibration", "none" if median is None else f"median {median:.4g} s"
    yield "made by", f"litmus {run.tool_version}"


def _tally_row(category: str, metric: str, tally: Tally) -> tuple[str, ...]:
    return category, metric, str(tally.good), str(tally.bad), str(tally.unknown), _share(tally)


def _share(tally: Tally | None) -> str:
    share = tally.assessed if tally else None
    return "–" if share is None else f"{share:.3f}"


def when(at: float) -> str:
    """A time as people write it, UTC."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return f"{at:g}"
