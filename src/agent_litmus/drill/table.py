"""The big table: outcomes of many runs as a page of the documentation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agent_litmus.drill.cells import Cell
from agent_litmus.drill.faults import ALL, PARTIAL, UNRECORDED, Fault
from agent_litmus.drill.outcome import HONEST, FaultRow, Shown, catchers, fault_row, honest_row
from agent_litmus.drill.range import KINDS
from agent_litmus.drill.show import share_with_interval
from agent_litmus.records.verdict import VerdictKind

_TARGET = 0.99
_STEPS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 8), (9, 12), (13, 20), (21, 40), (41, 10_000))
_HEAD = """\
# Drill table

Made by `make drill-table`: the real pipeline, with one fault at a time put in at its own seams, on the drill's own
range (`src/agent_litmus/drill/range/`), whose agents are honest and scripted. Every run has tokens of its own.
*Detected*: the verdict was not PASS and an expected finding fired; runs in which a fault came upon no session are
not counted. Intervals are exact (Clopper-Pearson, 95 %). What each fault does, what it needs to be seen, and what
this table does not show: [the power of the gate](../explanation/power.md).

"""


def outcomes(lines: Iterable[Mapping[str, Any]]) -> dict[Cell, list[Shown]]:
    """Runs by cell."""
    found: dict[Cell, list[Shown]] = {}
    for line in lines:
        cell = Cell(str(line["name"]), str(line["kind"]), int(line["size"]))
        run = Shown(
            cell.name,
            VerdictKind(line["verdict"]),
            tuple(line["fired"]),
            int(line["touched"]),
            str(line["reason"]),
            float(line["seconds"]),
        )
        found.setdefault(cell, []).append(run)
    return found


def page(found: Mapping[Cell, Sequence[Shown]]) -> str:
    """The page."""
    sizes = sorted({cell.size for cell in found})
    parts = [_HEAD, *_summary(found)]
    for size in sizes:
        parts += [f"\n## Faults, n = {size}\n\n", *_faults(found, size)]
        parts += [f"\n## Honest runs, n = {size}\n\n", *_honest(found, size)]
        parts += _power(found, size)
    return "".join(parts)


def _summary(found: Mapping[Cell, Sequence[Shown]]) -> Iterator[str]:
    low = [
        f"`{r.name}` (n = {c.size}, {c.kind})" for c, r in _rows(found) if r.runs and r.detected < _TARGET * r.runs
    ]
    runs = sum(map(len, found.values()))
    yield f"{runs} runs. "
    if low:
        yield f"Below 99 %: {', '.join(low)}; the page on power says why.\n"
    else:
        yield "No fault is below 99 %.\n"


def _rows(found: Mapping[Cell, Sequence[Shown]], size: int | None = None) -> Iterator[tuple[Cell, FaultRow]]:
    for fault in ALL:
        for cell in sorted(c for c in found if c.name == fault.name and size in {None, c.size}):
            yield cell, fault_row(fault, found[cell], frozenset())


def _faults(found: Mapping[Cell, Sequence[Shown]], size: int) -> Iterator[str]:
    yield "| fault | agent | touches | runs | detected | 95 % exact | verdicts | caught by |\n"
    yield "|---|---|---|---|---|---|---|---|\n"
    shares = {fault.name: fault.share for fault in ALL}
    for cell, row in _rows(found, size):
        share = "all" if shares[row.name] == 1 else f"{100 * shares[row.name]:.0f} %, k ≥ 1"
        caught = ", ".join(f"{n} {c}" for n, c in sorted(row.caught_by.items(), key=lambda item: -item[1]))
        verdicts = ", ".join(f"{count} {name}" for name, count in row.verdicts.items())
        interval = share_with_interval(row.detected, row.runs)
        yield (
            f"| `{row.name}` | {cell.kind} | {share} | {row.runs} | {row.detected} | {interval} | {verdicts} "
            f"| {caught or 'nothing'} |\n"
        )


def _honest(found: Mapping[Cell, Sequence[Shown]], size: int) -> Iterator[str]:
    yield "| agent | runs | INDETERMINATE | 95 % exact | verdicts | reasons |\n|---|---|---|---|---|---|\n"
    every: list[Shown] = []
    for kind in KINDS:
        runs = found.get(Cell(HONEST, kind, size), ())
        every += runs
        if runs:
            yield _honest_line(kind, runs)
    yield _honest_line("**all**", every)


def _honest_line(kind: str, runs: Sequence[Shown]) -> str:
    row = honest_row(runs)
    verdicts = ", ".join(f"{count} {name}" for name, count in row.verdicts.items())
    reasons = "; ".join(f"{count} × {_cell(reason)}" for reason, count in row.reasons.items())
    interval = share_with_interval(row.indeterminate, row.runs)
    return f"| {kind} | {row.runs} | {row.indeterminate} | {interval} | {verdicts} | {reasons or '–'} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")[:160]


def _power(found: Mapping[Cell, Sequence[Shown]], size: int) -> Iterator[str]:
    """Partial coupling: detection by the number of sessions that were touched."""
    curves = [(known, kind) for known in (True, False) for kind in KINDS]
    drawn = {(known, kind): _partial_runs(found, kind, size, known=known) for known, kind in curves}
    if not any(drawn.values()):
        return
    yield f"\n## Partial coupling, n = {size}: detection by the number k of sessions served from a cache\n\n"
    yield "| agent | k | runs | detected | 95 % exact |\n|---|---|---|---|---|\n"
    for (known, kind), runs in drawn.items():
        for low, high in _STEPS:
            yield from _step(kind if known else f"{kind}, no history", low, high, runs)


def _partial_runs(
    found: Mapping[Cell, Sequence[Shown]], kind: str, size: int, *, known: bool
) -> list[tuple[Fault, Shown]]:
    faults = [fault for fault in PARTIAL if fault.name.endswith(UNRECORDED) != known]
    return [(f, run) for f in faults for run in found.get(Cell(f.name, kind, size), ()) if run.touched]


def _step(kind: str, low: int, high: int, runs: Iterable[tuple[Fault, Shown]]) -> Iterator[str]:
    inside = [bool(catchers(fault, run, frozenset())) for fault, run in runs if low <= run.touched <= high]
    if inside:
        counts = Counter(inside)
        label = str(low) if low == high else f"{low}–{high}" if high < _STEPS[-1][1] else f"{low} and more"
        yield (
            f"| {kind} | {label} | {len(inside)} | {counts[True]} | "
            f"{share_with_interval(counts[True], len(inside))} |\n"
        )
