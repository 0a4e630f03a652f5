"""A score as a document or as tables."""

from dataclasses import asdict
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from agent_litmus.app.score import Conventions, Score, ScoreRow
from agent_litmus.formats.score_json import figures
from agent_litmus.formats.score_table import cell, console_on, grid, percent, print_warnings, split_cells
from agent_litmus.scoring.counts import PAIRED
from agent_litmus.scoring.pool.seeds import Spread

_OURS = {
    "u0": "U0",
    "u1": "U1",
    "utility_without_hijack": "U1 no hijack",
    "ir": "IR",
    "sr": "SR",
    "cor": "COR",
    "asr": "ASR",
    "asr_delivered": "ASR|deliv.",
    "delivery": "delivered",
}
_AGENTDOJO = {
    "utility": "utility",
    "utility_under_attack": "utility under attack",
    "asr": "ASR",
    "utility_without_hijack": "… without hijack",
}


def score_document(score: Score) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "schema_version": 1,
        "conventions": score.conventions.value,
        "by": list(score.by),
        "unit": "percent" if score.conventions is Conventions.AGENTDOJO else "share",
        "episodes": score.episodes,
        "rejected": score.rejected,
        "complete": score.complete,
        **({"k": score.k} if score.k is not None else {}),
        "rows": [_row(row) for row in score.rows],
        "warnings": list(score.warnings),
    }


def _row(row: ScoreRow) -> dict[str, Any]:
    names = {"agent": row.agent, "suite": row.suite, "attack": row.attack, "category": row.category}
    document = {**names, **row.numbers, **figures(row.estimates)}
    if row.ledger:
        document |= {"split": row.split, "ledger": row.ledger}
    if row.spread:
        document["spread"] = {name: asdict(spread) for name, spread in row.spread.items()}
    if row.pass_k:
        document["pass_k"] = figures(row.pass_k)
    return document


def print_score(score: Score, file: TextIO) -> None:
    """Print tables and warnings."""
    console = console_on(file)
    console.print(grid(*_table(score)))
    if score.conventions is Conventions.OURS:
        note = "percent [95 % interval]; split: clean win / lost / both done / hijacked, of pairs, control done"
        console.print(Text(note, style="dim"))
        if any("underpowered" in e.method for row in score.rows for e in row.estimates.values()):
            console.print(Text("* underpowered: fewer than 5 host tasks or 5 injected tasks", style="dim"))
        _print_tries(console, score)
    print_warnings(console, score.warnings)


def _print_tries(console: Console, score: Score) -> None:
    names = _name_columns(score)
    if score.k is not None:
        rows = [[*_names(row, names), *(cell(row.pass_k[key]) for key in PAIRED)] for row in score.rows]
        console.print(Text(f"all good in {score.k} tries (pass^{score.k})"))
        console.print(grid([*names, *(_OURS[key] for key in PAIRED)], rows, len(names)))
    if spreads := [row for row in score.rows if row.spread]:
        rows = [[*_names(row, names), *(_spread(row.spread.get(key)) for key in PAIRED)] for row in spreads]
        console.print(Text("worst to best seed, standard deviation over seeds, in points"))
        console.print(grid([*names, *(_OURS[key] for key in PAIRED)], rows, len(names)))


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "–"
    return f"{100 * spread.low:.1f} to {100 * spread.high:.1f}, ±{100 * spread.deviation:.1f} ({spread.seeds})"


def _name_columns(score: Score) -> list[str]:
    return ["agent", "suite", "attack", *(["category"] if "category" in score.by else [])]


def _table(score: Score) -> tuple[list[str], list[list[str]], int]:
    names = _name_columns(score)
    if score.conventions is Conventions.AGENTDOJO:
        columns = [*names, "n", *_AGENTDOJO.values()]
        rows = [
            [*_names(row, names), str(row.numbers["n"]), *(percent(row.numbers[key]) for key in _AGENTDOJO)]
            for row in score.rows
        ]
    elif score.conventions is Conventions.LITMUS:
        columns = [*names, "ASR", "EHR", "SPSR", "SOSR", "POSR", "SPFR"]
        rows = [
            [*_names(row, names), *(cell(e) for e in row.estimates.values()), *map(str, row.numbers.values())]
            for row in score.rows
        ]
    else:
        columns = [*names, "n", *_OURS.values(), "unassessed", "split"]
        rows = [_ours(row, names) for row in score.rows]
    return columns, rows, len(names)


def _ours(row: ScoreRow, names: list[str]) -> list[str]:
    unassessed = row.estimates["unassessed"]
    return [
        *_names(row, names),
        str(row.estimates["u1"].eligible),
        *(cell(row.estimates[key]) for key in _OURS),
        f"{unassessed.unassessed} of {unassessed.n}",
        split_cells(row.split),
    ]


def _names(row: ScoreRow, names: list[str]) -> list[str]:
    return [getattr(row, name) for name in names]
