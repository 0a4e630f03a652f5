"""A run that is told to end cleans up, whatever the signal."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


def begun(project: Project, temporary: Path, *arguments: str, ignored: bool = False) -> "subprocess.Popen[str]":
    """A command whose first line on standard error was read, with a temporary directory of its own."""
    temporary.mkdir()
    prefix = ["nohup"] if ignored else []
    process = subprocess.Popen(
        [*prefix, *project.argv(*arguments)],
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("["):
            break
    return process


@pytest.mark.parametrize("numbers", [(signal.SIGTERM,), (signal.SIGHUP,), (signal.SIGHUP, signal.SIGTERM)])
def test_a_signal_to_end_is_like_ctrl_c_and_leaves_nothing_behind(
    project: Project, tmp_path: Path, numbers: tuple[signal.Signals, ...]
) -> None:
    project.behave("slow")
    process = begun(project, tmp_path / "tmp", "run")
    assert [*(tmp_path / "tmp").iterdir()]
    for number in numbers:
        process.send_signal(number)
    _, words = process.communicate()
    assert process.returncode == 130, words
    assert [*(tmp_path / "tmp").iterdir()] == []
    assert len(project.runs()) == 1


def test_a_hang_up_that_is_to_be_ignored_ends_nothing(project: Project, tmp_path: Path) -> None:
    process = begun(project, tmp_path / "tmp", "run", ignored=True)
    process.send_signal(signal.SIGHUP)
    out, words = process.communicate()
    assert process.returncode == 0, out + words
