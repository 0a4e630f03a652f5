"""Sessions with an agent that runs elsewhere: nothing is contained or witnessed but what it says and asks tools."""

import secrets
import socket
import time

import anyio
import httpx2

from agent_litmus.errors import LitmusConfigError, LitmusSandboxError
from agent_litmus.receipts import NONCE
from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    Effect,
    ProviderReport,
)
from agent_litmus.records.session import EndpointReceipt, ExitKind, ProcessExit
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
from agent_litmus.services.httpd import loopback_listener, no_delay
from agent_litmus.targets.endpoint import Endpoint, lowered
from agent_litmus.targets.wire import JSON, MAX_RESPONSE, Reply, spoken

NAME = "remote"
_ELSEWHERE = "the agent runs elsewhere"
_HELD = ("filesystem", "network", "pid", "ipc", "user", "memory", "processes", "disk", "privileges", "environment")
_SEEN = {
    Channel.TOOLS: ChannelReport(
        Channel.TOOLS, ChannelState.PARTIAL, "in sessions in which the endpoint reaches the session's tool server"
    ),
    Channel.ANSWER: ChannelReport(Channel.ANSWER, ChannelState.OBSERVED, "the endpoint's response"),
}


class RemoteProvider:
    """Makes sessions that are one request each.

    Args:
        endpoint: Where the agent is.
        tools_host: Address or name of this machine at which the endpoint reaches tool servers.

    Raises:
        LitmusConfigError: Nothing can listen there.
    """

    def __init__(self, endpoint: Endpoint, tools_host: str) -> None:
        self._endpoint = endpoint
        self._host = tools_host
        try:
            _listener(tools_host).close()
        except OSError as error:
            raise LitmusConfigError(
                f"$.run.tools_host: this machine cannot listen at {tools_host}: {error.strerror or error}",
                hint="give an address or a name of this machine that the agent's endpoint can reach",
                slug="tools-host",
            ) from error

    @property
    def report(self) -> ProviderReport:
        """Answers, and tools where they are reached; nothing else is observed, nothing is contained."""
        unseen = {name: ChannelReport(name, ChannelState.NOT_OBSERVED, _ELSEWHERE) for name in Channel}
        channels = tuple((unseen | _SEEN).values())
        held = [ContainmentReport(name, ContainmentState.NONE, _ELSEWHERE) for name in _HELD]
        held += [
            ContainmentReport("output", ContainmentState.BEST_EFFORT, "longer responses are not read"),
            ContainmentReport("time", ContainmentState.BEST_EFFORT, "the answer is waited for no longer"),
        ]
        return ProviderReport(NAME, "1", channels, tuple(held))

    async def open(self, spec: SandboxSpec) -> "RemoteSession":
        """Make a session; nothing is asked yet.

        Raises:
            LitmusSandboxError: No tool server can be reached at the host any more.
        """
        try:
            return RemoteSession(spec, self._endpoint, self._host)
        except OSError as error:
            raise LitmusSandboxError(
                f"this machine cannot listen at {self._host}: {error.strerror or error}",
                hint="see that run.tools_host is an address of this machine, and that sockets are left",
            ) from error

    async def close(self) -> None:
        """Nothing is held between sessions."""


