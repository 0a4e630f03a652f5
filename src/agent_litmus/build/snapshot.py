"""Copies of builds that sessions run from: made once, verified whenever asked, collected when nobody uses them.

Each build is a directory named by its digest, made under a temporary name and renamed when it is whole. Who uses
one holds a shared lock on that directory; collection takes only what it can lock alone.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_litmus.build.editable import EditableTree, editable_trees
from agent_litmus.build.files import Entry, Selection, entry_digest
from agent_litmus.build.interpreter import Interpreter, inspect_interpreter
from agent_litmus.build.lock import DirectoryLock
from agent_litmus.build.manifest import agent_files, build_digest, editable_files, editable_prefix
from agent_litmus.errors import LitmusConfigError, LitmusError
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import AgentConfig

_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class SnapshotTree:
    """A copied directory of an editable install, and the absolute path it is imported from."""

    source: Path
    target: Path
    prefix: str
    """Prefix of its components in the build."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a build on disk, in use until :meth:`release` or the end of the process."""

    path: Path
    """The agent's files."""
    digest: str
    """Digest of the build it was made for; :meth:`SnapshotStore.verify` says what it really proves."""
    components: Mapping[str, str]
    trees: tuple[SnapshotTree, ...] = ()
    lock: DirectoryLock | None = field(default=None, compare=False, repr=False)

    def release(self) -> None:
        """Let the store collect it; safe to call twice."""
        if self.lock is not None:
            self.lock.release()


