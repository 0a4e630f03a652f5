"""Make the drill table: many runs of every fault on the range, resumable, balanced wherever it is stopped.

    python benchmarks/drill_table.py --runs-24 300 --runs-100 100 --minutes 40

Every run's outcome is appended to runs/drill-table/outcomes.jsonl; starting again goes on where it was stopped. At
the end, also after Ctrl-C, docs/reference/drill-table.md is written from everything there is.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from agent_litmus.drill.cells import Cell, next_cell, source_digest, wanted_cells
from agent_litmus.drill.stand import Stand
from agent_litmus.drill.table import outcomes, page

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "drill-table.md"
PLACE = ROOT / "runs" / "drill-table"
_STAND: list[Stand] = []


def start(place: Path, session_jobs: int) -> None:
    """In a worker process: build its stand; it lives as long as the process."""
    stand = Stand(place / f"stand-{os.getpid()}", session_jobs)
    _STAND.append(stand.__enter__())


def work(cell: Cell) -> dict[str, Any]:
    """In a worker process: one run."""
    return _STAND[0].run(cell)


def stored(path: Path, source: str, *, any_source: bool) -> list[dict[str, Any]]:
    """The outcomes so far of this source; a line that was cut off is left out."""
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if any_source or line["source"] == source:
            lines.append(line)
    return lines


def collect(arguments: argparse.Namespace, lines: list[dict[str, Any]], path: Path) -> None:
    """Run until every cell is full or the time is over."""
    wanted = wanted_cells({24: arguments.runs_24, 100: arguments.runs_100}, arguments.faults)
    made = Counter(Cell(line["name"], line["kind"], line["size"]) for line in lines)
    deadline = time.monotonic() + 60 * arguments.minutes
    context = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(
        arguments.jobs, context, initializer=start, initargs=(path.parent, arguments.session_jobs)
    )
    source = source_digest()
    running: dict[concurrent.futures.Future[dict[str, Any]], Cell] = {}
    with pool, path.open("a", encoding="utf-8") as file:
        while True:
            while len(running) < arguments.jobs and time.monotonic() < deadline:
                cell = next_cell(wanted, made)
                if cell is None:
                    break
                made[cell] += 1
                running[pool.submit(work, cell)] = cell
            if not running:
                return
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                cell = running.pop(future)
                if future.exception() is not None:
                    print(f"{cell}: {future.exception()!r}; this run is not counted", file=sys.stderr, flush=True)
                    continue
                line = {**future.result(), "source": source}
                file.write(json.dumps(line) + "\n")
                file.flush()
                lines.append(line)
                total, target = sum(made.values()), sum(wanted.values())
                shown = f"{line['name']} {line['kind']} {line['size']} {line['verdict']} {line['seconds']:.1f} s"
                print(f"[{total}/{target}] {shown}", file=sys.stderr, flush=True)


def main() -> None:
    """Collect, then write the page."""
    parser = argparse.ArgumentParser(description="make docs/reference/drill-table.md")
    parser.add_argument("--runs-24", type=int, default=300, help="runs of every fault at n = 24; 0 for none")
    parser.add_argument("--runs-100", type=int, default=100, help="runs of every fault at n = 100; 0 for none")
    parser.add_argument("--faults", nargs="*", default=(), help="only these (honest is a name too)")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--session-jobs", type=int, default=2, help="sessions at once in each")
    parser.add_argument("--minutes", type=float, default=600, help="start no run after so many minutes")
    parser.add_argument("--any-source", action="store_true", help="keep outcomes of other versions of the program")
    parser.add_argument("--render-only", action="store_true", help="only write the page")
    parser.add_argument("--page", type=Path, default=PAGE)
    arguments = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    path = PLACE / "outcomes.jsonl"
    lines = stored(path, source_digest(), any_source=arguments.any_source)
    try:
        if not arguments.render_only:
            collect(arguments, lines, path)
    except KeyboardInterrupt:
        print("stopped; the page is made from what there is", file=sys.stderr)
    arguments.page.write_text(page(outcomes(lines)), encoding="utf-8")
    print(f"{len(lines)} runs: {arguments.page}")


if __name__ == "__main__":
    main()
