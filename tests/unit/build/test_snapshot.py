from dataclasses import replace
from pathlib import Path

import pytest

from agent_litmus.build.manifest import compute_build
from agent_litmus.build.snapshot import Snapshot, SnapshotStore
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.config import AgentConfig


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "store")


@pytest.fixture
def snapshot(store: SnapshotStore, agent: AgentConfig) -> Snapshot:
    return store.make(agent, compute_build(agent))


def _writable(path: Path) -> Path:
    path.parent.chmod(0o755)
    if path.is_file():
        path.chmod(0o644)
    return path


def test_an_untouched_snapshot_proves_its_build(store: SnapshotStore, snapshot: Snapshot) -> None:
    assert store.verify(snapshot) == snapshot.digest


def test_a_snapshot_holds_the_agents_files_and_no_env_file(snapshot: Snapshot) -> None:
    names = {p.relative_to(snapshot.path).as_posix() for p in snapshot.path.rglob("*") if not p.is_dir()}
    assert names == {"agent.py", "helper.py", "prompts/system.md", "tools/send.json"}


def test_an_edited_snapshot_proves_another_build(store: SnapshotStore, snapshot: Snapshot) -> None:
    _writable(snapshot.path / "helper.py").write_text("LIMIT = 4\n")
    assert store.verify(snapshot) != snapshot.digest


def test_an_added_file_proves_another_build(store: SnapshotStore, snapshot: Snapshot) -> None:
    _writable(snapshot.path / "extra.py").write_text("")
    assert store.verify(snapshot) != snapshot.digest


def test_a_removed_file_proves_another_build(store: SnapshotStore, snapshot: Snapshot) -> None:
    _writable(snapshot.path / "helper.py").unlink()
    assert store.verify(snapshot) != snapshot.digest


def test_a_changed_executable_bit_proves_another_build(store: SnapshotStore, snapshot: Snapshot) -> None:
    (snapshot.path / "helper.py").chmod(0o555)
    assert store.verify(snapshot) != snapshot.digest


def test_the_snapshot_of_another_build_proves_that_build(store: SnapshotStore, agent: AgentConfig) -> None:
    first = compute_build(agent)
    old = store.make(agent, first)
    (agent.root / "helper.py").write_text("LIMIT = 9\n")
    second = compute_build(agent)
    mixed = replace(old, digest=second.digest, components=second.components)
    assert store.verify(mixed) == first.digest


def test_the_snapshot_is_a_copy(snapshot: Snapshot, agent: AgentConfig) -> None:
    (agent.root / "helper.py").write_text("LIMIT = 9\n")
    assert (snapshot.path / "helper.py").read_text() == "LIMIT = 3\n"
    assert (snapshot.path / "helper.py").stat().st_nlink == 1


def test_store_is_private_and_files_are_read_only(store: SnapshotStore, snapshot: Snapshot) -> None:
    assert store.root.stat().st_mode & 0o777 == 0o700
    modes = {p.stat().st_mode & 0o222 for p in (snapshot.path, *snapshot.path.rglob("*"))}
    assert modes == {0}


def test_a_second_make_reuses_the_first(store: SnapshotStore, snapshot: Snapshot, agent: AgentConfig) -> None:
    inode = snapshot.path.stat().st_ino
    assert store.make(agent, compute_build(agent)).path.stat().st_ino == inode


def test_a_damaged_snapshot_is_replaced(store: SnapshotStore, snapshot: Snapshot, agent: AgentConfig) -> None:
    _writable(snapshot.path / "helper.py").write_text("broken")
    again = store.make(agent, compute_build(agent))
    assert store.verify(again) == again.digest
    assert (again.path / "helper.py").read_text() == "LIMIT = 3\n"


def test_files_changed_after_the_digest_are_refused(store: SnapshotStore, agent: AgentConfig) -> None:
    build = compute_build(agent)
    (agent.root / "helper.py").write_text("LIMIT = 9\n")
    with pytest.raises(LitmusConfigError, match=r"files/helper\.py"):
        store.make(agent, build)
    assert list(store.root.iterdir()) == []


def test_collection_spares_what_is_in_use_and_what_is_kept(store: SnapshotStore, agent: AgentConfig) -> None:
    first = store.make(agent, compute_build(agent))
    (agent.root / "helper.py").write_text("LIMIT = 9\n")
    second = store.make(agent, compute_build(agent))
    assert store.collect() == ()
    first.release()
    second.release()
    assert store.collect(keep=[second.digest]) == (first.digest.removeprefix("sha256:"),)
    assert not first.path.exists()
    assert second.path.exists()


def test_collection_removes_what_a_killed_process_left(store: SnapshotStore) -> None:
    left = store.root / "tmp-0123"
    (left / "agent").mkdir(parents=True)
    (left / "agent").chmod(0o555)
    assert store.collect() == ("tmp-0123",)
    assert not left.exists()


def test_a_store_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LitmusConfigError, match="no private directory"):
        SnapshotStore(tmp_path / "file" / "store")
