import fcntl
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox import state
from agent_litmus.sandbox.state import RunState, overlay_place


def names(place: Path) -> list[str]:
    return sorted(p.name for p in place.iterdir())


def test_a_run_has_a_private_directory_that_is_removed(tmp_path: Path) -> None:
    run = RunState(tmp_path)
    assert run.directory.stat().st_mode & 0o777 == 0o700
    (run.directory / "d").mkdir()
    run.remove()
    run.remove()
    assert names(tmp_path) == []


def test_a_directory_in_use_is_left_alone(tmp_path: Path) -> None:
    first, second = RunState(tmp_path), RunState(tmp_path)
    assert first.directory.is_dir()
    second.remove()
    first.remove()


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "agent-litmus-left"
    left.mkdir()
    (left / "lock").touch()
    (left / "workspace").mkdir()
    run = RunState(tmp_path)
    assert not left.exists()
    run.remove()


def test_a_directory_that_is_being_made_or_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "agent-litmus-new").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "lock").touch()
    (tmp_path / "agent-litmus-link").symlink_to("elsewhere")
    (tmp_path / "agent-litmus-file").touch()
    before = names(tmp_path)
    RunState(tmp_path).remove()
    assert names(tmp_path) == before


def test_the_lock_is_held_under_its_final_name(tmp_path: Path) -> None:
    run = RunState(tmp_path)
    other = os.open(run.directory / "lock", os.O_RDWR)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held = True
    else:
        held = False
    os.close(other)
    assert held
    run.remove()


def test_a_temporary_directory_that_was_asked_for_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert overlay_place() == tmp_path


def test_without_memory_to_spare_the_systems_directory_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(state, "_free_bytes", lambda _: 1 << 20)
    assert overlay_place() == Path(tempfile.gettempdir())


def test_the_lock_goes_last_so_that_the_next_run_can_finish_the_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunState(tmp_path)
    (run.directory / "stuck").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(state, "discard", lambda path: path.name != "stuck")
        run.remove()
    assert names(run.directory) == ["lock", "stuck"]
    RunState(tmp_path).remove()
    assert names(tmp_path) == []


def _script(tmp_path: Path, ending: str) -> list[str]:
    code = f"from agent_litmus.sandbox.state import RunState\nimport os, sys\nrun = RunState({str(tmp_path)!r})\n"
    subprocess.run([sys.executable, "-c", code + ending], check=False, stderr=subprocess.DEVNULL)
    return names(tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("ending", ["raise ValueError", "raise KeyboardInterrupt", "sys.exit(3)", "del run"])
def test_a_process_that_ends_of_itself_leaves_no_directory(tmp_path: Path, ending: str) -> None:
    assert _script(tmp_path, ending) == []


@pytest.mark.integration
def test_a_fork_that_ends_first_does_not_take_the_directory_along(tmp_path: Path) -> None:
    ending = "child = os.fork()\nif not child: sys.exit()\nos.waitpid(child, 0)\nos._exit(0)"
    assert len(_script(tmp_path, ending)) == 1


def test_what_a_run_left_that_never_had_its_lock_is_removed_after_a_day(tmp_path: Path) -> None:
    for name, days, mode, inside in (
        ("agent-litmus-old", 2, 0o700, "lock.new"),
        ("agent-litmus-empty", 2, 0o700, ""),
        ("agent-litmus-new", 0, 0o700, "lock.new"),
        ("agent-litmus-notes", 2, 0o700, "diary"),
        ("agent-litmus-shared", 2, 0o755, "lock.new"),
    ):
        (tmp_path / name).mkdir(mode=mode)
        (tmp_path / name).chmod(mode)
        if inside:
            (tmp_path / name / inside).touch()
        then = time.time() - days * 86_400
        os.utime(tmp_path / name, (then, then))
    RunState(tmp_path).remove()
    assert names(tmp_path) == ["agent-litmus-new", "agent-litmus-notes", "agent-litmus-shared"]


def test_a_place_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LitmusSandboxError, match=r"cannot be written below .*missing") as caught:
        RunState(tmp_path / "missing")
    assert "TMPDIR" in caught.value.hint
