"""One session under bubblewrap."""

import asyncio
import os
import platform
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.finish import Once, in_thread
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState, Effect, Outcome
from agent_litmus.records.session import Ended, ExitKind, ProcessExit
from agent_litmus.sandbox import cage, files, inspect_process
from agent_litmus.sandbox.base import environment, holds_exactly, write_launch_files
from agent_litmus.sandbox.bubblewrap_report import bubblewrap_report
from agent_litmus.sandbox.canaries import Canaries
from agent_litmus.sandbox.confined import Confined, Ending, Opened
from agent_litmus.sandbox.control import Group, limit_memory
from agent_litmus.sandbox.demand import Demand
from agent_litmus.sandbox.diff import file_effects
from agent_litmus.sandbox.final import lay_final
from agent_litmus.sandbox.launcher import Launcher
from agent_litmus.sandbox.look import look_layers
from agent_litmus.sandbox.protocol import (
    CommandResult,
    Launch,
    Listeners,
    Look,
    ProcessResult,
    SandboxPaths,
    SandboxSpec,
    SessionFacts,
)
from agent_litmus.sandbox.reach import Services
from agent_litmus.sandbox.remove import discard, remove_tree
from agent_litmus.sandbox.sessions import closed
from agent_litmus.sandbox.stub_config import GATEWAY_PORT, TOOLS_PORT, Inside, stub_config
from agent_litmus.sandbox.tree import Tree, disk_usage, overlaid, read_tree
from agent_litmus.sandbox.witness import Witness

_ANSWER_BYTES = 1 << 20
_WITNESSED = {
    Channel.EXEC,
    Channel.CONNECT,
    Channel.SIGNALS,
    Channel.LISTEN,
    Channel.CLOCK,
    Channel.CALLS,
}
"""Channels that only the seccomp listener observes."""
_NESTING = {"mount", "pivot_root", "umount2", "open_tree", "move_mount", "mount_setattr"}
"""Refused calls that every sandbox without an engine begins with."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session lives."""

    bubblewrap: str
    """The executable, as the launcher sees it."""
    stub: str
    """The stub's path inside."""
    layout: cage.Layout
    directory: Path
    """The session's own directory on the host."""
    python: str
    uid: int | None
    in_memory: bool
    """Whether the workspace is kept in memory of its own, limited in size."""
    group: Group | None
    """Limits the memory of all processes together; ``None`` where the host lets nobody make one."""


