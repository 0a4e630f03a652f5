"""One command inside one bubblewrap: started, handshaken, waited for, killed."""

import array
import asyncio
import contextlib
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.finish import finished, in_thread
from agent_litmus.records.session import ExitKind, ProcessExit
from agent_litmus.sandbox.control import Group
from agent_litmus.sandbox.launcher import Launcher, Spawn
from agent_litmus.sandbox.pump import Input, Output, pipe

if TYPE_CHECKING:
    import subprocess

_START_SECONDS = 30.0
_END_SECONDS = 10.0
_WATCH_SECONDS = 0.25
_MAX_FDS = 64
_FIXED = 3


@dataclass(slots=True)
class Opened:
    """What the stub passed out. Whoever takes it closes it."""

    gateway: socket.socket
    tools: socket.socket
    dns: socket.socket
    sinks: tuple[socket.socket, ...]
    listener: int | None
    maker: socket.socket | None = None
    """Asked for further sockets of the sandbox's network, it answers with one each."""
    disk: int | None = None
    """The memory the workspace's changes and the answer are kept in."""
    canaries: int | None = None
    """Tells of every reading of the canary files."""

    def close(self) -> None:
        """Close everything."""
        if self.maker is not None:
            self.maker.close()
        for sock in (self.gateway, self.tools, self.dns, *self.sinks):
            sock.close()
        for fd in (self.listener, self.disk, self.canaries):
            if fd is not None:
                os.close(fd)
        self.listener = self.disk = self.canaries = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How the command ended."""

    exit: ProcessExit
    duration: float
    leftovers: int | None
    """Processes that outlived the command; ``None``: not counted, because everything was killed at once."""


class Confined:
    """A running sandbox. ``start`` once, then ``wait`` once; ``strike`` at any time, ``close`` beside neither."""

    def __init__(self, launcher: Launcher, uid: int | None, output_bytes: int, group: Group | None = None) -> None:
        self._launcher, self._uid, self._output_bytes = launcher, uid, output_bytes
        self._group = group
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._maker: socket.socket | None = None
        self._exited = asyncio.Event()
        self._streams: list[Output] = []
        self._input: Input | None = None
        self._pidfds: list[int] = []
        self._struck = False
        self.first = 0
        """Pid of the sandbox's process 1 as the harness sees it."""
        self.began = time.monotonic()

    @property
    def stdout(self) -> Output:
        """Standard output."""
        return self._streams[0]

    @property
    def stderr(self) -> Output:
        """Standard error."""
        return self._streams[1]

    async def start(self, argv: Sequence[str], python: str, stub: str, config: bytes, stdin: bytes) -> Opened:
        """Start and wait until the stub has set everything up.

        Args:
            argv: bubblewrap and its options.
            python: Interpreter inside that runs the stub.
            stub: The stub's path inside.
            config: What the stub is told.
            stdin: Standard input of the command.

        Raises:
            LitmusSandboxError: The sandbox could not be set up; nothing runs.

        When it is cancelled, what it started is known and ends with :meth:`close`.
        """
        await finished(self._launch([*argv, python, "-I", "-S", stub], config, stdin))
        opened = await self._opened()
        try:
            await self._begin()
        except BaseException:
            opened.close()
            raise
        return opened

    async def _launch(self, argv: list[str], config: bytes, stdin: bytes) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._channel.setblocking(False)  # noqa: FBT003  the library's signature
        self._maker, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        told = os.memfd_create("litmus")
        ends = [pipe(self._uid) for _ in range(3)]
        try:
            os.write(told, config)
            os.lseek(told, 0, os.SEEK_SET)
            passed = (theirs.fileno(), told, asked.fileno())
            await self._spawn([*argv, *map(str, passed)], passed, ends)
        finally:
            for fd in (told, ends[0][0], ends[1][1], ends[2][1]):
                os.close(fd)
            theirs.close()
            asked.close()
        self._streams = [Output(fd, self._output_bytes).start() for fd in (ends[1][0], ends[2][0])]
        self._input = Input(ends[0][1], stdin).start()
        if self._struck:
            self.strike()

    async def _spawn(self, argv: list[str], fds: tuple[int, ...], ends: list[tuple[int, int]]) -> None:
        spawn = Spawn(argv, ends[0][0], ends[1][1], ends[2][1], fds, self._uid)
        try:
            self._process = await self._launcher.spawn(spawn)
        except (OSError, RuntimeError) as error:  # the latter: the launcher was closed
            for fd in (ends[0][1], ends[1][0], ends[2][0]):
                os.close(fd)
            raise LitmusSandboxError(
                f"bubblewrap could not be started: {error}",
                hint="run `litmus sandbox` to see what this host allows",
            ) from error
        pidfd = os.pidfd_open(self._process.pid)
        self._pidfds.append(pidfd)
        asyncio.get_running_loop().add_reader(pidfd, self._on_exit, pidfd)

    def _on_exit(self, pidfd: int) -> None:
        asyncio.get_running_loop().remove_reader(pidfd)
        self._exited.set()

    async def _opened(self) -> Opened:
        try:
            words, fds = await asyncio.wait_for(self._message(), _START_SECONDS)
        except TimeoutError:
            words, fds = ["fail", f"the sandbox was not ready after {_START_SECONDS:.0f} s"], []
        if words[0] != "ready" or len(fds) < _FIXED:
            for fd in fds:
                os.close(fd)
            await self.kill()
            reason = await self._reason(words)
            raise LitmusSandboxError(f"the sandbox could not be set up: {reason}", hint=_hint(reason))
        with contextlib.suppress(ProcessLookupError):
            self._pidfds.append(os.pidfd_open(self.first))
        others = {name: fds.pop() for name in reversed(words[1:])}
        sockets = [socket.socket(fileno=fd) for fd in fds]
        maker, self._maker = self._maker, None
        taken = (others.get(name) for name in ("witness", "disk", "canaries"))
        listener, disk, canaries = taken
        return Opened(sockets[0], sockets[1], sockets[2], tuple(sockets[_FIXED:]), listener, maker, disk, canaries)

    async def _begin(self) -> None:
        """Let the command start; nothing of it has run."""
        assert self._channel is not None
        if self._group is not None:
            await in_thread(self._join, self._group)
        self.began = time.monotonic()
        with contextlib.suppress(OSError):  # it was killed meanwhile, which ``wait`` sees
            self._channel.send(b"g")

    def _join(self, group: Group) -> None:
        """Put the command, which waits, into the control group."""
        try:
            waiting = _children(self.first)
        except OSError:  # killed meanwhile
            return
        for pid in waiting:
            try:
                group.add(pid)
            except ProcessLookupError:  # as above
                continue
            except OSError as error:
                raise LitmusSandboxError(
                    f"the session's memory could not be limited: {error}",
                    hint="let nobody else remove this run's control groups",
                ) from error

    async def _reason(self, words: list[str]) -> str:
        await self.stderr.ended(1.0)
        said = self.stderr.kept.decode(errors="replace").strip()
        return " ".join(filter(None, [*words[1:], said[-1000:]])) or "it ended without a word"

    async def _message(self) -> tuple[list[str], list[int]]:
        """The stub's next message; ``["fail"]`` once the sandbox is gone without one."""
        assert self._channel is not None
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._channel, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._channel)
        return self._take()

    def _take(self) -> tuple[list[str], list[int]]:
        assert self._channel is not None
        try:
            data, extra, _, _ = self._channel.recvmsg(
                1 << 16, socket.CMSG_SPACE(4 * _MAX_FDS) + socket.CMSG_SPACE(12)
            )
        except OSError:
            return ["fail"], []
        fds = array.array("i")
        for level, kind, content in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(content[: len(content) // 4 * 4])
            elif (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and data:
                self.first = struct.unpack("3i", content)[0]
        return (data.decode("utf-8", "replace").split("\0") if data else ["fail"]), list(fds)

    async def wait(self, seconds: float, watch: Callable[[], str] | None = None) -> Ending:
        """Wait for the end; afterwards no process of it lives.

        Args:
            seconds: It is killed that long after its start.
            watch: Asked again and again, in a thread; a reason it gives ends everything at once.
        """
        stopped = await self._stopped(seconds, watch)
        if stopped is not None:
            await self.kill()
        duration = time.monotonic() - self.began
        self._reap()
        for stream in self._streams:
            await stream.ended(_END_SECONDS)
        words, _ = self._take()
        return _ending(words, duration, stopped)

    async def _stopped(self, seconds: float, watch: Callable[[], str] | None) -> ProcessExit | None:
        """``None`` once it ended of itself, else why it must not go on."""
        while True:
            left = self.began + seconds - time.monotonic()
            try:
                await asyncio.wait_for(self._exited.wait(), max(0.0, min(left, _WATCH_SECONDS)))
            except TimeoutError:
                if left <= _WATCH_SECONDS:
                    return ProcessExit(ExitKind.TIMEOUT, None, f"still running after {seconds:g} s")
                if watch is not None and (why := await in_thread(watch)):
                    return ProcessExit(ExitKind.SIGNALED, signal.SIGKILL, why)
            else:
                return None

    def strike(self) -> None:
        """Kill everything, also what is only just being started; :meth:`wait` and :meth:`close` see it end."""
        self._struck = True
        if len(self._pidfds) > 1:  # process 1: its end is the end of all others
            _send(self._pidfds[1], signal.SIGKILL)
        elif self._process is not None and self._pidfds:
            _kill_unready(self._process.pid, self._pidfds[0])

    async def kill(self) -> None:
        """Kill everything and wait until it is gone; not beside :meth:`close`."""
        if self._process is None:
            return
        self.strike()
        try:
            await asyncio.wait_for(self._exited.wait(), _END_SECONDS)
        except TimeoutError:
            for pidfd in self._pidfds:
                _send(pidfd, signal.SIGKILL)
        self._reap()

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()

    async def close(self) -> None:
        """Kill what still runs and release everything, cancelled or not; safe to call twice."""
        await finished(self._close())

    async def _close(self) -> None:
        await self.kill()
        if self._pidfds:
            asyncio.get_running_loop().remove_reader(self._pidfds[0])
        while self._pidfds:
            os.close(self._pidfds.pop())
        for stream in (*self._streams, self._input):
            if stream is not None:
                stream.close()
        for sock in (self._channel, self._maker):
            if sock is not None:
                sock.close()
        self._channel = self._maker = None
        self._process = None


def _send(pidfd: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def _children(pid: int) -> list[int]:
    """Children of a process; raises ``OSError``."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def _kill_unready(pid: int, pidfd: int) -> None:
    """Kill a bubblewrap that is still setting its sandbox up, child first.

    A child whose parent is killed before it asked to die with it waits for that parent for ever.
    """
    _send(pidfd, signal.SIGSTOP)
    try:
        os.waitid(os.P_PIDFD, pidfd, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        children = _children(pid)
    except OSError:  # gone and waited for
        return
    for child in children:  # nobody waits for it while its parent is stopped, so the number is still its own
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _send(pidfd, signal.SIGCONT if children else signal.SIGKILL)


def _ending(words: list[str], duration: float, stopped: ProcessExit | None) -> Ending:
    if len(words) == 5 and words[0] == "end":
        kind = ExitKind(words[1])
        code = None if kind is ExitKind.NOT_STARTED else int(words[2])
        return Ending(ProcessExit(kind, code, words[3]), duration, int(words[4]))
    why = "the sandbox ended without saying how; the machine may be out of memory"
    return Ending(stopped or ProcessExit(ExitKind.HARNESS_ERROR, None, why), duration, None)


def _hint(reason: str) -> str:
    if "overlay" in reason:
        return (
            "set TMPDIR to a directory on a file system that can hold an overlay's upper layer (ext4, xfs, tmpfs)"
        )
    return (
        "allow unprivileged user namespaces on this host (sysctl user.max_user_namespaces, "
        "kernel.apparmor_restrict_unprivileged_userns; a container needs them from its runtime), or choose the "
        'degraded provider with `provider = "process"`'
    )
