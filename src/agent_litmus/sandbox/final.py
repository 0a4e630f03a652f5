"""Lays a finished workspace out as a plain directory, for commands that look at it afterwards."""

import contextlib
import os
import shutil
import stat
from pathlib import Path

from agent_litmus.sandbox.remove import remove_tree
from agent_litmus.sandbox.tree import Node, opened_anyway, walk_layer


def lay_final(lower: Path, upper: Path, target: Path) -> None:
    """Write what an overlay of ``upper`` over ``lower`` shows to ``target``, which must not exist.

    Pipes, sockets and devices are left out: no command has any use for their dead ends.

    Raises:
        OSError: Something cannot be copied.
    """
    shutil.copytree(lower, target, symlinks=True)
    modes = [("", stat.S_IMODE(upper.stat().st_mode))]
    with contextlib.closing(walk_layer(upper)) as entries:
        for path, node, opaque in entries:
            place = target / path
            if node is None or node.kind != "directory" or opaque or not _is_directory(place):
                remove_tree(place)
            if node is not None:
                _copy(upper / path, place, node)
                if node.kind in {"directory", "file"}:
                    modes.append((path, node.mode))
    for path, mode in reversed(modes):  # last, or nothing could be written below
        (target / path).chmod(mode)


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _copy(source: Path, place: Path, node: Node) -> None:
    if node.kind == "directory":
        place.mkdir(exist_ok=True)
    elif node.kind == "symlink":
        place.symlink_to(source.readlink())
    elif node.kind == "file":
        parent = os.open(source.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with opened_anyway(source.name, os.O_RDONLY, parent) as fd, place.open("xb") as copy:
                shutil.copyfileobj(os.fdopen(os.dup(fd), "rb"), copy)
        finally:
            os.close(parent)
