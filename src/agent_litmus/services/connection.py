"""One connection to the sink: HTTP, the same within TLS, or whatever else is sent."""

import asyncio
from typing import TYPE_CHECKING

from uvicorn.config import Config
from uvicorn.server import ServerState

from agent_litmus.services.dialogue import IMPLICIT_TLS_PORT, Dialogue, dialogue_on
from agent_litmus.services.held import Held
from agent_litmus.services.httpd import ServiceProtocol
from agent_litmus.services.lingering import Lingering
from agent_litmus.services.outbound import BodySearch
from agent_litmus.services.recorder import DNS_PORT
from agent_litmus.services.tunnel import HANDSHAKE, Tunnel

if TYPE_CHECKING:
    from agent_litmus.services.dns import DnsStream
    from agent_litmus.services.sink import SinkSession

IDLE = 5.0
"""Seconds a connection may stay silent before its first complete request."""


REST_LIMIT = 8 << 20
"""Bytes that are still read of a connection that broke; a socket's buffer holds no more."""


class SinkProtocol(ServiceProtocol):
    """A connection that may turn out not to speak HTTP; such bytes are kept, not answered.

    Args:
        config: The server's configuration.
        state: The server's connections.
        session: Where bytes are recorded.
    """

    def __init__(self, config: Config, state: ServerState, session: "SinkSession") -> None:
        super().__init__(config, state)
        self._session = session
        self._held = Held(BodySearch(session.inspect))
        self._hello = Held(BodySearch(session.inspect))
        self._wire = Held(BodySearch(session.inspect))
        """The bytes of requests in chunks: what stands between the chunks and after them is in no body."""
        self._carried: set[str] = set()
        self._tunnel: Tunnel | None = None
        self._dialogue: Dialogue | None = None
        self._names: DnsStream | None = None
        self._unparsed = b""
        self._greeted = self._begun = self._heard = self._raw = self._silent = False
        self._idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Start waiting for a first request."""
        self._line = Lingering(transport)
        super().connection_made(self._line)
        if transport.is_closing():
            return
        self.app_state["carried"] = self._carried
        address, port = self.server or ("", 0)
        self._names = self._session.dns().stream() if port == DNS_PORT else None
        self._dialogue = dialogue_on(port or 0, address)
        if port != IMPLICIT_TLS_PORT:
            self._greet()
        self._wait()

    @property
    def listens(self) -> bool:
        """Whether what comes in is still read: also after our side was closed."""
        return self._line.listens

    def turned_away(self) -> None:
        """A connection unread makes the channel partial."""
        self._session.lose()

    def _greet(self) -> None:
        if self._dialogue is not None and not self._greeted:
            self._greeted = True
            self.transport.write(self._dialogue.greeting)

    def _wait(self) -> None:
        self._idle = self.loop.call_later(IDLE, self._give_up)

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _give_up(self) -> None:
        self._silent = not self._begun
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Take bytes in: decrypted where they are TLS, and for HTTP as long as they look like it."""
        self._stop_waiting()
        if not self._session.has_room(len(data)):
            self.transport.abort()
            return
        if self._line.over:
            self._take_late(data)
            return
        if not self._begun:
            self._begun = True
            self._tunnel = self._tunnel or self._tls(data)
        plain = data if self._tunnel is None else self._decrypted(self._tunnel, data)
        if plain:
            self._take(plain)
        if self.cycle is None or self._raw:
            self._wait()

    def _tls(self, data: bytes) -> Tunnel | None:
        if data[0] != HANDSHAKE or self._session.authority is None:
            return None
        address = self.server[0] if self.server else ""
        names = dict.fromkeys((self._session.names.name(address), address))
        try:
            tunnel = Tunnel(self.transport, self._session.authority, *names)
        except ValueError:  # a name look-up can ask for what no certificate can hold
            tunnel = Tunnel(self.transport, self._session.authority, address)
        self.transport, self.scheme = tunnel, "https"
        return tunnel

    def _decrypted(self, tunnel: Tunnel, data: bytes) -> bytes:
        if not tunnel.ready:
            self._hello.take(data)
        waiting = not tunnel.ready
        plain = tunnel.feed(data)
        if waiting and tunnel.ready:
            self._greet()
        self.app_state["sni"] = tunnel.asked
        if tunnel.error or (tunnel.ended and not plain and (self.cycle is None or self.cycle.response_complete)):
            self.transport.close()
        return plain

    def _take(self, data: bytes) -> None:
        self._heard = True
        if self._names is not None:
            self.transport.write(self._names.feed(data))
        elif self._dialogue is not None:
            self._converse(self._dialogue, data)
        elif self._raw:
            self._held.take(data)
        else:
            super().data_received(data)
            if self._wire.size or any(name == b"transfer-encoding" for name, _ in self.headers or ()):
                self._wire.take(data)

    def _take_late(self, data: bytes) -> None:
        """Keep what is said after goodbye."""
        self._silent = False
        if not self._raw and self._names is None:
            self._held.take(self.conn.trailing_data[0])
        self._raw = True
        self._held.take(data if self._tunnel is None or self._tunnel.error else self._tunnel.feed(data))

    def _converse(self, dialogue: Dialogue, data: bytes) -> None:
        self._raw = True
        self._held.take(data)
        self.transport.write(dialogue.feed(data))
        while dialogue.mails:
            self._session.record_mail(self.server, dialogue.mails.pop(0))
        if dialogue.wants_tls:
            dialogue.wants_tls = self._begun = self._heard = False  # the next byte is the first of TLS
        if dialogue.over:
            self.transport.close()

    def handle_events(self) -> None:
        """Keep what is about to be parsed: of bytes that turn out wrong, the parser keeps nothing."""
        self._unparsed, _ = self.conn.trailing_data
        super().handle_events()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the base class's signature
        """Not HTTP: go on taking bytes in; a TLS client will say nothing more without an answer."""
        self._raw = True
        self._held.take(self._unparsed)
        if self._held.head[:1] == bytes([HANDSHAKE]):
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record what did not become a request: no HTTP, one that was never completed, TLS that came to nothing."""
        super().connection_lost(exc)
        self._stop_waiting()
        try:
            if exc is not None and not isinstance(exc, OSError):  # a defect of ours, met by what was sent
                self._session.lose()
            self._record(exc)
        except Exception:
            self._session.lose()
            raise

    def _record(self, exc: Exception | None) -> None:
        rest = self._line.rest(REST_LIMIT) if exc is not None else b""
        if rest and self._session.has_room(len(rest)):
            self._take_late(rest)
        if self._tunnel is not None and not self._heard:
            self._session.record_handshake(self.server, self._hello, self._tunnel.asked, _failure(self._tunnel))
        if self._names is not None:
            self._names.end()
        elif not self._raw:
            self._held.take(self.conn.trailing_data[0])
        if set(self._wire.search.found()) - self._carried - set(self._held.search.found()):
            self._session.record_bytes(self.server, self._wire, tls=self._tunnel is not None)
        if self._held.size or self._silent:
            self._session.record_bytes(self.server, self._held, tls=self._tunnel is not None)


def _failure(tunnel: Tunnel) -> str:
    if tunnel.error:
        return tunnel.error
    return f"the client hung up {'after' if tunnel.ready else 'during'} the handshake"
