"""Making, identifying, reading and removing directory trees."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.records.digest import digest_of
from agent_litmus.sandbox.tree import hash_open_file

Signature = tuple[tuple[str, int, int, int, int], ...]
"""Sorted (path, size, mtime_ns, inode, ctime_ns): equal signatures mean nobody touched the tree."""


def write_tree(root: Path, files: Mapping[str, str]) -> None:
    """Write ``files`` (relative path to text) below the existing directory ``root``, mode 0644 and 0755.

    Raises:
        LitmusSandboxError: A path is absolute, empty, climbs out, or cannot be written.
    """
    for name, content in files.items():
        target = root / relative(name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode("utf-8", "surrogateescape"))
            target.chmod(0o644)
        except (OSError, ValueError) as error:
            raise LitmusSandboxError(
                f"workspace file {name!r} could not be written: {error}",
                hint="check the paths of the environment's `files` and the free space of the temporary directory",
            ) from error


def relative(name: str) -> PurePosixPath:
    """``name`` as a path that stays below its root.

    Raises:
        LitmusSandboxError: It does not.
    """
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise LitmusSandboxError(
            f"workspace path {name!r} does not name a file below the workspace",
            hint="use a relative path without `..`",
        )
    return path


def give(root: Path, owner: int | None) -> None:
    """Make ``owner`` the user and group of everything below ``root``; ``None`` leaves it."""
    if owner is None:
        return
    for directory, _, names in os.walk(root):
        os.chown(directory, owner, owner)
        for name in names:
            os.lchown(f"{directory}/{name}", owner, owner)


def tree_digest(path: Path) -> str:
    """Digest of a directory: sorted [relative path, kind, executable, SHA-256] as canonical JSON, hashed.

    Files and symbolic links count (a link by its target), empty directories, owners, times and other permission
    bits do not. Names that are not UTF-8 are written with backslash escapes.

    Raises:
        OSError: Something in the tree cannot be read.
    """
    rows = []
    for name, status in _walk(path):
        full = path / name
        printable = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(os.readlink(full)).decode("utf-8", "backslashreplace")  # noqa: PTH115  the text
            rows.append([printable, "symlink", False, target])
        elif stat.S_ISREG(status.st_mode):
            rows.append([printable, "file", bool(status.st_mode & 0o111), _hash(full)])
        else:
            rows.append([printable, "other", False, ""])
    return digest_of(sorted(rows))


def _hash(path: Path) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return hash_open_file(fd)
    finally:
        os.close(fd)


def tree_signature(path: Path) -> Signature:
    """Cheap identity of a tree from file status alone; raises ``OSError`` as :func:`tree_digest` does."""
    rows = [(name, s.st_size, s.st_mtime_ns, s.st_ino, s.st_ctime_ns) for name, s in _walk(path)]
    return tuple(sorted(rows))


def _walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(root / prefix) as entries:
            for entry in entries:
                name = f"{prefix}/{entry.name}" if prefix else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name)
                else:
                    yield name, entry.stat(follow_symlinks=False)