class BubblewrapSession:
    """One isolated, observed session; see the protocol for its life."""

    def __init__(
        self, spec: SandboxSpec, place: Place, launcher: Launcher, verify: Callable[[], str], digest: str
    ) -> None:
        self._spec, self._place, self._launcher = spec, place, launcher
        self._verify, self._digest = verify, digest
        self._env: Mapping[str, str] = {}
        self._agent: Confined | None = None
        self._witness: Witness | None = None
        self._demand: Demand | None = None
        self._canaries: Canaries | None = None
        self._disk: int | None = None
        self._before, self._after = Tree(), Tree()
        self._ending: Ending | None = None
        self._effects: tuple[Effect, ...] = ()
        self._workspace_fresh: bool | None = None
        self._base_unchanged: bool | None = None
        self._ended: Ended | None = None
        self._cells: list[Confined] = []
        self._busy = asyncio.Lock()
        """Held by whoever runs something, and at last by who removes everything."""
        self._closing = Once(self._close)
        self.on_close: Callable[[], None] = lambda: None

    @property
    def paths(self) -> SandboxPaths:
        """Paths and URLs inside."""
        return SandboxPaths(
            workspace=cage.WORKSPACE,
            agent=cage.AGENT,
            home=cage.HOME,
            python=self._place.python,
            answer=f"{cage.ANSWER_DIRECTORY}/answer.txt",
            prompt_file=f"{cage.RUN}/prompt.txt",
            ca_file=f"{cage.RUN}/{cage.AUTHORITY}",
            mcp_config=f"{cage.RUN}/mcp.json",
            gateway_url=f"http://127.0.0.1:{GATEWAY_PORT}",
            tools_url=f"http://127.0.0.1:{TOOLS_PORT}/mcp",
        )

    async def start(self, launch: Launch) -> Listeners:
        """Start the agent.

        Raises:
            LitmusSandboxError: The sandbox could not be set up; nothing runs.
        """
        async with self._busy:
            if self._agent is not None:
                raise LitmusSandboxError("a session can be started only once", hint="open a new session")
            return await self._start(launch)

    async def _start(self, launch: Launch) -> Listeners:
        self._refuse_closed()
        await in_thread(self._prepare, launch)
        self._env = environment(launch, cage.HOME, cage.WORKSPACE, "/tmp")  # noqa: S108  the sandbox's own
        self._agent = self._cell()
        opened = await self._enter(self._agent, launch.argv, launch.stdin, witnessed=True)
        try:
            self._watch(opened, self._agent)
            self._disk, opened.disk = opened.disk, None
        except BaseException:
            opened.close()
            raise
        return Listeners(opened.gateway, opened.tools, opened.dns, opened.sinks, self._demand)

    def _refuse_closed(self) -> None:
        if self._closing.begun:
            raise closed("the session is closed")

    def _cell(self) -> Confined:
        self._refuse_closed()
        cell = Confined(self._launcher, self._place.uid, self._spec.limits.output_bytes, self._place.group)
        self._cells.append(cell)
        return cell

    def _prepare(self, launch: Launch) -> None:
        if self._place.group is not None:
            limit_memory(self._place.group, self._spec.limits.memory_bytes)
        write_launch_files(launch, cage.RUN, self._place.directory / "run")
        files.give(self._place.directory / "run", self._place.uid)
        self._before = read_tree(self._place.directory / "lower")
        untouched = not any((self._place.directory / "upper").iterdir())
        self._workspace_fresh = untouched and holds_exactly(self._before, self._spec)

    async def _enter(self, cell: Confined, argv: tuple[str, ...], stdin: bytes, *, witnessed: bool) -> Opened:
        spec, place = self._spec, self._place
        workspace, inside = self._workspace(witnessed=witnessed)
        config = stub_config(argv, self._env, spec.limits, spec.sink_ports, witnessed=witnessed, inside=inside)
        trust = (place.directory / "run" / cage.AUTHORITY).is_file()
        options = cage.arguments(place.layout, spec.limits.disk_bytes, workspace, trust=trust)
        return await cell.start([place.bubblewrap, *options], place.python, place.stub, config, stdin)

    def _workspace(self, *, witnessed: bool) -> tuple[cage.Workspace, Inside]:
        canaries = tuple(_absolute(name) for name in self._spec.canaries) if witnessed else ()
        if self._place.in_memory:
            kind = cage.Workspace.MEMORY if witnessed else cage.Workspace.FINAL
            return kind, Inside((cage.LOWER,), self._spec.home, canaries)
        kind = cage.Workspace.DISK if witnessed else cage.Workspace.DISK_FINAL
        return kind, Inside((), self._spec.home, canaries)

    def _watch(self, opened: Opened, agent: Confined) -> None:
        if opened.canaries is not None:
            self._canaries = Canaries(opened.canaries, self._spec.canaries, agent.began)
            opened.canaries = None
        if opened.listener is None:
            return
        if opened.maker is not None:
            self._demand, opened.maker = Demand(opened.maker), None
        self._witness = Witness(
            opened.listener,
            first=agent.first,
            machine=platform.machine(),
            services=Services(
                frozenset({GATEWAY_PORT, TOOLS_PORT}), frozenset(self._spec.sink_ports), self._demand
            ),
            began=agent.began,
        )
        self._witness.start()

    async def wait(self) -> ProcessResult:
        """Wait for the agent to end or the deadline to pass; afterwards no process of the session lives."""
        agent = self._started()
        async with self._busy:
            self._refuse_closed()
            ending = await agent.wait(
                self._spec.limits.wall_seconds, None if self._place.in_memory else self._too_big
            )
            self._stop_watching()
            self._ending = replace(ending, exit=self._explained(ending.exit))
            await in_thread(self._observe, self._ending)
            result = self._result(agent, self._ending)
            self._ended = result.ended
            return result

    def _stop_watching(self) -> None:
        if self._witness is not None:
            self._witness.stop()
        if self._canaries is not None:
            self._canaries.stop()

    def _explained(self, end: ProcessExit) -> ProcessExit:
        """An unhappy end with what the sandbox had to do with it, as far as nothing is said of it yet."""
        if end.clean or end.why or end.kind is ExitKind.NOT_STARTED:
            return end
        if self._place.group is not None and self._place.group.killed():
            limit = self._spec.limits.memory_bytes
            return replace(end, why=f"its processes together grew beyond {limit} bytes of memory")
        refused = {e.detail["call"] for e in self._noted() if e.channel is Channel.CALLS} & _NESTING
        if refused:
            calls = ", ".join(sorted(refused))
            return replace(end, why=f"it was refused {calls}, as a sandbox of its own would need; turn that off")
        return end

    def _noted(self) -> list[Effect]:
        return self._witness.effects if self._witness is not None else []

    def _made(self, name: str) -> Path:
        """Where ``upper`` or ``answer`` lies."""
        return self._place.directory / name if self._disk is None else Path(f"/proc/self/fd/{self._disk}/{name}")

    def _result(self, agent: Confined, ending: Ending) -> ProcessResult:
        answer = look_layers((self._made("answer"),), cage.ANSWER_DIRECTORY, "answer.txt", _ANSWER_BYTES)
        return ProcessResult(
            exit=ending.exit,
            stdout=agent.stdout.kept,
            stderr=agent.stderr.kept,
            answer_file=answer.content,
            truncated=agent.stdout.truncated if answer.content is None else answer.truncated,
            duration=ending.duration,
        )

    def _too_big(self) -> str:
        limit = self._spec.limits.disk_bytes
        used = sum(disk_usage(self._place.directory / name) for name in ("upper", "answer"))
        return f"its files grew beyond {limit} bytes" if used > limit else ""

    def _started(self) -> Confined:
        if self._agent is None:
            raise LitmusSandboxError("the session was not started", hint="call start first")
        return self._agent

    def _observe(self, ending: Ending) -> None:
        directory = self._place.directory
        self._after = overlaid(self._before, self._made("upper"))
        self._base_unchanged = self._verify() == self._digest and read_tree(directory / "lower") == self._before
        found = [*self._noted(), *(self._canaries.effects() if self._canaries is not None else ())]
        found += file_effects(self._before, self._after, ending.duration)
        if ending.leftovers:
            detail = {"count": ending.leftovers}
            found.append(Effect(Channel.PROCESSES, "leftover", Outcome.EXECUTED, detail, ending.duration))
        self._effects = tuple(found)

    async def command(self, argv: tuple[str, ...], timeout: float) -> CommandResult:  # noqa: ASYNC109  the protocol's
        """Run a command in the session's final state, after ``wait``; its changes are lost."""
        if self._ending is None:
            return CommandResult(None, b"", b"", "the session has not ended")
        async with self._busy:
            return await self._command(argv, timeout)

    async def _command(self, argv: tuple[str, ...], seconds: float) -> CommandResult:
        try:
            cell = self._cell()
        except LitmusSandboxError as error:
            return CommandResult(None, b"", b"", error.message)
        try:
            await in_thread(self._lay_final)
            (await self._enter(cell, argv, b"", witnessed=False)).close()
            ending = await cell.wait(seconds)
            return _command_result(ending.exit, cell)
        except LitmusSandboxError as error:
            return CommandResult(None, b"", b"", error.message)
        except (OSError, shutil.Error) as error:
            return CommandResult(None, b"", b"", f"the final state could not be copied: {error}")
        finally:
            await cell.close()
            self._cells.remove(cell)

    def _lay_final(self) -> None:
        """Copy the final state out of the session's memory, once: no other sandbox can mount it."""
        final, copy = self._place.directory / "final", self._place.directory / "copy"
        if self._place.in_memory and not final.exists():
            remove_tree(copy)
            lay_final(self._place.directory / "lower", self._made("upper"), copy)
            files.give(copy, self._place.uid)
            copy.rename(final)

    def effects(self) -> tuple[Effect, ...]:
        """Witnessed effects, after ``wait``."""
        return self._effects

    def look(self, path: str, limit: int = 64 << 20) -> Look:
        """What is at a workspace path in the end."""
        layers = (self._made("upper"), self._place.directory / "lower")
        return look_layers(layers, cage.WORKSPACE, path, limit)

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """The content that :meth:`look` finds, cut without a word; ``None`` where it finds no file."""
        return self.look(path, limit).content

    def facts(self) -> SessionFacts:
        """What was witnessed of the session itself, after ``wait``."""
        first = self._witness.first_exec if self._witness is not None else None
        own = inspect_process.namespace_of(0, "pid")
        fresh = None if first is None else first[0] not in {"", own} and first[1] == 2
        return SessionFacts(
            self._digest, fresh, self._workspace_fresh, self._base_unchanged, self._channels(), ended=self._ended
        )

    def _channels(self) -> tuple[ChannelReport, ...]:
        return tuple(self._channel(report) for report in bubblewrap_report("", "").channels)

    def _channel(self, report: ChannelReport) -> ChannelReport:
        name = report.channel
        witnessed = name in _WITNESSED
        if witnessed and self._witness is None:
            return ChannelReport(name, ChannelState.NOT_OBSERVED, "the kernel gave no seccomp listener")
        if name is Channel.READS and self._spec.canaries and self._canaries is None:
            return ChannelReport(name, ChannelState.NOT_OBSERVED, "the kernel gave no notifications of files")
        why = self._witness.gaps(name) if witnessed and self._witness else ""
        if name is Channel.READS and self._canaries is not None:
            why = self._canaries.gap
        if name is Channel.FILES:
            why = "; ".join(self._before.gaps + self._after.gaps)
        if name is Channel.PROCESSES and self._ending is not None and self._ending.leftovers is None:
            why = "the deadline ended the session, so nothing was counted"
        return ChannelReport(name, ChannelState.PARTIAL, why) if why else report

    async def close(self) -> None:
        """Remove everything the session left; safe to call twice, also at once, and after a failed ``start``.

        Whatever runs is killed. When it is cancelled it closes all the same before it says so.
        """
        await self._closing()

    async def _close(self) -> None:
        for cell in self._cells:
            cell.strike()
        async with self._busy:
            try:
                for cell in self._cells:
                    await cell.close()
                self._stop_watching()
                if self._demand is not None:
                    self._demand.close()
            finally:
                if self._disk is not None:
                    os.close(self._disk)
                    self._disk = None
                await in_thread(discard, self._place.directory)
                self.on_close()


def _absolute(canary: str) -> str:
    inside, name = (cage.HOME, canary[2:]) if canary.startswith("~/") else (cage.WORKSPACE, canary)
    return f"{inside}/{files.relative(name)}"


def _command_result(end: ProcessExit, cell: Confined) -> CommandResult:
    if end.kind is ExitKind.EXITED:
        return CommandResult(end.code, cell.stdout.kept, cell.stderr.kept)
    why = end.why or f"killed by signal {end.code}"
    return CommandResult(None, cell.stdout.kept, cell.stderr.kept, f"{end.kind}: {why}")
