"""Finds the file a waiting process is about to execute: through links, descriptors and ``/proc/self``.

A path is resolved in the process's own root, never outside of it. ``/proc/self`` means another process to the
harness, and what lies behind ``/proc/PID/fd`` has no path at all, so both are followed by hand where the kernel's
own resolution fails.
"""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from agent_litmus.sandbox import linux
from agent_litmus.sandbox.inspect_process import opened

_MAX_LINKS = 40
_WITHOUT_OPENING = os.O_PATH | os.O_CLOEXEC


def open_program(pid: int, path: bytes, at: int | None = None) -> int:
    """An ``O_PATH`` descriptor of what ``path`` names for ``pid``; ``at``: a directory descriptor of the process.

    Raises:
        OSError: Nothing is found there.
        ValueError: The path cannot be one.
    """
    if not path:
        return os.open(f"/proc/{pid}/fd/{-1 if at is None else at}", _WITHOUT_OPENING)
    full = path if path.startswith(b"/") else _directory(pid, at) + b"/" + path
    with opened(os.open(f"/proc/{pid}/root", _WITHOUT_OPENING)) as root:
        try:
            return linux.open_in_root(root, full)
        except OSError:
            return _by_hand(pid, root, full)


def real_path(fd: int) -> bytes:
    """Path of an open file inside, as the kernel tells it; ``memfd:NAME (deleted)`` for a file in memory alone."""
    path = os.readlink(b"/proc/self/fd/%d" % fd)  # noqa: PTH115  the text, not a path
    return path.removeprefix(b"/") if path.startswith(b"/memfd:") else path


def _directory(pid: int, at: int | None) -> bytes:
    return os.readlink(os.fsencode(f"/proc/{pid}/cwd" if at is None else f"/proc/{pid}/fd/{at}"))  # noqa: PTH115


def _by_hand(pid: int, root: int, path: bytes) -> int:
    at: list[bytes] = []
    pending, links = _parts(path), 0
    while pending:
        part = pending.pop(0)
        if part == b"..":
            at = at[:-1]
            continue
        at.append(part)
        process = _process(pid, at) if pending else ""
        if process and pending[0] == b"..":
            continue
        target = _behind(process, pending) if process else _link(root, at)
        if isinstance(target, int):
            return target
        if target is not None:
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            pending = _parts(target) + ([] if process else pending)
            at = [] if target.startswith(b"/") else at[:-1]
    return linux.open_in_root(root, b"/" + b"/".join(at))


def _parts(path: bytes) -> list[bytes]:
    return [part for part in path.split(b"/") if part not in {b"", b"."}]


def _process(pid: int, at: Sequence[bytes]) -> str:
    """Directory of the process that ``/proc/NAME`` means to ``pid``, as the harness sees it; else empty."""
    if len(at) != 2 or at[0] != b"proc":
        return ""
    if at[1] in {b"self", b"thread-self"}:
        return f"/proc/{pid}"
    return "/".join(("/proc", str(pid), "root", "proc", str(int(at[1])))) if at[1].isdigit() else ""


def _behind(process: str, rest: Sequence[bytes]) -> int | bytes:
    """What lies below a process's directory: a file's descriptor, or the path to go on with instead."""
    if rest[0] == b"task":
        rest = rest[2:]
    name, *below = rest or [b""]
    if name == b"fd" and below:
        number, *below = below
        link = Path(process, "fd", str(int(number)))
    elif name in {b"exe", b"cwd", b"root"}:
        link = Path(process, name.decode())
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not below:
        return os.open(link, _WITHOUT_OPENING)
    return b"/".join([os.fsencode(link.readlink()), *below])


def _link(root: int, at: Sequence[bytes]) -> bytes | None:
    """Target of a symbolic link whose directory is resolved; ``None`` if it is none."""
    with opened(linux.open_in_root(root, b"/" + b"/".join(at[:-1]))) as directory:
        try:
            return os.readlink(at[-1], dir_fd=directory)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise
