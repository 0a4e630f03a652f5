"""Attaches a session's services to its listeners, and takes them off again."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from agent_litmus.errors import LitmusError
from agent_litmus.finish import finished
from agent_litmus.services.datagrams import DatagramServer, lost_datagrams
from agent_litmus.services.gateway import GatewaySession
from agent_litmus.services.httpd import HttpServer, readable, settle
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession


class Demanded(Protocol):
    """Opens further sockets while the session runs."""

    def attach(self, take: Callable[[socket.socket], None]) -> None:
        """Give ``take`` every socket that was opened so far, and those that will be, in any thread."""

    def close(self) -> None:
        """Open nothing more."""


class ListenerSet(Protocol):
    """The sandbox's listeners; see ``sandbox/protocol.py``, which this layer does not import."""

    @property
    def gateway(self) -> socket.socket:
        """TCP, for the model gateway."""

    @property
    def tools(self) -> socket.socket:
        """TCP, for the tool server."""

    @property
    def dns(self) -> socket.socket | None:
        """UDP, for the DNS sink."""

    @property
    def http(self) -> tuple[socket.socket, ...]:
        """TCP, for the HTTP sink."""

    @property
    def demand(self) -> Demanded | None:
        """Further ones for the sink, TCP and UDP."""


class ServiceError(LitmusError):
    """A service of the harness itself failed, so the session proves nothing."""

    default_slug = "service"


@contextlib.asynccontextmanager
async def serve_session(
    listeners: ListenerSet,
    gateway: GatewaySession,
    tools: ToolSession,
    sink: SinkSession,
    *,
    grace: float = 0.5,
) -> AsyncIterator[None]:
    """Serve one session while the context lasts; afterwards every socket is closed.

    On exit, requests that had already arrived are still taken in, for at most ``grace`` seconds a service; then
    connections are cut, whatever the agent holds open. Effects and receipts are complete after the exit. After an
    error or a cancellation nothing more is taken in, but everything is closed all the same.

    Args:
        listeners: Bound, listening sockets; owned from now on, closed even on failure.
        gateway: The session's model gateway.
        tools: The session's tool server.
        sink: The session's DNS and HTTP sink.
        grace: Seconds.

    Raises:
        ServiceError: On exit, if a service failed by its own fault.
    """
    servers = (
        (HttpServer(gateway.app), (listeners.gateway,)),
        (HttpServer(tools.app), (listeners.tools,)),
        (HttpServer(sink.app, sink.protocol), listeners.http),
    )
    stack, patience = contextlib.AsyncExitStack(), _Patience(grace)
    stack.callback(_close, listeners)
    try:
        await finished(_start(stack, listeners, tools, sink, servers, patience))
        yield
    except BaseException:
        patience.seconds = 0.0
        raise
    finally:
        # A socket that is closed while the loop still watches it keeps the next one of its number from being heard.
        await finished(stack.aclose())
    failures = [*tools.failures, *(failure for server, _ in servers for failure in server.failures)]
    if failures:
        raise ServiceError(
            f"a service of the session failed: {type(failures[0]).__name__}: {failures[0]}",
            hint="This is a defect of the harness; please report it. The session is unassessed.",
        ) from failures[0]


@dataclass(slots=True)
class _Patience:
    """How long what has already arrived is still taken in."""

    seconds: float


async def _start(
    stack: contextlib.AsyncExitStack,
    listeners: ListenerSet,
    tools: ToolSession,
    sink: SinkSession,
    servers: tuple[tuple[HttpServer, tuple[socket.socket, ...]], ...],
    patience: _Patience,
) -> None:
    await stack.enter_async_context(tools.running())
    if listeners.dns is not None:
        await stack.enter_async_context(_dns(listeners.dns, sink, patience))
    for server, sockets in servers:
        stack.push_async_callback(_stop, server, patience)
        await server.start(sockets)
    if listeners.demand is not None:
        datagrams = DatagramServer(sink)
        stack.push_async_callback(_stop, datagrams, patience)
        listeners.demand.attach(_Receiver(asyncio.get_running_loop(), servers[-1][0], datagrams))


@dataclass(frozen=True, slots=True)
class _Receiver:
    """Takes the sockets that are opened on demand, in any thread, into the loop."""

    loop: asyncio.AbstractEventLoop
    streams: HttpServer
    datagrams: DatagramServer

    def __call__(self, sock: socket.socket) -> None:
        try:
            self.loop.call_soon_threadsafe(self._add, sock)
        except RuntimeError:  # the loop is closed
            sock.close()

    def _add(self, sock: socket.socket) -> None:
        server = self.datagrams if sock.type == socket.SOCK_DGRAM else self.streams
        server.add(sock)


async def _stop(server: HttpServer | DatagramServer, patience: _Patience) -> None:
    await server.stop(patience.seconds)


@contextlib.asynccontextmanager
async def _dns(sock: socket.socket, sink: SinkSession, patience: _Patience) -> AsyncIterator[None]:
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(sink.dns, sock=sock)
    try:
        yield
    finally:
        await settle(lambda: readable([sock]), patience.seconds)
        sink.lose(lost_datagrams(sock))
        transport.close()


def _close(listeners: ListenerSet) -> None:
    if listeners.demand is not None:
        listeners.demand.close()
    for sock in (listeners.gateway, listeners.tools, *listeners.http, *([listeners.dns] if listeners.dns else ())):
        sock.close()
