"""A small sandbox provider, to show what it takes to add one.

It is written from ``sandbox/protocol.py`` alone, with helpers of the package that any provider may use. It runs
agents as ordinary processes and says of itself what it sees (the workspace) and what it holds (next to nothing). No
run under it can pass.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    Effect,
    ProviderReport,
)
from agent_litmus.records.session import ExitKind, ProcessExit
from agent_litmus.sandbox import files
from agent_litmus.sandbox.diff import file_effects
from agent_litmus.sandbox.look import look_layers
from agent_litmus.sandbox.protocol import (
    CommandResult,
    Launch,
    Listeners,
    Look,
    ProcessResult,
    RunMounts,
    SandboxPaths,
    SandboxSpec,
    SessionFacts,
)
from agent_litmus.sandbox.remove import discard
from agent_litmus.sandbox.tree import read_tree

PROPERTIES = (
    "filesystem", "network", "pid", "ipc", "environment", "privileges", "syscalls", "processes", "memory", "disk",
    "file_size", "open_files", "output", "time",
)  # fmt: skip
"""Every containment property that the exam asks about."""
_SEEN = {
    Channel.FILES: "the workspace, compared before and after",
    Channel.TOOLS: "the session's own tool server",
    Channel.MODEL: "the session's own gateway",
    Channel.ANSWER: "answer file or standard output",
}
_HELD = {
    "output": (ContainmentState.ENFORCED, "what is over the limit is read and dropped"),
    "time": (ContainmentState.BEST_EFFORT, "the process group is killed; what left it escapes"),
}
_ANSWER_BYTES = 1 << 20
_STREAM_SECONDS = 1.0


def _report() -> ProviderReport:
    channels = tuple(
        ChannelReport(c, ChannelState.OBSERVED, _SEEN[c])
        if c in _SEEN
        else ChannelReport(c, ChannelState.NOT_OBSERVED, "nothing watches the agent")
        for c in Channel
    )
    nothing = (ContainmentState.NONE, "the agent is an ordinary process of this host")
    held = tuple(ContainmentReport(name, *_HELD.get(name, nothing)) for name in PROPERTIES)
    return ProviderReport("example-subprocess", "1", channels, held)


def _listener() -> socket.socket:
    sock = socket.create_server(("127.0.0.1", 0), backlog=128)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


class SubprocessProvider:
    """Runs agents as ordinary processes.

    Args:
        mounts: What every session may read; used where it lies.
    """

    def __init__(self, mounts: RunMounts) -> None:
        self._mounts = mounts
        self._open: set[SubprocessSession] = set()

    @property
    def report(self) -> ProviderReport:
        """What this provider observes and enforces: little."""
        return _report()

    async def open(self, spec: SandboxSpec) -> "SubprocessSession":
        """Make a session's workspace and paths; nothing runs yet."""
        session = SubprocessSession(spec, self._mounts, Path(tempfile.mkdtemp(prefix="litmus-example-")))
        self._open.add(session)
        return session

    async def close(self) -> None:
        """Close every session."""
        while self._open:
            await self._open.pop().close()


@dataclass(slots=True)
class _Kept:
    """The first bytes of a stream, and whether there were more."""

    data: bytes = b""
    cut: bool = False


