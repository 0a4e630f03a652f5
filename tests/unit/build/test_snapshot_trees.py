"""Snapshots of environments with editable installs, and stores that several processes use at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.lock import DirectoryLock
from agent_litmus.build.manifest import compute_build
from agent_litmus.build.snapshot import SnapshotStore
from agent_litmus.mounts import run_mounts
from agent_litmus.records.config import AgentConfig
from agent_litmus.sandbox.protocol import Mount

from .conftest import config_of, make_venv, site_of, write

pytestmark = pytest.mark.integration


@pytest.fixture
def flat(tmp_path: Path) -> AgentConfig:
    """An agent that is installed editable, from its root, in an environment inside that root."""
    root = tmp_path / "desk"
    write(root, {"agent.py": "", "prompts/system.md": "x", ".env": "KEY=1", "mylib.py": "V = 1\n"})
    python = make_venv(root / ".venv")
    write(site_of(python), {"_mylib.pth": f"{root}\n"})
    return config_of(root, python)


def test_an_editable_tree_is_mounted_from_its_copy_without_the_env_file(flat: AgentConfig, tmp_path: Path) -> None:
    found = inspect_interpreter(flat.python)
    store = SnapshotStore(tmp_path / "store")
    snapshot = store.make(flat, compute_build(flat, found), found)
    (tree,) = snapshot.trees
    assert tree.target == flat.root
    assert {p.name for p in tree.source.iterdir()} == {"agent.py", "prompts", "mylib.py", ".venv"}
    assert Mount(tree.source, str(flat.root)) in run_mounts(found, snapshot).mounts


def test_the_copy_has_an_empty_place_for_the_environment_that_is_mounted_inside(
    flat: AgentConfig, tmp_path: Path
) -> None:
    found = inspect_interpreter(flat.python)
    snapshot = SnapshotStore(tmp_path / "store").make(flat, compute_build(flat, found), found)
    assert list((snapshot.trees[0].source / ".venv").iterdir()) == []
    targets = [mount.target for mount in run_mounts(found, snapshot).mounts]
    assert targets.index(str(flat.root)) < targets.index(str(flat.root / ".venv"))


def test_a_changed_copy_of_an_editable_tree_proves_another_build(flat: AgentConfig, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "store")
    snapshot = store.make(flat, compute_build(flat))
    file = snapshot.trees[0].source / "mylib.py"
    file.chmod(0o644)
    file.write_text("V = 2\n")
    assert store.verify(snapshot) != snapshot.digest


_MAKE_AND_COLLECT = """
import sys
from pathlib import Path
from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.manifest import compute_build
from agent_litmus.build.snapshot import SnapshotStore
from agent_litmus.records.config import AgentConfig

agent = AgentConfig(name="a", root=Path(sys.argv[1]), command=("{python}",))
found = inspect_interpreter(None)
build = compute_build(agent, found)
store = SnapshotStore(Path(sys.argv[2]))
for _ in range(20):
    snapshot = store.make(agent, build, found)
    assert store.verify(snapshot) == build.digest
    snapshot.release()
    store.collect()
"""


def test_processes_that_make_and_collect_at_once_never_meet_a_broken_snapshot(
    agent: AgentConfig, tmp_path: Path
) -> None:
    argv = [sys.executable, "-c", _MAKE_AND_COLLECT, str(agent.root), str(tmp_path / "store")]
    others = [subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [other.communicate(timeout=120)[1] for other in others]
    assert said == ["", "", ""]
    assert [other.returncode for other in others] == [0, 0, 0]


def test_a_snapshot_in_use_by_another_process_is_not_collected(agent: AgentConfig, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "store")
    snapshot = store.make(agent, compute_build(agent))
    place = snapshot.path.parent
    snapshot.release()
    hold = (
        "import sys; from pathlib import Path; from agent_litmus.build.lock import DirectoryLock\n"
        "lock = DirectoryLock.take(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert store.collect() == ()
        other.kill()
    assert store.collect() == (place.name,)


def test_a_lock_can_be_released_twice_and_is_none_for_what_is_gone(tmp_path: Path) -> None:
    lock = DirectoryLock.take(tmp_path)
    assert lock is not None
    lock.release()
    lock.release()
    assert DirectoryLock.take(tmp_path / "absent") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_store_without_write_permission_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Exception, match="no private directory"):
        SnapshotStore(tmp_path / "store")
