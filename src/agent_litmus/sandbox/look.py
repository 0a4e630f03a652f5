"""Looks up one path in a finished workspace as the agent itself saw it, and never outside of it.

Symbolic links are followed by hand, from layer to layer: the kernel could follow them in one layer only, and the
overlay is no longer mounted when its files are read.
"""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox.files import relative
from agent_litmus.sandbox.protocol import Look
from agent_litmus.sandbox.tree import is_opaque, opened_anyway, opened_root

MAX_LINKS = 40
"""Links followed for one path, as many as the kernel follows."""
_PIECE = 1 << 20


def look_layers(layers: Sequence[Path], top: str, name: str, limit: int) -> Look:
    """What an overlay shows at a path.

    Args:
        layers: Directories of the overlay, topmost first; one is a plain directory.
        top: Absolute path the overlay had inside: links written with it lead back into the overlay.
        name: Path relative to it.
        limit: Bytes read at most.
    """
    try:
        return _Overlay(layers, PurePosixPath(top).parts[1:]).look(relative(name).parts, limit)
    except LitmusSandboxError:
        return Look("other")
    except OSError:
        return Look("unreadable")


class _Overlay:
    def __init__(self, layers: Sequence[Path], top: tuple[str, ...]) -> None:
        self._layers, self._top = layers, top

    def look(self, parts: tuple[str, ...], limit: int) -> Look:
        at, pending, links = [*self._top], [*parts], 0
        while pending:
            part = pending.pop(0)
            if part == "..":
                at = at[:-1]
                continue
            at.append(part)
            if len(at) <= len(self._top):
                if at != [*self._top[: len(at)]]:
                    return Look("other")
                continue
            kind, target = self._entry(at)
            if kind == "symlink" and links < MAX_LINKS:
                links += 1
                at = [] if target.startswith("/") else at[:-1]
                pending = [part for part in PurePosixPath(target).parts if part.strip("/")] + pending
            elif kind != "directory":
                return self._content(at, limit) if kind == "file" and not pending else _end(kind, pending)
        return Look("other")

    def _entry(self, at: list[str]) -> tuple[str, str]:
        """Kind of an entry and, of a link, its target."""
        with self._found(at) as found:
            if found is None:
                return "absent", ""
            directory, mode = found
            if stat.S_ISLNK(mode):
                return "symlink", os.readlink(at[-1], dir_fd=directory)
        return _KINDS.get(stat.S_IFMT(mode), "other"), ""

    def _content(self, at: list[str], limit: int) -> Look:
        with self._found(at) as found:
            if found is None:
                return Look("absent")
            with opened_anyway(at[-1], os.O_RDONLY, found[0]) as file:
                data = _read(file, limit + 1)
        return Look("file", data[:limit], truncated=len(data) > limit)

    @contextlib.contextmanager
    def _found(self, at: list[str]) -> Iterator[tuple[int, int] | None]:
        """An entry's directory, open, and its mode, from the topmost layer that has or hides it."""
        parts = at[len(self._top) :]
        with contextlib.ExitStack() as stack:
            for layer in self._layers:
                found, hides = _in_layer(stack, layer, parts)
                if found or hides:
                    break
            yield found


_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory"}


def _end(kind: str, pending: list[str]) -> Look:
    """What stands at the end of a path that does not lead to a file; nothing lies below a file."""
    return Look("absent") if kind == "absent" or (pending and kind != "symlink") else Look("other")


def _in_layer(
    stack: contextlib.ExitStack, layer: Path, parts: Sequence[str]
) -> tuple[tuple[int, int] | None, bool]:
    """What one layer has at a path, and whether it hides what lies there in those below."""
    hides = False
    try:
        directory = stack.enter_context(opened_root(layer))
    except FileNotFoundError:
        return None, False
    for part in parts[:-1]:
        status = _status(directory, part)
        if status is None or not stat.S_ISDIR(status.st_mode):
            return None, hides or status is not None
        directory = stack.enter_context(opened_anyway(part, os.O_RDONLY | os.O_DIRECTORY, directory))
        hides = hides or is_opaque(directory)
    status = _status(directory, parts[-1])
    if status is None:
        return None, hides
    gone = stat.S_ISCHR(status.st_mode) and status.st_rdev == 0  # an overlay's mark of deletion
    return (None if gone else (directory, status.st_mode)), True


def _status(directory: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _read(fd: int, size: int) -> bytes:
    found = bytearray()
    while len(found) < size and (piece := os.read(fd, min(_PIECE, size - len(found)))):
        found += piece
    return bytes(found)
