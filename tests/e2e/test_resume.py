import json
import os
import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e

TOTAL = 16


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


def killed_after(project: Project, sessions: int, number: int, *arguments: str) -> int:
    """Start a run and send it a signal once that many sessions are reported; returns its exit code."""
    process = subprocess.Popen(
        project.argv("run", *arguments),
        cwd=project.root,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    seen = 0
    for line in process.stderr:
        seen += line.startswith("[")
        if seen >= sessions:
            break
    os.kill(process.pid, number)
    process.stderr.read()
    return process.wait()


def journal_keys(run: Path) -> list[str]:
    lines = (run / "journal.jsonl").read_bytes().decode().splitlines()
    entries = [json.loads(line) for line in lines[1:]]
    keys = [entry["record"]["key"] for entry in entries if entry["type"] == "session"]
    return [json.dumps(key, sort_keys=True) for key in keys]


def test_killed_at_ten_random_points_every_episode_is_there_once(project: Project) -> None:
    rng = random.Random()
    points = [rng.randint(1, TOTAL - 1) for _ in range(10)]
    killed_after(project, points[0], signal.SIGKILL)
    (run,) = project.runs()
    for point in points[1:]:
        left = TOTAL - len(journal_keys(run))
        if left > 1:
            killed_after(project, 1 + point % min(left - 1, 2), signal.SIGKILL, "--resume", str(run))
    done = project.litmus("run", "--json", "--resume", str(run))
    keys = journal_keys(run)
    assert len(keys) == len(set(keys)) == TOTAL, points
    assert done.report["verdict"] == "PASS", done.report["reasons"]
    assert len(done.report["episodes"]) == TOTAL
    assert project.runs() == [run]


def test_ctrl_c_exits_130_and_leaves_a_resumable_journal(project: Project) -> None:
    project.behave("slow")
    assert killed_after(project, 2, signal.SIGINT) == 130
    (run,) = project.runs()
    assert 2 <= len(journal_keys(run)) < TOTAL
    assert not (run / "report.json").exists()
    done = project.litmus("run", "--json", "--resume", str(run))
    assert (done.code, len(done.report["episodes"])) == (0, TOTAL)


def test_a_finished_run_can_be_resumed_and_says_the_same(project: Project) -> None:
    first = project.litmus("run", "--json")
    (run,) = project.runs()
    again = project.litmus("run", "--json", "--resume", str(run))
    assert again.report == first.report


@pytest.mark.parametrize(
    ("file", "old", "new", "word"),
    [
        ("helper.py", "unknown", "not known", "agent build"),
        ("suite.yaml", "2 pears", "3 pears", "suite"),
        ("litmus.toml", "seeds = 2", "seeds = 3", "configuration"),
        ("litmus.toml", "ir = 0.95", "ir = 0.5", "configuration"),
    ],
)
def test_a_run_is_never_resumed_under_other_terms(
    project: Project, file: str, old: str, new: str, word: str
) -> None:
    project.behave("slow")
    killed_after(project, 1, signal.SIGKILL)
    (run,) = project.runs()
    before = journal_keys(run)
    project.edit(file, old, new)
    done = project.litmus("run", "--resume", str(run))
    assert done.code == 2
    assert word in done.stderr
    assert journal_keys(run) == before


def test_jobs_may_change_on_resume(project: Project) -> None:
    project.behave("slow")
    killed_after(project, 1, signal.SIGKILL)
    (run,) = project.runs()
    assert project.litmus("run", "--jobs", "1", "--resume", str(run)).code == 0


def test_a_damaged_journal_is_not_scored(project: Project) -> None:
    project.litmus("run")
    (run,) = project.runs()
    path = run / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[1]]))
    twice = project.litmus("run", "--resume", str(run))
    assert twice.code == 2
    assert "twice" in twice.stderr
    path.write_bytes(b"".join([lines[0], b"garbage\n", *lines[2:]]))
    damaged = project.litmus("run", "--resume", str(run))
    assert damaged.code == 2
    assert "journal.jsonl:2" in damaged.stderr
