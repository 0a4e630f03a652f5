"""Directory trees as values: read one, lay an overlay's upper directory over it, compare two.

Walks never follow symbolic links and never run while the tree's owner lives.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAX_ENTRIES = 20_000
MAX_HASHED_BYTES = 1 << 30
_READ = 1 << 20
_SMALL = 1 << 16
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Node:
    """One entry. ``kind``: ``file``, ``directory``, ``symlink`` or ``other``."""

    kind: str
    mode: int
    """Permission bits."""
    size: int = 0
    sha256: str = ""
    """Digest of a file's content or a link's target, 64 hex digits; empty where it was not read."""


Entry = tuple[str, Node | None, bool]
"""Path, what is there (``None``: an overlay's mark of deletion), and whether it hides what lies below it."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Entries by relative path (``surrogateescape`` text, ``/`` between names)."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    """What could not be read; empty if the tree is complete."""


def read_tree(root: Path) -> Tree:
    """The tree below ``root``; a missing root is an empty tree."""
    walk = _Walk(root)
    nodes = {path: node for path, node, _ in walk.entries() if node is not None}
    return Tree(nodes, walk.gaps())


def overlaid(lower: Tree, upper: Path) -> Tree:
    """What an overlay of ``upper`` over ``lower`` shows."""
    walk = _Walk(upper)
    nodes = dict(lower.nodes)
    for path, node, opaque in walk.entries():
        before = nodes.get(path)
        if node is None or node.kind != "directory" or opaque or (before and before.kind != "directory"):
            _remove(nodes, path)
        if node is not None:
            nodes[path] = node
    return Tree(nodes, lower.gaps + walk.gaps())


def walk_layer(upper: Path) -> Generator[Entry]:
    """Entries of an overlay's upper directory, parents first, without their contents.

    Each is a path, what is there (``None``: it was deleted), and whether that hides what lies below it in other
    layers. Until the generator is closed, every directory can be entered.
    """
    return _Walk(upper, contents=False).entries()


def _remove(nodes: dict[str, Node], path: str) -> None:
    gone = nodes.pop(path, None)
    if (
        gone is not None and gone.kind == "directory"
    ):  # looking through all of them for each file would take minutes
        for below in [p for p in nodes if p.startswith(path + "/")]:
            del nodes[below]


def disk_usage(root: Path) -> int:
    """Bytes of disk below ``root``, roughly: its owner may be changing it meanwhile."""
    used, entries, pending = 0, 0, [root]
    while pending and entries < MAX_ENTRIES:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as found:
            for entry in found:
                entries += 1
                with contextlib.suppress(OSError):
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
    return used


class _Walk:
    """Entries of a directory tree, parents first; ``None`` for an overlay's mark of deletion."""

    def __init__(self, root: Path, *, contents: bool = True) -> None:
        self._root, self._contents = root, contents
        self._missed: dict[str, int] = {}
        self._entries = self._hashed = 0
        self._opened_up: list[tuple[str, int]] = []

    def gaps(self) -> tuple[str, ...]:
        return tuple(f"{count} {why}" for why, count in sorted(self._missed.items()))

    def entries(self) -> Generator[Entry]:
        try:
            with opened_root(self._root) as root:
                yield from self._below(root)
        except FileNotFoundError:
            return
        except NotADirectoryError:
            self._miss("top directory was replaced by something else")

    def _below(self, root: int) -> Iterator[Entry]:
        pending = [""]
        try:
            while pending:
                for path, node, opaque in self._directory(root, pending.pop()):
                    if node is not None and node.kind == "directory":
                        pending.append(path)
                    yield path, node, opaque
        finally:
            for path, mode in reversed(self._opened_up):
                os.chmod(path, mode, dir_fd=root)

    def _open_up(self, root: int, path: str) -> None:
        """Let the owner into a directory until the walk is over, or what lies below could not be reached."""
        mode = stat.S_IMODE(os.stat(path or ".", dir_fd=root, follow_symlinks=False).st_mode)
        if mode & 0o700 != 0o700:
            os.chmod(path or ".", mode | 0o700, dir_fd=root)
            self._opened_up.append((path or ".", mode))

    def _miss(self, why: str) -> None:
        self._missed[why] = self._missed.get(why, 0) + 1

    def _directory(self, root: int, path: str) -> list[Entry]:
        found: list[Entry] = []
        try:
            self._open_up(root, path)
            with opened_anyway(path or ".", os.O_RDONLY | os.O_DIRECTORY, root) as directory:
                for name, is_file in _names(directory):
                    self._entries += 1
                    if self._entries > MAX_ENTRIES:
                        self._miss(f"directories with entries beyond the first {MAX_ENTRIES} were not read")
                        break
                    node = self._small_file(directory, name) if is_file and self._contents else None
                    below = f"{path}/{name}" if path else name
                    found.append((below, node, False) if node else self._entry(directory, name, below))
        except OSError:
            self._miss("directories could not be read")
        return found

    def _small_file(self, directory: int, name: str) -> Node | None:
        """A regular file by the fewest system calls; ``None`` where that is not enough."""
        try:
            fd = os.open(name, _FILE, dir_fd=directory)
        except OSError:
            return None
        try:
            status = os.fstat(fd)
            data = os.read(fd, min(status.st_size, _SMALL) + 1)
        except OSError:
            return None
        finally:
            os.close(fd)
        if len(data) != status.st_size or not stat.S_ISREG(status.st_mode):
            return None
        if self._hashed + len(data) > MAX_HASHED_BYTES:
            return None
        self._hashed += len(data)
        return Node("file", stat.S_IMODE(status.st_mode), len(data), hashlib.sha256(data).hexdigest())

    def _entry(self, directory: int, name: str, path: str) -> Entry:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        mode, bits = status.st_mode, stat.S_IMODE(status.st_mode)
        if stat.S_ISCHR(mode) and status.st_rdev == 0:
            return path, None, False
        if stat.S_ISDIR(mode):
            return path, Node("directory", bits), self._opaque(directory, name)
        if stat.S_ISLNK(mode):
            target = os.readlink(os.fsencode(name), dir_fd=directory)
            return path, Node("symlink", bits, len(target), hashlib.sha256(target).hexdigest()), False
        if stat.S_ISREG(mode):
            content = self._content(directory, name, status.st_size) if self._contents else ""
            return path, Node("file", bits, status.st_size, content), False
        return path, Node("other", bits), False

    def _content(self, directory: int, name: str, size: int) -> str:
        self._hashed += size
        if self._hashed > MAX_HASHED_BYTES:
            self._miss(f"files beyond {MAX_HASHED_BYTES >> 20} MiB of content were not read")
            return ""
        try:
            with opened_anyway(name, os.O_RDONLY, directory) as file:
                return hash_open_file(file)
        except OSError:
            self._miss("files could not be read")
            return ""

    def _opaque(self, directory: int, name: str) -> bool:
        with contextlib.suppress(OSError), opened_anyway(name, os.O_RDONLY | os.O_DIRECTORY, directory) as fd:
            return is_opaque(fd)
        return False


def _names(directory: int) -> list[tuple[str, bool]]:
    """Sorted names in a directory, and whether each is a regular file."""
    with os.scandir(directory) as entries:
        return sorted((entry.name, entry.is_file(follow_symlinks=False)) for entry in entries)


def is_opaque(fd: int) -> bool:
    """Whether a directory of an overlay's upper layer hides what lies below it."""
    for attribute in ("user.overlay.opaque", "trusted.overlay.opaque"):
        with contextlib.suppress(OSError):
            return os.getxattr(fd, attribute) == b"y"
    return False


def hash_open_file(fd: int) -> str:
    """SHA-256 of what a descriptor yields from its position on, 64 hex digits."""
    digest = hashlib.sha256()
    while piece := os.read(fd, _READ):
        digest.update(piece)
    return digest.hexdigest()


@contextlib.contextmanager
def opened_root(root: Path) -> Iterator[int]:
    """A directory's descriptor, even where its owner took away every permission; the mode is put back.

    Raises:
        FileNotFoundError: There is none.
        NotADirectoryError: It is something else, a link included.
    """
    status = root.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{root} is no directory")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o700 != 0o700:
        root.chmod(mode | 0o700)
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        if mode & 0o700 != 0o700:
            os.fchmod(fd, mode)
        os.close(fd)


@contextlib.contextmanager
def opened_anyway(name: str, flags: int, directory: int) -> Iterator[int]:
    """An entry's descriptor, even where its owner took away every permission; the mode is put back."""
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    before = None
    try:
        fd = os.open(name, flags, dir_fd=directory)
    except PermissionError:
        before = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
        if stat.S_ISLNK(before):
            raise
        os.chmod(name, 0o700, dir_fd=directory)
        fd = os.open(name, flags, dir_fd=directory)
    try:
        yield fd
    finally:
        os.close(fd)
        if before is not None:
            os.chmod(name, stat.S_IMODE(before), dir_fd=directory)
