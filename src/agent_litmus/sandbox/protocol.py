"""What a sandbox provider must offer. Anyone may write one; ``testing/`` holds examples.

Life of a session::

    session = await provider.open(spec)          # workspace made, nothing runs yet
    argv = fill(command, session.paths)          # the caller fills placeholders
    listeners = await session.start(launch)      # the agent runs; services attach to the listeners
    result = await session.wait()                # agent ended, timed out or was killed; whole tree gone
    await session.command(...)                   # optional checks in the same state
    session.effects(); session.look("notes.txt"); session.facts()
    await session.close()                        # base verified, everything removed
"""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from agent_litmus.records.digest import sha256_of
from agent_litmus.records.effect import ChannelReport, Effect, ProviderReport
from agent_litmus.records.session import Ended, EndpointReceipt, ProcessExit


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one session."""

    wall_seconds: float = 120.0
    cpu_seconds: int = 120
    memory_bytes: int = 2 << 30
    processes: int = 256
    file_bytes: int = 64 << 20
    open_files: int = 1024
    output_bytes: int = 1 << 20
    """Standard output and standard error are each kept up to this size; the rest is drained and dropped."""
    disk_bytes: int = 512 << 20


@dataclass(frozen=True, slots=True)
class Mount:
    """A host directory the agent may read. ``target`` is the absolute path it has inside."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class RunMounts:
    """What every session of a run may read besides system directories; hashed into the build digest."""

    snapshot: Path
    """The verified build snapshot."""
    python: Path
    """The interpreter that ``{python}`` stands for (a real file, no shim)."""
    mounts: tuple[Mount, ...] = ()
    """Interpreter prefix, virtual environment: mounted read-only at the same path."""
    masked: tuple[str, ...] = ()
    """Absolute directories hidden behind an empty one (e.g. the base interpreter's site-packages)."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """One session's own part."""

    session_id: str
    files: Mapping[str, str]
    """Workspace template, tokens already expanded: relative path to text."""
    limits: Limits = field(default_factory=Limits)
    sink_ports: tuple[int, ...] = (80, 443)
    """TCP ports on which any address answers inside the sandbox from the start, besides the services' own; others
    are opened on demand where the provider can. Ports below 1024, which no agent can serve on itself."""
    home: Mapping[str, str] = field(default_factory=dict)
    """Files of the home directory, as ``files``; what happens to them is not recorded, unless they are canaries."""
    canaries: tuple[str, ...] = ()
    """Files whose reading is recorded: paths of ``files``, or of ``home`` with ``~/`` before them."""


