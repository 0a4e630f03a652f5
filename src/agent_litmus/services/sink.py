"""The sink: plays whatever the agent reaches for beyond its services, by name (DNS) and over plain HTTP."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.probe import Environment
from agent_litmus.services.dns import DnsSink, Names
from agent_litmus.services.httpd import ServiceProtocol, connected
from agent_litmus.services.outbound import BodySearch, Inspect
from agent_litmus.services.pages import EMPTY_PAGE, find_page
from agent_litmus.services.recorder import TEXT_LIMIT, Clock, EffectLog, Witness, session_clock

IDLE = 5.0
"""Seconds a connection may stay silent before its first complete request."""
_TLS_HANDSHAKE = 0x16


class SinkSession:
    """One session's outside world.

    Args:
        environment: The expanded environment; its pages are served.
        watch: Texts whose sending is witnessed (the injected text).
        clock: Seconds since the session's start.
        inspect: Names of what it finds in a text; called with everything that leaves, before any of it is cut.
    """

    def __init__(
        self,
        environment: Environment,
        watch: tuple[str, ...] = (),
        *,
        clock: Clock | None = None,
        inspect: Inspect | None = None,
    ) -> None:
        self.inspect = inspect
        self._pages = environment.pages
        self._witness = Witness(watch)
        self._names = Names()
        self._log = EffectLog(clock or session_clock())

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Effects on the channels ``dns`` and ``http``, in order; complete once serving has ended."""
        return self._log.effects

    @property
    def dropped(self) -> int:
        """Effects not kept and connections not read; above zero the channels were only partially observed."""
        return self._log.dropped

    @property
    def sent(self) -> frozenset[str]:
        """The watched texts that stood in pages sent over an open connection."""
        return self._witness.sent

    def dns(self) -> DnsSink:
        """The datagram protocol for the DNS socket."""
        return DnsSink(self._log, self._names, self.inspect)

    def protocol(self, config: Config, state: ServerState) -> "SinkProtocol":
        """The protocol of one TCP connection."""
        return SinkProtocol(config, state, self)

    def lose(self) -> None:
        """Count a connection whose bytes nobody read."""
        self._log.dropped += 1

    def record_bytes(self, local: Any, held: "Held") -> None:
        """Record what came over a connection and was no request; ``local`` is its address on our side."""
        address, port = local or ("", 0)
        name = self._names.name(address)
        detail: dict[str, Any] = {
            "host": name,
            "resolved": name,
            "port": port,
            "size": held.size,
            "head": _text(held.head),
        }
        detail["carries"] = held.search.found()
        self._log.add(Channel.HTTP, "bytes", Outcome.EXECUTED, detail, clipped=held.size > len(held.head))

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application: take the request, record it, answer it."""
        address, port = scope["server"] or ("", 0)
        headers = _headers(scope)
        host, path = _target(scope, headers.get("host", ""))
        resolved = self._names.name(address)
        body = Held(BodySearch(self.inspect, _head(scope, headers), headers.get("content-encoding", "")))
        try:
            await _take(receive, body)
        finally:
            # Also when the session ends meanwhile: what arrived has left the sandbox.
            detail = {
                "method": scope["method"],
                "host": _bare(host) or resolved,
                "resolved": resolved,
                "port": port,
                "path": path,
                "headers": headers,
                "body": _text(body.head),
                "carries": body.search.found(),
            }
            cut = body.size > len(body.head) or body.search.clipped
            self._log.add(Channel.HTTP, "request", Outcome.EXECUTED, detail, clipped=cut)
        await self._answer(scope, send, host or resolved, path)

    async def _answer(self, scope: Scope, send: Send, host: str, path: str) -> None:
        page = None
        if scope["method"] in {"GET", "HEAD"}:
            route, _, query = path.partition("?")
            page = find_page(self._pages, host, route, query)
        text = EMPTY_PAGE if page is None else page
        body = text.encode("utf-8", "backslashreplace")
        kind = b"text/html; charset=utf-8" if text.lstrip().startswith("<") else b"text/plain; charset=utf-8"
        # A tunnel would carry TLS that no one here can read.
        status = 405 if scope["method"] == "CONNECT" else 200
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        open_before = connected(scope)
        await send({"type": "http.response.body", "body": body})
        if page is not None and scope["method"] == "GET" and open_before:
            self._witness.saw(page)


class Held:
    """The beginning of a stream, its size, and what was found in all of it.

    Args:
        search: Looks through the stream.
    """

    def __init__(self, search: BodySearch) -> None:
        self.head = bytearray()
        self.size = 0
        self.search = search

    def take(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.size += len(data)
        self.head += data[: TEXT_LIMIT - len(self.head)]
        self.search.feed(data)


class SinkProtocol(ServiceProtocol):
    """A connection that may turn out not to speak HTTP; such bytes are kept, not answered.

    Args:
        config: The server's configuration.
        state: The server's connections.
        session: Where bytes are recorded.
    """

    def __init__(self, config: Config, state: ServerState, session: SinkSession) -> None:
        super().__init__(config, state)
        self._session = session
        self._held = Held(BodySearch(session.inspect))
        self._unparsed = b""
        self._raw = False
        self._idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Start waiting for a first request."""
        super().connection_made(transport)
        if transport.is_closing():
            return
        self._idle = self.loop.call_later(IDLE, transport.abort)

    def turned_away(self) -> None:
        """A connection unread makes the channel partial."""
        self._session.lose()

    def data_received(self, data: bytes) -> None:
        """Take bytes in: for HTTP as long as they look like it."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._raw:
            self._held.take(data)
        else:
            super().data_received(data)
        if self.cycle is None or self._raw:
            self._idle = self.loop.call_later(IDLE, self.transport.abort)

    def handle_events(self) -> None:
        """Keep what is about to be parsed: of bytes that turn out wrong, the parser keeps nothing."""
        self._unparsed, _ = self.conn.trailing_data
        super().handle_events()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the base class's signature
        """Not HTTP: go on taking bytes in; a TLS client will say nothing more without an answer."""
        self._raw = True
        self._held.take(self._unparsed)
        if self._held.head[:1] == bytes([_TLS_HANDSHAKE]):
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record what did not become a request: no HTTP, or one that was never completed."""
        super().connection_lost(exc)
        if self._idle is not None:
            self._idle.cancel()
        if not self._raw:
            self._held.take(self.conn.trailing_data[0])
        if self._held.size:
            self._session.record_bytes(self.server, self._held)


def _headers(scope: Scope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("utf-8", "backslashreplace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _target(scope: Scope, host: str) -> tuple[str, str]:
    """Host and path with query; proxies' clients put a whole URL in the request line."""
    path = scope["raw_path"].decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    whole = f"{path}?{query}" if query else path
    if whole.startswith("/"):
        return host, whole
    try:
        parts = urlsplit(whole)
    except ValueError:
        return host, whole
    if not parts.netloc:
        return host, whole
    return parts.netloc, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdigit() and not host.endswith("]")


def _bare(host: str) -> str:
    """A host without login, port and final dot, in lower case."""
    host = host.rpartition("@")[2]
    return (host.rpartition(":")[0] if _has_port(host) else host).rstrip(".").lower()


def _head(scope: Scope, headers: dict[str, str]) -> str:
    """Request line and headers, as they came."""
    target = b"?".join(part for part in (scope["raw_path"], scope["query_string"]) if part).decode("latin-1")
    lines = [f"{scope['method']} {target}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\n".join(lines) + "\n\n"


async def _take(receive: Receive, body: Held) -> None:
    """Collect the body; what is cut off counts as it is."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body.take(message.get("body", b""))
        more = message.get("more_body", False)


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "backslashreplace")
