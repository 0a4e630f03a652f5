"""Ctrl-C in the middle of sessions: exit 130, a journal to go on with, nothing else left, under either provider."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("provider", ["bubblewrap", "process"])
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_leaves_a_journal_and_nothing_else(
    project: Project, tmp_path: Path, bubblewrap: Callable[[], None], provider: str, times: int
) -> None:
    if provider == "bubblewrap":
        bubblewrap()
    for sessions in range(4):
        place = tmp_path / f"state-{sessions}"
        place.mkdir()
        place.chmod(0o711)
        code, said = _interrupted(project, place, provider, sessions, times)
        assert (code, "internal error" in said) == (130, False), said
        assert [path.name for path in place.iterdir()] == []
        assert [pid for pid in Path("/proc").iterdir() if _names(pid, place)] == []
    for run in project.runs():
        journal = run / "journal.jsonl"
        assert journal.read_bytes().endswith(b"\n")


def _interrupted(project: Project, place: Path, provider: str, sessions: int, times: int) -> tuple[int, str]:
    """Run until so many sessions are told to have ended, then press Ctrl-C."""
    argv = project.argv("run", "--jobs", "3", "--provider", provider)
    process = subprocess.Popen(
        argv,
        cwd=project.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(place)},
    )
    assert process.stderr is not None
    for _ in range(1 + sessions):
        process.stderr.readline()
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    return process.returncode, said


def _names(process: Path, place: Path) -> bool:
    """Whether a process lives in ``place`` or was started with a path in it."""
    try:
        known = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode(place) in known