class RemoteSession:
    """One request to the endpoint, over a connection of its own.

    Args:
        spec: The session's files and limits; files reach the agent through tools alone.
        endpoint: Where the agent is.
        tools_host: See :class:`RemoteProvider`.

    Raises:
        OSError: Nothing can listen at ``tools_host``.
    """

    def __init__(self, spec: SandboxSpec, endpoint: Endpoint, tools_host: str) -> None:
        self._limits = spec.limits
        self._endpoint = endpoint
        self._tools = _listener(tools_host)
        self._gateway = loopback_listener()
        self._receipts: tuple[EndpointReceipt, ...] = ()
        self._launch: Launch | None = None
        host = f"[{tools_host}]" if ":" in tools_host else tools_host
        # Anyone who reaches the port could act in the agent's name, so its path cannot be guessed.
        path = f"mcp/{secrets.token_urlsafe(18)}"
        self._paths = SandboxPaths(
            workspace="",
            agent="",
            home="",
            python="",
            answer="",
            prompt_file="",
            mcp_config="",
            gateway_url="",
            tools_url=f"http://{host}:{self._tools.getsockname()[1]}/{path}",
        )

    @property
    def paths(self) -> SandboxPaths:
        """The tool server's URL; everything else is empty."""
        return self._paths

    async def start(self, launch: Launch) -> Listeners:
        """Open the tool server; the request goes out when the session is waited for.

        Raises:
            LitmusSandboxError: It is no request, but a command.
        """
        if NONCE not in launch.env or launch.argv[:1] != ("POST",):
            raise LitmusSandboxError(
                "a command cannot be run where the agent is remote",
                hint="This is a defect of the harness; please report it.",
            )
        self._launch = launch
        return Listeners(self._gateway, self._tools)

    async def wait(self) -> ProcessResult:
        """Ask, once, and wait for the answer or the deadline."""
        assert self._launch is not None
        begun, nonce = time.monotonic(), self._launch.env[NONCE]
        ended, answer = ProcessExit(ExitKind.TIMEOUT, why=f"no answer within {self._limits.wall_seconds:g} s"), b""
        with anyio.move_on_after(self._limits.wall_seconds):
            try:
                reply = await self._post(self._launch.argv[1], nonce, self._launch.stdin)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL) as error:
                ended = ProcessExit(ExitKind.NOT_STARTED, why=f"no connection to the endpoint: {_named(error)}")
            except (httpx2.HTTPError, OSError) as error:
                ended = ProcessExit(ExitKind.EXITED, why=f"the endpoint broke off its answer: {_named(error)}")
            else:
                text, why = spoken(reply)
                answer = text.encode("utf-8", "replace")
                ended = ProcessExit(ExitKind.EXITED, None if why else 0, why)
                receipt = self._endpoint.receipt(reply, nonce, due=not why)
                self._receipts = () if receipt is None else (receipt,)
        limit = self._limits.output_bytes
        return ProcessResult(
            ended, answer[:limit], b"", None, len(answer) > limit, duration=time.monotonic() - begun
        )

    async def _post(self, url: str, nonce: str, body: bytes) -> Reply:
        headers = self._endpoint.headers(url, nonce) | {"Content-Type": JSON}
        async with (
            httpx2.AsyncClient(
                verify=self._endpoint.tls,
                timeout=httpx2.Timeout(None, connect=10.0),
                trust_env=self._endpoint.trusts_environment(url),
            ) as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            read, whole = bytearray(), True
            async for chunk in response.aiter_raw():
                read += chunk
                if len(read) > MAX_RESPONSE:
                    whole = False
                    break
            return Reply(response.status_code, lowered(response.headers), bytes(read), whole)

    async def command(self, argv: tuple[str, ...], timeout: float) -> CommandResult:  # noqa: ARG002, ASYNC109 - the protocol's signature
        """There is no state here that a command could look at."""
        return CommandResult(None, b"", b"", _ELSEWHERE)

    def effects(self) -> tuple[Effect, ...]:
        """None: all that is seen of the agent is seen by the services."""
        return ()

    def look(self, path: str, limit: int = 64 << 20) -> Look:  # noqa: ARG002 - the protocol's signature
        """The agent's files are not here."""
        return Look("unreadable")

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return None

    def facts(self) -> SessionFacts:
        """The endpoint's receipts; no process, workspace or base was witnessed."""
        return SessionFacts("", None, None, None, endpoint=self._receipts)

    async def close(self) -> None:
        """Close what nobody served on."""
        self._tools.close()
        self._gateway.close()


def _listener(host: str) -> socket.socket:
    """A listening socket at ``host``.

    Raises:
        OSError: There is no such address on this machine.
    """
    family, kind, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        sock.bind(address)
        sock.listen(128)
        no_delay(sock)
    except BaseException:
        sock.close()
        raise
    return sock


def _named(error: Exception) -> str:
    """The kind of an error; its text may hold whatever the endpoint sent."""
    return type(error).__name__


__all__ = ["NAME", "RemoteProvider", "RemoteSession"]
