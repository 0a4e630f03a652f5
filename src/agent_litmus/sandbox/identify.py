"""Says what an executed file is, whatever it is called: where it lies, what interprets it, what it is a copy of.

A copy is known by its content, so one that was changed by a single byte is known by nothing. That is a limit of
naming programs, not of the witness: the execution itself is noted all the same.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_litmus.sandbox.inspect_process import opened
from agent_litmus.sandbox.memory import text
from agent_litmus.sandbox.program import open_program, real_path

MAX_HASHED_FILE = 64 << 20
MAX_HASHED = 1 << 30
"""Bytes of executed files read per session."""
_SYSTEM = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin", "/sbin")
_LINE = 256
"""Bytes of a script the kernel looks at."""
_INTERPRETERS = 5
"""Scripts the kernel lets interpret one another."""


class Programs:
    """Identifies a session's executed files; a file is read whole once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], str] = {}
        self._hashed = 0
        self.unread = 0
        """Executed files that the agent could have written and nobody read: they may be copies of anything."""

    def identify(self, pid: int, path: bytes, at: int | None = None) -> tuple[bool, dict[str, Any]]:
        """Whether ``pid`` can execute ``path``, and what it is.

        Args:
            pid: The process that is about to execute it.
            path: As the process names it.
            at: A directory descriptor of the process that ``path`` starts from.

        Returns:
            Whether it is an executable file, and of these what applies: ``real``, its path inside with every link
            resolved; ``interpreter``, a script's first line without ``#!``; ``interpreter_real``, the path of
            what the kernel runs for it; and where the agent could have written the file itself: ``sha256``, and
            ``system_name``, the path of a system program with the same content.
        """
        try:
            file = open_program(pid, path, at)
        except (OSError, ValueError):
            return False, {}
        with opened(file):
            detail: dict[str, Any] = {"real": text(real_path(file))}
            status = os.fstat(file)
            done = stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)
            if done:
                detail |= self._content(file, status) | _interpreter(pid, file)
            return done, detail

    def _content(self, file: int, status: os.stat_result) -> dict[str, str]:
        if os.fstatvfs(file).f_flag & os.ST_RDONLY or status.st_size > MAX_HASHED_FILE:
            return {}
        identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if identity not in self._known:
            if self._hashed + status.st_size > MAX_HASHED:
                self.unread += 1
                return {}
            self._hashed += status.st_size
            self._known[identity] = _digest(f"/proc/self/fd/{file}")
        sha256 = self._known[identity]
        if not sha256:
            self.unread += 1
            return {}
        name = _system_name(status.st_size, sha256)
        return {"sha256": sha256} | ({"system_name": name} if name else {})


def _interpreter(pid: int, file: int) -> dict[str, str]:
    line = _first_line(file)
    found = {"interpreter": text(line)} if line else {}
    for _ in range(_INTERPRETERS):
        if not line:
            break
        try:
            with opened(open_program(pid, line.split()[0])) as interpreter:
                found["interpreter_real"] = text(real_path(interpreter))
                line = _first_line(interpreter)
        except (OSError, ValueError):
            break
    return found


def _first_line(file: int) -> bytes:
    """A script's first line without ``#!``; empty for what is none or cannot be read."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        return b""
    try:
        with opened(os.open(f"/proc/self/fd/{file}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as content:
            start = os.read(content, _LINE)
    except OSError:
        return b""
    return start[2:].split(b"\n")[0].strip() if start.startswith(b"#!") else b""


def _digest(path: str) -> str:
    """SHA-256 as 64 hex digits, empty where it cannot be read. Never waits: the owner may hold a lease."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


@cache
def _system_sizes() -> Mapping[int, tuple[str, ...]]:
    """System programs by size; the sandbox shows the host's own."""
    found: dict[int, tuple[str, ...]] = {}
    places = {os.path.realpath(place): place for place in reversed(_SYSTEM) if Path(place).is_dir()}
    for place in sorted(places):
        for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
            if entry.is_file(follow_symlinks=False):
                size = entry.stat(follow_symlinks=False).st_size
                found[size] = (*found.get(size, ()), entry.path)
    return found


_system_digest = cache(_digest)


def _system_name(size: int, sha256: str) -> str:
    for path in _system_sizes().get(size, ()):
        if _system_digest(path) == sha256:
            return path
    return ""
