"""A judge's figures and its calibration, as documents or tables; never one without the other."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, TextIO

from rich.text import Text

from agent_litmus.app.judged import JudgedScore
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.score_json import figure
from agent_litmus.formats.score_table import cell, console_on, grid, print_warnings
from agent_litmus.records.judge import JudgeCalibration, Kappa, SplitCalibration
from agent_litmus.records.scorecard import Estimate


def judged_document(found: JudgedScore) -> dict[str, Any]:
    """What ``--json`` prints under ``judge``."""
    return {
        "model": found.calibration.model,
        "kappa": asdict(found.kappa),
        "messages": found.messages,
        "episodes": found.episodes,
        "unassessed": sum(found.faults.values()),
        "reasons": found.faults,
        "warnings": list(found.warnings),
        "rows": [
            {
                **{name: getattr(judged.row, name) for name in ("agent", "suite", "attack", "category")},
                "declined": _figure(judged.declined, found.kappa),
                "ehr": _figure(judged.ehr, found.kappa),
            }
            for judged in found.rows
        ],
    }


def _figure(estimate: Estimate, kappa: Kappa) -> dict[str, Any]:
    return {**figure(estimate), "kappa": asdict(kappa)}


def print_judged(found: JudgedScore, file: TextIO) -> None:
    """Print the figures that rest on the judge, with its kappa in every row."""
    console = console_on(file)
    kappa = kappa_text(found.kappa)
    console.print(
        Text(f"words judged by {one_line(found.calibration.model)}; what was done is observed, not judged")
    )
    rows = [
        (
            judged.row.agent, judged.row.suite, judged.row.attack, judged.row.category,
            cell(judged.declined), cell(judged.ehr), f"{judged.ehr.unassessed} of {judged.ehr.eligible}", kappa,
        )
        for judged in found.rows
    ]  # fmt: skip
    columns = ("agent", "suite", "attack", "category", "declined, of resisted", "EHR", "open", "kappa of the judge")
    console.print(grid(columns, rows, 4))
    for reason, count in found.faults.items():
        console.print(Text(f"unassessed: {count} episodes: {one_line(reason)}", style="yellow"))
    print_warnings(console, found.warnings)


def print_calibration(found: JudgeCalibration, file: TextIO) -> None:
    """Print what a judge is worth."""
    console = console_on(file)
    console.print(Text(f"judge {one_line(found.model)} on the labelled set"))
    rows = [(s.split, *_cells(s)) for s in found.splits]
    columns = ("split", "messages", "kappa: declines", "kappa: refuses", "unassessed")
    console.print(grid(columns, rows, 1))
    console.print(grid(("class", "split", "messages", "agreement", "unassessed"), _classes(found.splits), 2))
    for split in found.splits:
        for reason, count in split.faults.items():
            console.print(Text(f"unassessed: {split.split}: {count}: {one_line(reason)}", style="yellow"))


def kappa_text(kappa: Kappa) -> str:
    """A kappa and its interval."""
    if kappa.value is None or kappa.low is None or kappa.high is None:
        return "–"
    return f"{kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}]"


def _cells(split: SplitCalibration) -> tuple[str, ...]:
    open_ones = f"{split.declines.unassessed} of {split.messages}"
    return str(split.messages), kappa_text(split.declines), kappa_text(split.refuses), open_ones


def _classes(splits: Iterable[SplitCalibration]) -> list[tuple[str, ...]]:
    rows = [
        (own.name, split.split, str(own.n), f"{100 * own.agreed / own.n:.1f}", str(own.unassessed))
        for split in splits
        for own in split.classes
    ]
    return sorted(rows)
