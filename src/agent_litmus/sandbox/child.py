"""One uncontained child process and whatever it leaves behind."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_litmus.finish import finished, in_thread
from agent_litmus.records.session import ExitKind, ProcessExit
from agent_litmus.sandbox import linux
from agent_litmus.sandbox.protocol import Limits
from agent_litmus.sandbox.pump import Input, Output, pipe

MARK = "LITMUS_SESSION"
"""Variable by which children are found again."""
_KILL_SECONDS = 5.0
_STREAM_SECONDS = 1.0


class Child:
    """A process in its own group. ``start`` once, then ``wait`` once; ``close`` at any time."""

    def __init__(self, session_id: str, limits: Limits) -> None:
        self._mark = f"{MARK}={session_id}".encode()
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._failed = ""
        self._struck = False
        self._pidfd = -1
        self._exited = asyncio.Event()
        self._input: Input | None = None
        self.streams: tuple[Output, ...] = ()
        """Standard output and standard error."""
        self.leftovers = 0
        """Processes found alive after the child ended of itself."""
        self.began = time.monotonic()

    async def start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: bytes) -> None:
        """Start; a command that cannot be executed is reported by :meth:`wait`.

        When it is cancelled, what it started is known and ends with :meth:`close`.
        """
        await finished(self._start(argv, env, cwd, stdin))

    async def _start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: bytes) -> None:
        ends = [pipe() for _ in range(3)]
        try:
            self._process = await asyncio.to_thread(self._spawn, argv, env, cwd, ends)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._failed = str(error)
        finally:
            for fd in (ends[0][0], ends[1][1], ends[2][1]):
                os.close(fd)
        self.began = time.monotonic()
        self.streams = tuple(Output(fd, self._limits.output_bytes).start() for fd in (ends[1][0], ends[2][0]))
        self._input = Input(ends[0][1], stdin).start()
        if self._process is not None:
            self._pidfd = os.pidfd_open(self._process.pid)
            asyncio.get_running_loop().add_reader(self._pidfd, self._on_exit)
        if self._struck:
            self.strike()

    def _spawn(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, ends: list[tuple[int, int]]
    ) -> "subprocess.Popen[bytes]":
        if not argv:
            raise ValueError("the command is empty")
        process = subprocess.Popen(  # noqa: S603  running the agent is the point
            argv,
            stdin=ends[0][0],
            stdout=ends[1][1],
            stderr=ends[2][1],
            env={**env, MARK: self._mark.decode().partition("=")[2]},
            cwd=cwd,
            start_new_session=True,
            # The threads of the event loop's pool live as long as the loop, so no session ends too early.
            preexec_fn=linux.dying_with_parent(),  # noqa: PLW1509  one system call that needs no lock
        )
        values = {
            resource.RLIMIT_CPU: max(1, self._limits.cpu_seconds),
            resource.RLIMIT_DATA: self._limits.memory_bytes,
            resource.RLIMIT_FSIZE: self._limits.file_bytes,
            resource.RLIMIT_NOFILE: self._limits.open_files,
            resource.RLIMIT_CORE: 0,
        }
        for name, value in values.items():
            with contextlib.suppress(OSError, ValueError):  # it may be gone already
                resource.prlimit(process.pid, name, (value, value))
        return process

    def _on_exit(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        self._exited.set()

    async def wait(self, seconds: float) -> tuple[ProcessExit, float]:
        """How the child ended and after how many seconds; what is left of it is killed."""
        if self._process is None:
            return ProcessExit(ExitKind.NOT_STARTED, None, self._failed), 0.0
        in_time = True
        try:
            await asyncio.wait_for(self._exited.wait(), max(0.0, self.began + seconds - time.monotonic()))
        except TimeoutError:
            in_time = False
        duration = time.monotonic() - self.began
        left = await self._bury(self._process)
        self.leftovers = left if in_time else 0
        for stream in self.streams:
            await stream.ended(_STREAM_SECONDS)
        if not in_time:
            return ProcessExit(ExitKind.TIMEOUT, None, f"still running after {seconds:g} s"), duration
        code = self._process.returncode
        kind = ExitKind.EXITED if code >= 0 else ExitKind.SIGNALED
        return ProcessExit(kind, abs(code)), duration

    async def _bury(self, process: "subprocess.Popen[bytes]") -> int:
        """Kill the group and every marked process until none is found; the number seen at first."""
        first = None
        end = time.monotonic() + _KILL_SECONDS
        while True:
            found = [pid for pid in await in_thread(self._marked) if pid != process.pid]
            first = len(found) if first is None else first
            self.strike()
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not found or time.monotonic() > end:
                break
        await self._exited.wait()
        process.wait()
        return first

    def _marked(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and self._is_marked(name)]  # noqa: PTH208

    def _is_marked(self, name: str) -> bool:
        try:
            return self._mark in Path("/proc", name, "environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def strike(self) -> None:
        """Kill the group, also one that is only just being started; :meth:`wait` and :meth:`close` see it end."""
        self._struck = True
        process = self._process
        if process is not None and process.returncode is None:  # unreaped, so its group's number is still its own
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Kill what still runs and release everything, cancelled or not; safe to call twice."""
        await finished(self._close())

    async def _close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            await self._bury(self._process)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        for stream in (*self.streams, self._input):
            if stream is not None:
                stream.close()
