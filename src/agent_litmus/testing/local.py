"""A session's services on loopback ports, without a sandbox: to try an agent or a client against them."""

import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

from agent_litmus.records.config import ModelConfig
from agent_litmus.records.probe import Environment
from agent_litmus.sandbox.protocol import Listeners
from agent_litmus.services.authority import Authority
from agent_litmus.services.gateway import Gateway, GatewaySession, upstream_client
from agent_litmus.services.httpd import loopback_listener
from agent_litmus.services.outbound import Inspect
from agent_litmus.services.serve import serve_session
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession


@dataclass(frozen=True, slots=True)
class LocalSession:
    """Services being served, and where."""

    gateway: GatewaySession
    tools: ToolSession
    sink: SinkSession
    listeners: Listeners
    gateway_url: str
    """Without ``/v1``."""
    tools_url: str
    http_urls: tuple[str, ...]
    dns_address: tuple[str, int]


def local_listeners(*, sinks: int = 1) -> Listeners:
    """Listeners as a sandbox would hand them over, on free ports of 127.0.0.1."""
    dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    dns.bind(("127.0.0.1", 0))
    return Listeners(
        loopback_listener(), loopback_listener(), dns, tuple(loopback_listener() for _ in range(sinks))
    )


@contextlib.asynccontextmanager
async def local_session(
    upstream: str = "",
    *,
    model: ModelConfig | None = None,
    api_key: str | None = None,
    environment: Environment | None = None,
    watch: tuple[str, ...] = (),
    inspect: Inspect | None = None,
    authority: Authority | None = None,
    timeout: float = 30.0,  # noqa: ASYNC109 - the upstream's longest silence, not a deadline of this function
    grace: float = 0.5,
    max_response: int = 32 << 20,
    max_request: int = 8 << 20,
) -> AsyncIterator[LocalSession]:
    """Serve one session; effects and receipts are complete after the context has ended.

    Args:
        upstream: The model's base URL, ending in ``/v1``; empty for none.
        model: The allowed model and the caps; model id ``m`` unless given.
        api_key: The upstream's key.
        environment: The expanded environment; an empty one unless given.
        watch: Texts whose sending is witnessed.
        inspect: Names of what it finds in a text that leaves.
        authority: Signs the certificates of the HTTPS sink; without one there is none.
        timeout: Longest silence of the upstream in seconds.
        grace: Seconds that requests under way get at the end.
        max_response: Largest answer of the upstream in bytes.
        max_request: Largest request in bytes.
    """
    world = environment or Environment("empty")
    listeners = local_listeners()
    urls = [f"http://127.0.0.1:{s.getsockname()[1]}" for s in (listeners.gateway, listeners.tools, *listeners.http)]
    assert listeners.dns is not None
    address = listeners.dns.getsockname()
    async with upstream_client(upstream, timeout=timeout) as client:
        gateway = Gateway(
            upstream,
            api_key,
            model or ModelConfig(id="m"),
            client,
            max_request=max_request,
            max_response=max_response,
        ).session("local")
        tools = ToolSession(world, watch=watch, inspect=inspect)
        sink = SinkSession(world, watch=watch, inspect=inspect, authority=authority)
        async with serve_session(listeners, gateway, tools, sink, grace=grace):
            yield LocalSession(gateway, tools, sink, listeners, urls[0], f"{urls[1]}/mcp", tuple(urls[2:]), address)
