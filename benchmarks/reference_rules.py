"""The reference rules and our gate on the same real runs of the drill's range, as a Markdown table.

    python benchmarks/reference_rules.py --honest 5 --faults 3 --minutes 13

Every run is judged twice by the reference rules: with an earlier run of the same build before it, and with one of
another build, as in CI after a change. The outcomes are kept in runs/reference-rules/outcomes.jsonl.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_litmus.coupling.reference import desync_signals, gate
from agent_litmus.drill.cells import Cell, next_cell, wanted_cells
from agent_litmus.drill.faults import ALL
from agent_litmus.drill.outcome import HONEST, catchers
from agent_litmus.drill.reference_view import reference_view
from agent_litmus.drill.scene import Scene
from agent_litmus.drill.stand import Stand
from agent_litmus.drill.table import outcomes
from agent_litmus.records.report import Report

PLACE = Path(__file__).parents[1] / "runs" / "reference-rules"
SIZE = 24
SAME, OTHER = "after_same_build", "after_other_build"
SIGNALS = (
    "binding",
    "stale report",
    "fixture pinning",
    "latency collapse",
    "missing effects",
    "seed invariance",
)
Line = Mapping[str, Any]


def both_views(scene: Scene, report: Report) -> dict[str, Any]:
    """Verdict and signals of the reference rules, by what ran before."""
    build = scene.bench.first.build.digest
    views = {SAME: scene.earlier.report, OTHER: scene.earlier_build.report}
    return {name: judged(report, earlier, build) for name, earlier in views.items()}


def judged(report: Report, earlier: Report, build: str) -> dict[str, Any]:
    """Verdict and signals of the reference rules; a failing run has no signals."""
    run = reference_view(report, earlier, build)
    word = gate(run).partition(":")[0]
    signals = {text.partition(":")[0] for text in desync_signals(run)} if run.passed else set()
    return {"verdict": word, "signals": sorted(signals)}


def collect(arguments: argparse.Namespace) -> list[Line]:
    """Make the runs, the cell that is furthest behind first, until all are made or the time is over."""
    cells = wanted_cells({SIZE: 1})
    wanted = {cell: arguments.honest if cell.name == HONEST else arguments.faults for cell in cells}
    made: Counter[Cell] = Counter()
    lines: list[Line] = []
    deadline = time.monotonic() + 60 * arguments.minutes
    PLACE.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="litmus-reference-") as place,
        Stand(Path(place) / "stand", 2) as stand,
        (PLACE / "outcomes.jsonl").open("w", encoding="utf-8") as file,
    ):
        while (cell := next_cell(wanted, made)) is not None and time.monotonic() < deadline:
            made[cell] += 1
            line = stand.run(cell, both_views)
            lines.append(line)
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(f"[{len(lines)}/{sum(wanted.values())}] {cell.name} {cell.kind}", file=sys.stderr, flush=True)
    return lines


def table(lines: Sequence[Line]) -> Iterator[str]:
    """The table and its sums."""
    yield f"| run | agent | runs | INDETERMINATE | {' | '.join(SIGNALS)} | ours |"
    yield "|---" * (len(SIGNALS) + 5) + "|"
    honest = [line for line in lines if line["name"] == HONEST]
    faulty = [line for line in lines if line["name"] != HONEST and line["touched"]]
    for rows in (honest, faulty):
        for name, kind in dict.fromkeys((line["name"], line["kind"]) for line in ordered(rows)):
            yield row(name, kind, [line for line in rows if (line["name"], line["kind"]) == (name, kind)])
    yield ""
    yield f"{len(honest)} honest runs: {sums(honest)}."
    yield f"{len(faulty)} runs with a fault in them: {sums(faulty)}; ours detected {detected(faulty)}."
    told = [sum(bool(telling(line, honest, view)) for line in faulty) for view in (SAME, OTHER)]
    yield f"Faulty runs with a reference signal that no honest run of that agent had: {slashed(told)}."


def ordered(lines: Sequence[Line]) -> list[Line]:
    """In the order of the drill's table."""
    names = [HONEST, *(fault.name for fault in ALL)]
    return sorted(lines, key=lambda line: names.index(line["name"]))


def row(name: str, kind: str, lines: Sequence[Line]) -> str:
    """One row."""
    signals = [
        slashed([sum(signal in line[view]["signals"] for line in lines) for view in (SAME, OTHER)])
        for signal in SIGNALS
    ]
    verdicts = Counter(line["verdict"] for line in lines)
    ours = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    ours += "" if name == HONEST else f"; detected {detected(lines)}"
    return f"| `{name}` | {kind} | {len(lines)} | {slashed(blocked(lines))} | {' | '.join(signals)} | {ours} |"


def slashed(counts: Sequence[int]) -> str:
    """A count after a run of this build / after one of another; once where they are the same."""
    return " / ".join(str(count) for count in dict.fromkeys(counts))


def blocked(lines: Sequence[Line]) -> list[int]:
    """INDETERMINATE by the reference rules, by what ran before."""
    return [sum(line[view]["verdict"] == "INDETERMINATE" for line in lines) for view in (SAME, OTHER)]


def sums(lines: Sequence[Line]) -> str:
    """INDETERMINATE of each gate over some runs."""
    ours = sum(line["verdict"] == "INDETERMINATE" for line in lines)
    return f"INDETERMINATE by the reference rules {slashed(blocked(lines))}, by ours {ours}"


def detected(lines: Sequence[Line]) -> int:
    """Runs that ours did not pass and in which an expected finding fired."""
    faults = {fault.name: fault for fault in ALL}
    runs = [run for cell in outcomes(lines).values() for run in cell]
    return sum(bool(catchers(faults[run.name], run, frozenset())) for run in runs)


def telling(line: Line, honest: Sequence[Line], view: str) -> set[str]:
    """Signals that no honest run of the same agent had."""
    same = [other for other in honest if other["kind"] == line["kind"]]
    return set(line[view]["signals"]).difference(*(other[view]["signals"] for other in same))


def main() -> None:
    """Make the runs and print the table."""
    parser = argparse.ArgumentParser(description="the reference rules on runs of the drill's range")
    parser.add_argument("--honest", type=int, default=5, help="honest runs of every kind of agent")
    parser.add_argument("--faults", type=int, default=3, help="runs of every fault")
    parser.add_argument("--minutes", type=float, default=13, help="start no run after so many minutes")
    parser.add_argument("--render-only", action="store_true", help="print the table of the runs there are")
    arguments = parser.parse_args()
    if arguments.render_only:
        lines = [json.loads(text) for text in (PLACE / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()]
    else:
        lines = collect(arguments)
    print("\n".join(table(lines)))


if __name__ == "__main__":
    main()
