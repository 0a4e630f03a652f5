import os
from pathlib import Path

import pytest

from agent_litmus.sandbox.control import Groups, Parent, find_parent, remove_abandoned

TWO = "0::/user.slice/app.slice/terminal.scope\n"
ONE = "5:devices:/\n4:memory:/jobs/7\n0::/\n"


def unified(root: Path, controllers: str) -> Path:
    directory = root / "user.slice" / "app.slice"
    (directory / "terminal.scope").mkdir(parents=True)
    (directory / "cgroup.subtree_control").write_text(controllers)
    (directory / "cgroup.procs").write_text("")
    return directory


def test_a_parent_that_hands_memory_on_is_used(tmp_path: Path) -> None:
    directory = unified(tmp_path, "cpu memory pids\n")
    assert find_parent(TWO, tmp_path) == Parent(2, directory)


@pytest.mark.parametrize("controllers", ["", "cpu pids\n", "memory2\n"])
def test_a_parent_that_does_not_hand_memory_on_is_none(tmp_path: Path, controllers: str) -> None:
    unified(tmp_path, controllers)
    assert find_parent(TWO, tmp_path) is None


def test_version_one_is_used_where_the_memory_group_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "memory" / "jobs" / "7").mkdir(parents=True)
    assert find_parent(ONE, tmp_path) is None
    (tmp_path / "memory" / "jobs" / "7" / "memory.limit_in_bytes").write_text("")
    assert find_parent(ONE, tmp_path) == Parent(1, tmp_path / "memory" / "jobs" / "7")


@pytest.mark.parametrize("membership", ["", "0::/\n", "0::\n", TWO])
def test_where_nothing_is_mounted_there_is_none(tmp_path: Path, membership: str) -> None:
    assert find_parent(membership, tmp_path) is None


def test_without_a_parent_no_group_is_made_and_the_reason_is_told() -> None:
    groups = Groups("x", None, "nothing is handed on")
    with pytest.raises(OSError, match="nothing is handed on"):
        groups.slot(0)
    groups.close()


def test_groups_of_runs_that_are_gone_are_removed_and_no_others(tmp_path: Path) -> None:
    gone, own = "agent-litmus-99999999-ab-0", f"agent-litmus-{os.getpid()}-ab-0"
    for name in (gone, own, "agent-litmus-x", "other-99999999-ab-0"):
        (tmp_path / name).mkdir()
    remove_abandoned(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {own, "agent-litmus-x", "other-99999999-ab-0"}
