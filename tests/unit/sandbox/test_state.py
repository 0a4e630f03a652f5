import fcntl
import os
from pathlib import Path

from agent_litmus.sandbox.state import RunState


def names(place: Path) -> list[str]:
    return sorted(p.name for p in place.iterdir())


def test_a_run_has_a_private_directory_that_is_removed(tmp_path: Path) -> None:
    state = RunState(tmp_path)
    assert state.directory.stat().st_mode & 0o777 == 0o700
    (state.directory / "d").mkdir()
    state.remove()
    state.remove()
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
    state = RunState(tmp_path)
    assert not left.exists()
    state.remove()


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
    state = RunState(tmp_path)
    other = os.open(state.directory / "lock", os.O_RDWR)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held = True
    else:
        held = False
    os.close(other)
    assert held
    state.remove()
