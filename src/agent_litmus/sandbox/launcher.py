"""Starts sandboxes from one dedicated thread.

``bwrap --die-with-parent`` dies with the *thread* that started it, so that thread must outlive every session. Where
the harness is root the thread also has its own mount namespace: in it the run's directories appear below a path any
user can reach (a virtual environment may point into a home of mode 0700), so that sessions can run as users without
rights of their own.
"""

import asyncio
import contextlib
import os
import stat
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox import linux

FIRST_UID = 61_000
"""Sessions of a root harness run as this user plus their slot."""
_STAGES = ("/mnt", "/media", "/srv", "/opt")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Spawn:
    """A process to start. Descriptors stay the caller's."""

    argv: Sequence[str]
    stdin: int
    stdout: int
    stderr: int
    pass_fds: tuple[int, ...] = ()
    uid: int | None = None


class Launcher:
    """The thread. ``sources``: directories that sessions need, wherever they lie.

    Raises:
        LitmusSandboxError: A source does not exist, or (as root) cannot be made reachable.
    """

    def __init__(self, sources: Sequence[Path]) -> None:
        self._pool = ThreadPoolExecutor(1, "litmus-launcher")
        self._seen: dict[Path, Path] = {}
        self.is_root = os.geteuid() == 0
        self._slots: set[int] = set()
        if self.is_root:
            try:
                self._seen = self._pool.submit(_stage, tuple(sources)).result()
            except OSError as error:
                self.close()
                raise LitmusSandboxError(
                    f"the sandbox's directories could not be mounted privately: {error}",
                    hint="run as an unprivileged user, or give the harness CAP_SYS_ADMIN",
                ) from error

    def seen(self, path: Path) -> str:
        """The path at which a sandbox's starter finds ``path``, which lies in or below a source."""
        for source, target in self._seen.items():
            if path.is_relative_to(source):
                return str(target / path.relative_to(source))
        return str(path)

    def take_slot(self) -> int:
        """A number no other open session of this run has."""
        slot = next(n for n in range(len(self._slots) + 1) if n not in self._slots)
        self._slots.add(slot)
        return slot

    def free_slot(self, slot: int) -> None:
        """Give a slot back; safe to call twice."""
        self._slots.discard(slot)

    def uid(self, slot: int) -> int | None:
        """The user a slot's session runs as; ``None``: the harness's own."""
        return FIRST_UID + slot if self.is_root else None

    async def spawn(self, spawn: Spawn) -> "subprocess.Popen[bytes]":
        """Start a process that sees the run's directories and nothing of the harness's environment."""
        return await self._call(lambda: _spawn(spawn))

    async def _call(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)

    def close(self) -> None:
        """End the thread; whatever it started dies with it."""
        self._pool.shutdown(wait=True)


def _spawn(spawn: Spawn) -> "subprocess.Popen[bytes]":
    # Popen's own ``user`` would copy the harness's whole address space, which takes longer than the session.
    with contextlib.nullcontext() if spawn.uid is None else linux.acting_as(spawn.uid):
        return subprocess.Popen(  # noqa: S603  argv is ours
            spawn.argv,
            stdin=spawn.stdin,
            stdout=spawn.stdout,
            stderr=spawn.stderr,
            pass_fds=spawn.pass_fds,
            env={},
            cwd="/",
            start_new_session=True,
        )


def _stage(sources: tuple[Path, ...]) -> dict[Path, Path]:
    """Bind ``sources`` below a directory everyone can reach, in this thread's own mount namespace."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("", "/", "", linux.MS_REC | linux.MS_PRIVATE)
    held = {source: os.open(source, os.O_PATH | os.O_CLOEXEC) for source in sources}
    try:
        stage = next(Path(name) for name in _STAGES if Path(name).is_dir())
        linux.mount("tmpfs", str(stage), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755,size=1m")
        return {source: _bind(fd, stage / str(index)) for index, (source, fd) in enumerate(held.items())}
    finally:
        for fd in held.values():
            os.close(fd)


def _bind(fd: int, target: Path) -> Path:
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        target.mkdir()
    else:
        target.touch()
    linux.mount(f"/proc/self/fd/{fd}", str(target), "", linux.MS_BIND | linux.MS_REC)
    return target
