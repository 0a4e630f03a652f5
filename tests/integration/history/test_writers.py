"""Eight processes at one history: none fails, nothing is lost, nothing is doubled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.history.runs import SUITE, a_run

from agent_litmus.history.connect import reading
from agent_litmus.history.migrate import revision
from agent_litmus.history.place import place_of
from agent_litmus.history.store import History
from agent_litmus.history.tables import DRILLS, HEAD, TALLIES

pytestmark = pytest.mark.integration

WRITERS = 8
RUNS = 4
ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_name("writer.py")


def started(url: str, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, PROGRAM, url, str(number), str(RUNS)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_many_processes_begin_and_fill_a_history_together(url: str) -> None:
    processes = [started(url, number) for number in range(WRITERS)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    added = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * WRITERS
    assert [own for own, _ in added] == [str(RUNS)] * WRITERS
    assert sum(int(shared) for _, shared in added) == 1
    history = History(place_of(url), ("main",))
    runs = history.list()
    assert len(runs) == len({run.run_id for run in runs}) == WRITERS * RUNS + 1
    assert all(run.tallies == a_run().tallies and run.cells == a_run().cells for run in runs)
    assert not any(run.restored for run in runs)
    assert history.facts(SUITE).runs is not None
    with reading(history.place, history._engine) as connection:
        assert revision(connection) == HEAD
        assert len(connection.execute(TALLIES.select()).all()) == len(runs) * 6
        assert len(connection.execute(DRILLS.select()).all()) == WRITERS
