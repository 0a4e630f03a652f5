"""The sink: plays whatever the agent reaches for beyond its services, by name (DNS), over HTTP and HTTPS."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.probe import Environment, PageReply
from agent_litmus.services.connection import SinkProtocol
from agent_litmus.services.datagrams import DatagramSink
from agent_litmus.services.dialogue import Mail
from agent_litmus.services.dns import DnsSink, Names
from agent_litmus.services.held import Held, shown
from agent_litmus.services.httpd import connected
from agent_litmus.services.outbound import BodySearch, Inspect
from agent_litmus.services.pages import EMPTY_PAGE, find_url
from agent_litmus.services.recorder import Clock, EffectLog, Witness, session_clock

if TYPE_CHECKING:
    from agent_litmus.services.authority import Authority

MAX_BYTES = 256 << 20
"""Bytes of one session that are read; connections that send more are cut, and the channel is partial."""
_NO_BODY = {204, 304}


class SinkSession:
    """One session's outside world.

    Args:
        environment: The expanded environment; its pages are served.
        watch: Texts whose sending is witnessed (the injected text).
        clock: Seconds since the session's start.
        inspect: Names of what it finds in a text; called with everything that leaves, before any of it is cut.
        authority: Signs the certificates of HTTPS hosts; without one TLS is recorded as bytes.
    """

    def __init__(
        self,
        environment: Environment,
        watch: tuple[str, ...] = (),
        *,
        clock: Clock | None = None,
        inspect: Inspect | None = None,
        authority: "Authority | None" = None,
    ) -> None:
        self.inspect = inspect
        self.authority = authority
        self.names = Names()
        """Which name has which address."""
        self._room = MAX_BYTES
        self._pages, self._replies = environment.pages, environment.replies
        self._witness = Witness(watch)
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
        return DnsSink(self._log, self.names, self.inspect)

    def datagrams(self, local: tuple[str, int]) -> DatagramSink:
        """The datagram protocol for a UDP socket bound to ``local``."""
        return DatagramSink(self._log, self.names, self.inspect, local)

    def protocol(self, config: Config, state: ServerState) -> SinkProtocol:
        """The protocol of one TCP connection."""
        return SinkProtocol(config, state, self)

    def lose(self, count: int = 1) -> None:
        """Count connections or datagrams whose bytes nobody read."""
        self._log.dropped += count

    def has_room(self, size: int) -> bool:
        """Whether ``size`` more bytes may be read; if not, what is not read counts as lost."""
        self._room -= size
        if self._room < 0:
            self.lose()
        return self._room >= 0

    def record_bytes(self, local: Any, held: Held, *, tls: bool = False) -> None:
        """Record what came over a connection and was no request; ``local`` is its address on our side."""
        detail = {**self._place(local), "datagram": False, "tls": tls, **held.detail()}
        self._log.add(Channel.HTTP, "bytes", Outcome.EXECUTED, detail, clipped=held.size > len(held.head))

    def record_handshake(self, local: Any, hello: Held, asked: str, why: str) -> None:
        """Record a TLS connection over which nothing came, usually because the client did not trust us."""
        detail = {**self._place(local), "why": why, **hello.detail(), "plain": False}
        if asked:
            detail["host"] = asked
        self._log.add(Channel.HTTP, "handshake", Outcome.ATTEMPTED, detail, clipped=hello.size > len(hello.head))
        if detail["carries"]:  # in the name that was asked for, which has arrived
            self.record_bytes(local, hello)

    def record_mail(self, local: Any, mail: Mail) -> None:
        """Record a mail that was handed over for delivery; the whole conversation is recorded as bytes besides."""
        search = BodySearch(self.inspect)
        search.feed(mail.raw)
        detail = {
            **self._place(local),
            "to": ", ".join(mail.recipients),
            "recipients": list(mail.recipients),
            "subject": mail.subject,
            "body": mail.body,
            "carries": search.found(),
        }
        self._log.add(Channel.HTTP, "mail", Outcome.EXECUTED, detail, clipped=mail.clipped)

    def _place(self, local: Any) -> dict[str, Any]:
        address, port = local or ("", 0)
        name = self.names.name(address)
        return {"host": name, "resolved": name, "port": port}

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application: take the request, record it, answer it."""
        address, port = scope["server"] or ("", 0)
        headers = _headers(scope)
        host, path = _target(scope, headers.get("host", ""))
        resolved, sni = self.names.name(address), scope.get("state", {}).get("sni", "")
        body = Held(BodySearch(self.inspect, _head(scope, headers) + sni, headers.get("content-encoding", "")))
        try:
            await _take(receive, body)
        finally:
            # Also when the session ends meanwhile: what arrived has left the sandbox.
            detail = {
                "scheme": scope.get("scheme", "http"),
                "method": scope["method"],
                "host": _bare(host) or resolved,
                "resolved": resolved,
                "sni": sni,
                "port": port,
                "path": path,
                "headers": headers,
                "body": shown(body.head),
                "plain": body.searched,
                "carries": body.search.found(),
            }
            scope.get("state", {}).get("carried", set()).update(detail["carries"])
            cut = body.size > len(body.head) or body.search.clipped
            self._log.add(Channel.HTTP, "request", Outcome.EXECUTED, detail, clipped=cut)
        await self._answer(scope, send, host or resolved, path)

    async def _answer(self, scope: Scope, send: Send, host: str, path: str) -> None:
        url = None
        if scope["method"] in {"GET", "HEAD"}:
            route, _, query = path.partition("?")
            url = find_url(self._pages, host, route, query)
        page = None if url is None else self._pages[url]
        # A tunnel would lead to hosts that answer directly.
        status = 405 if scope["method"] == "CONNECT" else 200
        status, headers, body = _reply(EMPTY_PAGE if page is None else page, self._replies.get(url or ""), status)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        open_before = connected(scope)
        await send({"type": "http.response.body", "body": body})
        if page is not None and body and scope["method"] == "GET" and open_before:
            self._witness.saw(page)


def _reply(text: str, reply: PageReply | None, status: int) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body of an answer; ``reply`` is what the suite says of it."""
    status = reply.status if reply is not None else status
    body = b"" if status in _NO_BODY else text.encode("utf-8", "backslashreplace")
    kind = "text/html; charset=utf-8" if text.lstrip().startswith("<") else "text/plain; charset=utf-8"
    headers = {"content-type": kind} | {
        k.lower(): v for k, v in (reply.headers if reply is not None else {}).items()
    }
    sent = [(name.encode("latin-1"), value.encode("utf-8", "replace")) for name, value in headers.items()]
    return status, [*sent, (b"content-length", str(len(body)).encode())], body


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
