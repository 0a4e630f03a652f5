"""One session of the process provider."""

import asyncio
import os
import shutil
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.finish import Once, in_thread
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState, Effect, Outcome
from agent_litmus.records.session import Ended, ExitKind, ProcessExit
from agent_litmus.sandbox import files
from agent_litmus.sandbox.base import environment, holds_exactly, write_launch_files
from agent_litmus.sandbox.child import Child
from agent_litmus.sandbox.diff import file_effects
from agent_litmus.sandbox.look import look_layers
from agent_litmus.sandbox.process_report import process_report
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
from agent_litmus.sandbox.remove import discard, remove_tree
from agent_litmus.sandbox.sessions import closed
from agent_litmus.sandbox.tree import Tree, read_tree

_ANSWER_BYTES = 1 << 20


def _listen() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.bind(("127.0.0.1", 0))
    sock.listen(128)
    return sock


class ProcessSession:
    """One uncontained session; see the protocol for its life."""

    def __init__(self, spec: SandboxSpec, mounts: RunMounts, verify: Callable[[], str], directory: Path) -> None:
        self._spec, self._mounts, self._verify, self._directory = spec, mounts, verify, directory
        self._workspace, self._final = directory / "workspace", directory / "final"
        self._gateway, self._tools = _listen(), _listen()
        self._paths = self._find_paths()
        self._env: Mapping[str, str] = {}
        self._agent: Child | None = None
        self._before, self._after = Tree(), Tree()
        self._effects: tuple[Effect, ...] = ()
        self._digest = ""
        self._fresh: bool | None = None
        self._unchanged: bool | None = None
        self._end: Ended | None = None
        self._ended = self._handed_over = False
        self._children: list[Child] = []
        self._busy = asyncio.Lock()
        """Held by whoever runs something, and at last by who removes everything."""
        self._closing = Once(self._close)
        self.on_close: Callable[[], None] = lambda: None

    def prepare(self) -> None:
        """Make the directories and write the template."""
        # No mount keeps an agent from writing beside its own code (as root not even the modes do): a copy does.
        shutil.copytree(self._mounts.snapshot, self._directory / "agent", symlinks=True)
        self._digest = files.tree_digest(self._directory / "agent")
        for name in ("workspace", "home", "tmp", "run", "answer"):
            (self._directory / name).mkdir()
        files.write_tree(self._workspace, self._spec.files)
        files.write_tree(self._directory / "home", self._spec.home)
        self._before = read_tree(self._workspace)
        self._fresh = holds_exactly(self._before, self._spec)

    @property
    def paths(self) -> SandboxPaths:
        """Paths and URLs on this host."""
        return self._paths

    def _find_paths(self) -> SandboxPaths:
        return SandboxPaths(
            workspace=str(self._workspace),
            agent=str(self._directory / "agent"),
            home=str(self._directory / "home"),
            python=str(self._mounts.python),
            answer=str(self._directory / "answer" / "answer.txt"),
            prompt_file=str(self._directory / "run" / "prompt.txt"),
            mcp_config=str(self._directory / "run" / "mcp.json"),
            gateway_url=f"http://127.0.0.1:{self._gateway.getsockname()[1]}",
            tools_url=f"http://127.0.0.1:{self._tools.getsockname()[1]}/mcp",
        )

    async def start(self, launch: Launch) -> Listeners:
        """Start the agent.

        Raises:
            LitmusSandboxError: The session was started before, or a file lies outside it.
        """
        async with self._busy:
            if self._agent is not None:
                raise LitmusSandboxError("a session can be started only once", hint="open a new session")
            await self._start(launch)
            self._handed_over = True
            return Listeners(self._gateway, self._tools)

    async def _start(self, launch: Launch) -> None:
        write_launch_files(launch, str(self._directory / "run"), self._directory / "run")
        paths = self.paths
        self._env = environment(launch, paths.home, paths.workspace, str(self._directory / "tmp"))
        self._agent = self._child()
        await self._agent.start(launch.argv, self._env, self._workspace, launch.stdin)
        self._refuse_closed()

    def _refuse_closed(self) -> None:
        if self._closing.begun:
            raise closed("the session is closed")

    def _child(self) -> Child:
        self._refuse_closed()
        child = Child(self._spec.session_id, self._spec.limits)
        self._children.append(child)
        return child

    async def wait(self) -> ProcessResult:
        """Wait for the agent to end or the deadline to pass; what can be found of it is killed."""
        agent = self._agent
        if agent is None:
            raise LitmusSandboxError("the session was not started", hint="call start first")
        async with self._busy:
            self._refuse_closed()
            end, duration = await agent.wait(self._spec.limits.wall_seconds)
            await in_thread(self._observe, agent, duration)
            self._ended = True
            result = self._result(agent, end, duration)
            self._end = result.ended
            return result

    def _result(self, agent: Child, end: ProcessExit, duration: float) -> ProcessResult:
        stdout, stderr = agent.streams
        directory = self._directory / "answer"
        answer = look_layers((directory,), str(directory), "answer.txt", _ANSWER_BYTES)
        return ProcessResult(
            exit=end,
            stdout=stdout.kept,
            stderr=stderr.kept,
            answer_file=answer.content,
            truncated=stdout.truncated if answer.content is None else answer.truncated,
            duration=duration,
        )

    def _observe(self, agent: Child, duration: float) -> None:
        self._after = read_tree(self._workspace)
        self._unchanged = self._verify() == self._digest
        found = list(file_effects(self._before, self._after, duration))
        if agent.leftovers:
            detail = {"count": agent.leftovers}
            found.append(Effect(Channel.PROCESSES, "leftover", Outcome.EXECUTED, detail, duration))
        self._effects = tuple(found)

    async def command(self, argv: tuple[str, ...], timeout: float) -> CommandResult:  # noqa: ASYNC109  the protocol's
        """Run a command in the session's final state, after ``wait``; what it changes there is undone."""
        if not self._ended:
            return CommandResult(None, b"", b"", "the session has not ended")
        async with self._busy:
            return await self._command(argv, timeout)

    async def _command(self, argv: tuple[str, ...], seconds: float) -> CommandResult:
        try:
            child = self._child()
        except LitmusSandboxError as error:
            return CommandResult(None, b"", b"", error.message)
        try:
            await in_thread(self._restore)
            await child.start(argv, self._env, self._workspace, b"")
            end, _ = await child.wait(seconds)
        except (OSError, shutil.Error) as error:
            return CommandResult(None, b"", b"", f"the final state could not be copied: {error}")
        finally:
            await child.close()
            self._children.remove(child)
        stdout, stderr = (stream.kept for stream in child.streams)
        if end.kind is ExitKind.EXITED:
            return CommandResult(end.code, stdout, stderr)
        return CommandResult(None, stdout, stderr, f"{end.kind}: {end.why or f'killed by signal {end.code}'}")

    def _restore(self) -> None:
        """Keep the final state aside, once, and lay a copy of it out as the workspace."""
        if not self._final.exists():
            copy = self._directory / "copy"
            remove_tree(copy)
            if self._workspace.is_dir() and not self._workspace.is_symlink():
                shutil.copytree(self._workspace, copy, symlinks=True, ignore=_special)
            else:
                copy.mkdir()
            copy.rename(self._final)
        remove_tree(self._workspace)
        shutil.copytree(self._final, self._workspace, symlinks=True)

    def effects(self) -> tuple[Effect, ...]:
        """Effects on the workspace, after ``wait``."""
        return self._effects

    def look(self, path: str, limit: int = 64 << 20) -> Look:
        """What is at a workspace path in the end."""
        root = self._final if self._final.exists() else self._workspace
        return look_layers((root,), str(self._workspace), path, limit)

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """The content that :meth:`look` finds, cut without a word; ``None`` where it finds no file."""
        return self.look(path, limit).content

    def facts(self) -> SessionFacts:
        """What was seen of the session itself; that its process was new is not witnessed."""
        return SessionFacts(self._digest, None, self._fresh, self._unchanged, self._channels(), ended=self._end)

    def _channels(self) -> tuple[ChannelReport, ...]:
        gaps = "; ".join(self._before.gaps + self._after.gaps)
        partial = ChannelReport(Channel.FILES, ChannelState.PARTIAL, gaps)
        channels = process_report("").channels
        return tuple(partial if gaps and c.channel is Channel.FILES else c for c in channels)

    async def close(self) -> None:
        """Remove everything the session left; safe to call twice, also at once, and after a failed ``start``.

        Whatever runs is killed. When it is cancelled it closes all the same before it says so.
        """
        await self._closing()

    async def _close(self) -> None:
        for child in self._children:
            child.strike()
        async with self._busy:
            try:
                if not self._handed_over:  # else the caller owns them
                    self._gateway.close()
                    self._tools.close()
                for child in self._children:
                    await child.close()
            finally:
                await in_thread(discard, self._directory)
                self.on_close()


def _special(directory: str, names: list[str]) -> set[str]:
    """Names of what cannot be copied: pipes, sockets, devices."""
    kinds = {name: os.lstat(f"{directory}/{name}").st_mode for name in names}
    return {n for n, mode in kinds.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))}
