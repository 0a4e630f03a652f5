"""An HTTP server on sockets that are already listening, cheap to start and to stop, in the caller's loop."""

import asyncio
import contextlib
import logging
import select
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import h11
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

Factory = Callable[[Config, ServerState], H11Protocol]

MAX_CONNECTIONS = 64
"""Connections one server holds at a time: a session must not use up the harness's descriptors."""
_QUIET_TURNS = 8
"""Turns of the loop, at least four, between a connection's arrival and the moment its bytes can be seen waiting."""
_QUIET = {
    "uvicorn.error": logging.CRITICAL,
    "uvicorn.access": logging.CRITICAL,
    "mcp": logging.CRITICAL,
    "httpx2": logging.WARNING,
    "httpcore2": logging.WARNING,
}


def quiet() -> None:
    """Silence the libraries' loggers, whose lines hold hostile text, unless a level was set for them on purpose."""
    for name, level in _QUIET.items():
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(level)


def no_delay(sock: socket.socket) -> None:
    """Switch Nagle's algorithm off: with it every small answer waits 40 ms for an acknowledgement."""
    if sock.family in {socket.AF_INET, socket.AF_INET6} and sock.type & socket.SOCK_STREAM:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def loopback_listener(port: int = 0) -> socket.socket:
    """A listening TCP socket on 127.0.0.1; port 0 picks a free one."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen(128)
    no_delay(sock)
    return sock


class ServiceProtocol(H11Protocol):
    """One connection. Applications find its transport in ``scope["state"]["transport"]``."""

    def __init__(self, config: Config, state: ServerState) -> None:
        super().__init__(config, state, {})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Make the transport known to applications."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            self.turned_away()
            transport.abort()
            return
        self.app_state = {"transport": transport}
        no_delay(transport.get_extra_info("socket"))

    def send_400_response(self, msg: str) -> None:
        """Answer a client that broke the protocol, if there is still room for an answer, and hang up.

        To the application it is a client that went away: whatever it still sends has nowhere to go.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            # An answer had already begun.
            self.transport.close()

    def turned_away(self) -> None:
        """Take note of a connection too many."""

    @property
    def listens(self) -> bool:
        """Whether what comes in is still read."""
        return not self.transport.is_closing()


def connected(scope: Scope) -> bool:
    """Whether the connection of a request is still open, so that bytes written to it can arrive."""
    transport: asyncio.Transport | None = scope.get("state", {}).get("transport")
    return transport is None or not transport.is_closing()


def is_disconnect(error: BaseException) -> bool:
    """Whether an error only says that the client went away or broke the protocol."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_disconnect, error.exceptions))
    return isinstance(error, ClientDisconnect | h11.LocalProtocolError)


class HttpServer:
    """Serves one ASGI application on several listening sockets.

    Neither a main loop nor signal handlers: it lives in the caller's event loop.

    Args:
        app: The ASGI application; its lifespan is not run.
        factory: Makes the protocol of a connection.
    """

    def __init__(self, app: ASGIApp, factory: Factory = ServiceProtocol) -> None:
        quiet()
        self.failures: list[Exception] = []
        """What the application itself raised; anything here is a defect of the harness, never of the agent."""
        self._app = app
        self._config = Config(
            self._guarded,
            http=ServiceProtocol,
            ws="none",
            interface="asgi3",
            lifespan="off",
            loop="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=600,
        )
        self._config.load()
        self._state = ServerState()
        self._factory = factory
        self._servers: list[asyncio.Server] = []
        self._sockets: list[socket.socket] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._stopped = False

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Accept connections on ``sockets``, which the server owns from now on."""
        self._sockets += sockets
        for sock in sockets:
            await self._serve(sock)

    def add(self, sock: socket.socket) -> None:
        """Accept connections on one more socket, which the server owns from now on."""
        if self._stopped:
            sock.close()
            return
        self._sockets.append(sock)
        task = asyncio.get_running_loop().create_task(self._serve(sock))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _serve(self, sock: socket.socket) -> None:
        no_delay(sock)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: self._factory(self._config, self._state), sock=sock)
        self._servers.append(server)

    async def stop(self, grace: float = 0.5) -> None:
        """Answer what has already arrived, for at most ``grace`` seconds, then close everything."""
        await settle(self._pending, grace)
        self._stopped = True
        await asyncio.gather(*self._starting, return_exceptions=True)
        for server in self._servers:
            server.close()
        for sock in self._sockets:
            sock.close()
        for task in tuple(self._state.tasks):
            task.cancel()
        await _wait(lambda: bool(self._state.tasks), 1.0)
        for connection in tuple(self._state.connections):
            connection.transport.abort()
        await _wait(lambda: bool(self._state.connections), 1.0)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # Otherwise uvicorn would answer 500, which no record knows of.
            scope["state"]["transport"].abort()
            raise
        except Exception as error:
            if is_disconnect(error) and not connected(scope):
                return
            self.failures.append(error)
            raise

    def _pending(self) -> bool:
        connections: list[Any] = [
            c for c in self._state.connections if isinstance(c, ServiceProtocol) and c.listens
        ]
        return bool(self._state.tasks or self._starting) or readable(
            [*self._sockets, *(c.transport.get_extra_info("socket") for c in connections)]
        )


def readable(sockets: Iterable[Any]) -> bool:
    """Whether bytes or connections wait in the kernel on any of the sockets; closed ones have none."""
    poll = select.poll()
    count = 0
    for sock in sockets:
        if sock is not None and sock.fileno() >= 0:
            poll.register(sock.fileno(), select.POLLIN)
            count += 1
    return bool(count and poll.poll(0))


async def settle(pending: Callable[[], bool], grace: float) -> None:
    """Let the loop take in what has already arrived, for at most ``grace`` seconds.

    A request sent just before its sender died is still evidence.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(grace):
            quiet_turns = turns = 0
            while quiet_turns < _QUIET_TURNS:
                await asyncio.sleep(0 if turns < 50 else 0.001)
                quiet_turns = 0 if pending() else quiet_turns + 1
                turns += 1


async def _wait(busy: Callable[[], bool], seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while busy():  # noqa: ASYNC110 - protocols end by callbacks that set no event
                await asyncio.sleep(0)