class SubprocessSession:
    """One session; see the protocol for its life."""

    def __init__(self, spec: SandboxSpec, mounts: RunMounts, directory: Path) -> None:
        self._spec, self._directory = spec, directory
        self._gateway, self._tools = _listener(), _listener()
        self._process: subprocess.Popen[bytes] | None = None
        self._began = self._duration = 0.0
        self._streams = (_Kept(), _Kept())
        self._readers: list[asyncio.Task[None]] = []
        self._pipes: list[asyncio.ReadTransport] = []
        self._env: dict[str, str] = {}
        shutil.copytree(mounts.snapshot, directory / "agent", symlinks=True)
        for name in ("run", "answer", "workspace", "home"):
            (directory / name).mkdir()
        files.write_tree(directory / "workspace", spec.files)
        files.write_tree(directory / "home", spec.home)
        self._before = self._after = read_tree(directory / "workspace")
        self._paths = self._find_paths(str(mounts.python))

    @property
    def paths(self) -> SandboxPaths:
        """Paths and URLs on this host."""
        return self._paths

    def _find_paths(self, python: str) -> SandboxPaths:
        here = self._directory
        return SandboxPaths(
            workspace=str(here / "workspace"),
            agent=str(here / "agent"),
            home=str(here / "home"),
            python=python,
            answer=str(here / "answer" / "answer.txt"),
            prompt_file=str(here / "run" / "prompt.txt"),
            mcp_config=str(here / "run" / "mcp.json"),
            gateway_url=f"http://127.0.0.1:{self._gateway.getsockname()[1]}",
            tools_url=f"http://127.0.0.1:{self._tools.getsockname()[1]}/mcp",
        )

    async def start(self, launch: Launch) -> Listeners:
        """Start the agent; that it could not be started is told by :meth:`wait`."""
        files.write_tree(Path("/"), {name.lstrip("/"): text for name, text in launch.files.items()})
        self._env = {"PATH": "/usr/bin:/bin", "HOME": self.paths.home, "LANG": "C.UTF-8", **launch.env}
        self._began = time.monotonic()
        with contextlib.suppress(OSError, ValueError):
            self._process = self._spawn(launch)
            await self._pump(self._process)
        return Listeners(self._gateway, self._tools)

    def _spawn(self, launch: Launch) -> "subprocess.Popen[bytes]":
        with tempfile.TemporaryFile() as stdin:
            stdin.write(launch.stdin)
            stdin.seek(0)
            return subprocess.Popen(  # noqa: S603  running the agent is the point
                launch.argv,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
                cwd=self.paths.workspace,
                start_new_session=True,
            )

    async def _pump(self, process: "subprocess.Popen[bytes]") -> None:
        loop, limit = asyncio.get_running_loop(), self._spec.limits.output_bytes
        for pipe, kept in zip((process.stdout, process.stderr), self._streams, strict=True):
            reader = asyncio.StreamReader()
            transport, _ = await loop.connect_read_pipe(partial(asyncio.StreamReaderProtocol, reader), pipe)
            self._pipes.append(transport)
            self._readers.append(asyncio.ensure_future(_drain(reader, kept, limit)))

    async def wait(self) -> ProcessResult:
        """Wait for the agent to end or the deadline to pass, and kill its group."""
        end = await self._end()
        self._duration = time.monotonic() - self._began
        if self._readers:
            await asyncio.wait(self._readers, timeout=_STREAM_SECONDS)
        self._after = await asyncio.to_thread(read_tree, self._directory / "workspace")
        place = self._directory / "answer"
        answer = look_layers((place,), str(place), "answer.txt", _ANSWER_BYTES)
        out, err = self._streams
        cut = out.cut if answer.content is None else answer.truncated
        return ProcessResult(end, out.data, err.data, answer.content, cut, self._duration)

    async def _end(self) -> ProcessExit:
        process, seconds = self._process, self._spec.limits.wall_seconds
        if process is None:
            return ProcessExit(ExitKind.NOT_STARTED, None, "the command could not be executed")
        try:
            await asyncio.wait_for(_exited(process.pid), seconds)
        except TimeoutError:
            return ProcessExit(ExitKind.TIMEOUT, None, f"still running after {seconds:g} s")
        finally:
            _kill_group(process.pid)  # not reaped yet, so the number is still its own
            code = process.wait()
        return ProcessExit(ExitKind.EXITED if code >= 0 else ExitKind.SIGNALED, abs(code))

    async def command(self, argv: tuple[str, ...], timeout: float) -> CommandResult:  # noqa: ASYNC109  the protocol's
        """Run a command in the workspace."""
        try:
            done = await asyncio.to_thread(self._run, argv, timeout)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return CommandResult(None, b"", b"", f"the command failed: {error}")
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def _run(self, argv: tuple[str, ...], seconds: float) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(  # noqa: S603  the suite's own command
            argv, capture_output=True, check=False, env=self._env, cwd=self.paths.workspace, timeout=seconds
        )

    def effects(self) -> tuple[Effect, ...]:
        """What changed in the workspace."""
        return file_effects(self._before, self._after, self._duration)

    def look(self, path: str, limit: int = 64 << 20) -> Look:
        """What is at a workspace path in the end."""
        workspace = self._directory / "workspace"
        return look_layers((workspace,), str(workspace), path, limit)

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """The content that :meth:`look` finds."""
        return self.look(path, limit).content

    def facts(self) -> SessionFacts:
        """Nothing was verified; what could not be read of the workspace is told."""
        gaps = "; ".join(self._before.gaps + self._after.gaps)
        channels = (ChannelReport(Channel.FILES, ChannelState.PARTIAL, gaps),) if gaps else ()
        return SessionFacts("", process_fresh=None, workspace_fresh=None, base_unchanged=None, channels=channels)

    async def close(self) -> None:
        """Kill what is left of the group and remove everything."""
        if self._process is not None and self._process.returncode is None:
            _kill_group(self._process.pid)
            self._process.wait()
        for pipe in self._pipes:
            pipe.close()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        for sock in (self._gateway, self._tools):  # the caller has closed them already, if it was given them
            sock.close()
        await asyncio.to_thread(discard, self._directory)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


async def _exited(pid: int) -> None:
    """Wait for a child to end without reaping it."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    fd = os.pidfd_open(pid)
    loop.add_reader(fd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(fd)
        os.close(fd)


async def _drain(stream: asyncio.StreamReader, kept: _Kept, limit: int) -> None:
    """Read all of a stream and keep its beginning."""
    while piece := await stream.read(1 << 16):
        room = limit - len(kept.data)
        kept.data += piece[:room]
        kept.cut = kept.cut or len(piece) > room