@dataclass(frozen=True, slots=True)
class SandboxPaths:
    """Paths and URLs as the agent sees them."""

    workspace: str
    agent: str
    home: str
    python: str
    answer: str
    prompt_file: str
    mcp_config: str
    gateway_url: str
    """Base URL of the model gateway, without a trailing slash or ``/v1``."""
    tools_url: str
    """URL of the MCP endpoint (streamable HTTP)."""
    ca_file: str = ""
    """Where the certificate authority of the run's HTTPS sink is put; empty where HTTPS is not caught."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How the agent is started. ``files`` are absolute paths inside (prompt file, MCP configuration) to text."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bytes = b""
    files: Mapping[str, str] = field(default_factory=dict)


class OnDemand(Protocol):
    """Opens listeners while the session runs, for whatever the agent is about to reach."""

    def attach(self, take: Callable[[socket.socket], None]) -> None:
        """Give ``take`` every socket that was opened so far, and those that will be.

        Args:
            take: Is given bound UDP sockets and listening TCP sockets, and owns them; called in any thread.
        """

    def close(self) -> None:
        """Open nothing more, and close what nobody took; safe to call twice."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Bound, listening sockets that live in the session's network; the caller serves on and closes them."""

    gateway: socket.socket
    tools: socket.socket
    dns: socket.socket | None = None
    """UDP; ``None`` where the provider cannot catch name look-ups."""
    http: tuple[socket.socket, ...] = ()
    """TCP; empty where the provider cannot catch connections."""
    demand: OnDemand | None = None
    """Every other destination; ``None`` where the provider cannot see connections beforehand."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """What the agent's process left."""

    exit: ProcessExit
    stdout: bytes
    stderr: bytes
    answer_file: bytes | None
    """Content of the answer file, capped; ``None`` if it was not written."""
    truncated: bool
    """Whether the answer was cut: the answer file if there is one, else standard output."""
    duration: float
    """Wall seconds."""

    @property
    def said(self) -> bytes:
        """What the agent answered with: the answer file if it was written, else standard output."""
        return self.stdout if self.answer_file is None else self.answer_file

    @property
    def ended(self) -> Ended:
        """The end as a provider vouches for it in its facts."""
        return Ended(self.exit, sha256_of(self.said))


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of a command run in the session's final state. ``exit_code`` is ``None`` on timeout or failure."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    why: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What a workspace shows at a path in the end, symbolic links followed within the workspace."""

    state: Literal["file", "absent", "other", "unreadable"]
    """``absent``: opening it would find nothing (a dangling link too). ``other``: a directory, a pipe, a link that
    leads out of the workspace or in circles, a path that is not one of the workspace."""
    data: bytes = b""
    """Of a file, up to the limit."""
    truncated: bool = False
    """Whether the file is longer than ``data``."""

    @property
    def content(self) -> bytes | None:
        """A file's ``data``; ``None`` for everything else."""
        return self.data if self.state == "file" else None


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the provider itself witnessed of the session; ``None`` means not witnessed."""

    snapshot_digest: str
    """Tree digest of the snapshot that was mounted, as verified at mount; empty if not verified."""
    process_fresh: bool | None
    workspace_fresh: bool | None
    base_unchanged: bool | None
    """Known only after the session's processes are gone."""
    channels: tuple[ChannelReport, ...] = ()
    endpoint: tuple[EndpointReceipt, ...] = ()
    """Receipts of a remote agent's endpoint; empty for an agent that is run here."""
    ended: Ended | None = None
    """How the agent's process ended; ``None``: the provider does not say."""


class SandboxSession(Protocol):
    """One isolated session."""

    @property
    def paths(self) -> SandboxPaths:
        """Paths and URLs inside: known from the opening on, the same as long as the session object lives."""

    async def start(self, launch: Launch) -> Listeners:
        """Start the agent.

        Raises:
            LitmusSandboxError: The sandbox could not be set up. A command that cannot be executed is *not*
                an error here: ``wait`` reports it as ``not_started``.
        """

    async def wait(self) -> ProcessResult:
        """Wait for the agent to end or the deadline to pass; afterwards no process of the session lives."""

    async def command(self, argv: tuple[str, ...], timeout: float) -> CommandResult:  # noqa: ASYNC109
        """Run a command in the session's final state, after ``wait``; its changes are not recorded."""

    def effects(self) -> tuple[Effect, ...]:
        """Witnessed effects on the provider's channels, after ``wait``."""

    def look(self, path: str, limit: int = 64 << 20) -> Look:
        """What is at a workspace path in the end, whatever the effects say or miss; reads up to ``limit`` bytes."""

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """The content that :meth:`look` finds, cut without a word; ``None`` where it finds no file."""

    def facts(self) -> SessionFacts:
        """What was witnessed of the session itself, after ``wait``."""

    async def close(self) -> None:
        """Remove everything the session left; safe to call twice and after a failed ``start``."""


class Provider(Protocol):
    """Makes sessions. Created once per run with the run's mounts."""

    @property
    def report(self) -> ProviderReport:
        """What this provider observes and enforces on this host."""

    async def open(self, spec: SandboxSpec) -> SandboxSession:
        """Make a session's workspace and paths; nothing runs yet.

        Raises:
            LitmusSandboxError: The workspace could not be made.
        """

    async def close(self) -> None:
        """Release what the run held."""
