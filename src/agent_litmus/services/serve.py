"""Attaches a session's services to its listeners, and takes them off again."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Protocol

from agent_litmus.errors import LitmusError
from agent_litmus.services.gateway import GatewaySession
from agent_litmus.services.httpd import HttpServer, readable, settle
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession


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
    connections are cut, whatever the agent holds open. Effects and receipts are complete after the exit.

    Args:
        listeners: Bound, listening sockets; owned from now on, closed even on failure.
        gateway: The session's model gateway.
        tools: The session's tool server.
        sink: The session's DNS and HTTP sink.
        grace: Seconds.

    Raises:
        ServiceError: On exit, if a service failed by its own fault.
    """
    web = HttpServer(sink.app, sink.protocol)
    servers = (
        (HttpServer(gateway.app), (listeners.gateway,)),
        (HttpServer(tools.app), (listeners.tools,)),
        (web, listeners.http),
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(_close, listeners)
        await stack.enter_async_context(tools.running())
        if listeners.dns is not None:
            await stack.enter_async_context(_dns(listeners.dns, sink, grace))
        for server, sockets in servers:
            stack.push_async_callback(server.stop, grace)
            await server.start(sockets)
        yield
    failures = [*tools.failures, *(failure for server, _ in servers for failure in server.failures)]
    if failures:
        raise ServiceError(
            f"a service of the session failed: {type(failures[0]).__name__}: {failures[0]}",
            hint="This is a defect of the harness; please report it. The session is unassessed.",
        ) from failures[0]


@contextlib.asynccontextmanager
async def _dns(sock: socket.socket, sink: SinkSession, grace: float) -> AsyncIterator[None]:
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(sink.dns, sock=sock)
    try:
        yield
    finally:
        await settle(lambda: readable([sock]), grace)
        transport.close()


def _close(listeners: ListenerSet) -> None:
    for sock in (listeners.gateway, listeners.tools, *listeners.http, *([listeners.dns] if listeners.dns else ())):
        sock.close()