class SnapshotStore:
    """A private directory of snapshots.

    Args:
        root: Made with mode 0700 if absent.

    Raises:
        LitmusConfigError: It cannot be made, or belongs to someone else.
    """

    def __init__(self, root: Path) -> None:
        self.root = _private_directory(root)

    def make(self, agent: AgentConfig, build: AgentBuild, interpreter: Interpreter | None = None) -> Snapshot:
        """The verified copy of ``build``, made now unless the store has it.

        Raises:
            LitmusConfigError: The agent's files are no longer those of ``build``, or cannot be copied.
        """
        trees = editable_trees(interpreter or inspect_interpreter(agent.python))
        mounts = interpreter.mounts if interpreter else ()
        for _ in range(_ATTEMPTS):
            found = self._open(build, trees)
            if found is not None:
                return found
            self._add(agent, build, trees, mounts)
        raise LitmusError(
            f"{self.root}: the snapshot of {build.digest} is removed as fast as it is made",
            hint="stop other processes that collect this store, then run again",
            slug="snapshot-contended",
        )

    def verify(self, snapshot: Snapshot) -> str:
        """The build digest that the snapshot's files prove as they lie on disk now.

        It equals ``snapshot.digest`` exactly if no file was added, removed, or changed in content, executable bit
        or link target. What is not copied (interpreter, distributions, declarations) is taken from the build.
        """
        prefixes = ("files/", "editable/")
        components = {n: d for n, d in snapshot.components.items() if not n.startswith(prefixes)}
        components |= _components_on_disk("files", snapshot.path)
        for tree in snapshot.trees:
            components |= _components_on_disk(tree.prefix, tree.source)
        return build_digest(components)

    def collect(self, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove what no process uses and ``keep`` does not name; returns the names removed, sorted."""
        kept = {_directory_name(digest) for digest in keep}
        idle = [item for item in sorted(self.root.iterdir()) if item.name not in kept and _is_directory(item)]
        return tuple(item.name for item in idle if self._remove(item))

    def _open(self, build: AgentBuild, trees: tuple[EditableTree, ...]) -> Snapshot | None:
        """The stored snapshot, locked; ``None`` if absent. A damaged one is moved out of the way."""
        place = self.root / _directory_name(build.digest)
        lock = DirectoryLock.take(place)
        if lock is None:
            return None
        snapshot = Snapshot(
            path=place / "agent",
            digest=build.digest,
            components=build.components,
            trees=tuple(
                SnapshotTree(place / "trees" / str(number), tree.path, editable_prefix(tree))
                for number, tree in enumerate(trees)
            ),
            lock=lock,
        )
        if self.verify(snapshot) == build.digest:
            return snapshot
        place.rename(self._temporary_name())
        lock.release()
        return None

    def _add(
        self, agent: AgentConfig, build: AgentBuild, trees: tuple[EditableTree, ...], mounts: tuple[Path, ...]
    ) -> None:
        place = self._temporary_name()
        place.mkdir(0o700)
        lock = DirectoryLock.take(place)
        if lock is None:
            return
        try:
            _copy_tree(agent_files(agent), place / "agent", ())
            for number, tree in enumerate(trees):
                inner = [m.relative_to(tree.path) for m in mounts if m.is_relative_to(tree.path) and m != tree.path]
                _copy_tree(editable_files(agent, tree), place / "trees" / str(number), inner)
            self._refuse_drift(place, build, trees)
            _rename_unless_there(place, self.root / _directory_name(build.digest))
        except OSError as error:
            raise LitmusConfigError(
                f"{self.root}: the snapshot cannot be written: {error.strerror or error}",
                hint="check free space and permissions",
                slug="snapshot-write",
            ) from error
        finally:
            lock.release()
            if place.exists():
                _remove_tree(place)

    def _refuse_drift(self, place: Path, build: AgentBuild, trees: tuple[EditableTree, ...]) -> None:
        held = _components_on_disk("files", place / "agent")
        for number, tree in enumerate(trees):
            held |= _components_on_disk(editable_prefix(tree), place / "trees" / str(number))
        wanted = {n: d for n, d in build.components.items() if n.startswith(("files/", "editable/"))}
        changed = sorted(n for n in held.keys() | wanted.keys() if held.get(n) != wanted.get(n))
        if changed:
            raise LitmusConfigError(
                f"the agent's files changed while its snapshot was made: {', '.join(changed[:5])}",
                hint="wait until nothing writes to them, then run again",
                slug="snapshot-drift",
            )

    def _remove(self, item: Path) -> bool:
        lock = DirectoryLock.take(item, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is None:
            return False
        try:
            trash = self._temporary_name()
            item.rename(trash)
            _remove_tree(trash)
        finally:
            lock.release()
        return True

    def _temporary_name(self) -> Path:
        return self.root / f"tmp-{secrets.token_hex(8)}"


def _directory_name(digest: str) -> str:
    return digest.removeprefix("sha256:")


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _private_directory(root: Path) -> Path:
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)
    except OSError as error:
        raise LitmusConfigError(
            f"{root}: no private directory can be made there: {error.strerror or error}",
            hint="choose a directory of your own for the snapshot store",
            slug="snapshot-store",
        ) from error
    return root.resolve()


def _copy_tree(selection: Selection, target: Path, mount_points: Collection[Path]) -> None:
    target.mkdir(parents=True)
    for entry in selection.entries:
        _copy(selection.root / entry.path, target / entry.path, entry)
    for inner in mount_points:
        (target / inner).mkdir(parents=True, exist_ok=True)
    for directory, _, _ in os.walk(target):
        Path(directory).chmod(0o555)


def _copy(source: Path, target: Path, entry: Entry) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if entry.link is not None:
        target.symlink_to(entry.link)
        return
    with source.open("rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write)
    target.chmod(0o555 if entry.executable else 0o444)


def _rename_unless_there(place: Path, final: Path) -> None:
    try:
        place.rename(final)
    except OSError:
        if not final.is_dir():  # else another process made the same one first
            raise


def _components_on_disk(prefix: str, root: Path) -> dict[str, str]:
    if not root.is_dir():
        return {}
    return {f"{prefix}/{entry.path}": entry_digest(root, entry) for entry in _entries_on_disk(root, "")}


def _entries_on_disk(root: Path, base: str) -> Iterator[Entry]:
    for item in os.scandir(root / base):
        path = base + item.name
        if item.is_symlink():
            yield Entry(path, link=str(Path(item.path).readlink()))
        elif item.is_dir():
            yield from _entries_on_disk(root, path + "/")
        else:
            yield Entry(path, executable=bool(item.stat().st_mode & 0o100))


def _remove_tree(place: Path) -> None:
    for directory, _, _ in os.walk(place):
        Path(directory).chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)
