"""TLS on a connection whose first bytes have already been read."""

import asyncio
import contextlib
import ssl
from typing import Any

from agent_litmus.services.authority import Authority, ServerSide

HANDSHAKE = 0x16
"""First byte of a TLS connection (RFC 8446, 5.1); no text protocol begins with it."""
_CHUNK = 1 << 16


class Tunnel(asyncio.Transport):
    """The server's end of TLS: a transport that takes plain bytes and sends them encrypted.

    Args:
        outer: The transport of the connection.
        authority: Signs the certificates.
        names: Host names and addresses the connection was made to, for clients that name no host.

    Raises:
        ValueError: A name cannot be that of a host.
    """

    def __init__(self, outer: asyncio.Transport, authority: Authority, *names: str) -> None:
        super().__init__()
        self._outer = outer
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = authority.context(*names).wrap_bio(self._in, self._out, server_side=True)
        self.ready = False
        """Whether the handshake is complete: the client trusts the certificate."""
        self.ended = False
        """Whether the client said that nothing will follow."""
        self.error = ""
        """Why there is no TLS; empty as long as there is."""

    @property
    def asked(self) -> str:
        """The host that the client named; hostile."""
        return self._tls.asked if isinstance(self._tls, ServerSide) else ""

    def feed(self, data: bytes) -> bytes:
        """The plain bytes of what came in; after an error none."""
        if self.error:
            return b""
        self._in.write(data)
        plain = bytearray()
        try:
            if not self.ready:
                self._tls.do_handshake()
                self.ready = True
            while chunk := self._tls.read(_CHUNK):
                plain += chunk
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        except (ssl.SSLError, OSError) as error:
            self.error = _why(error)
        self._flush()
        return bytes(plain)

    def _flush(self) -> None:
        if self._out.pending and not self._outer.is_closing():
            self._outer.write(self._out.read())

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send plain bytes encrypted; nothing once the connection failed."""
        with contextlib.suppress(ssl.SSLError):
            if data and not self.error:
                self._tls.write(data)
        self._flush()

    def close(self) -> None:
        """Say that nothing follows, and close once everything was sent."""
        if self.ready and not self._outer.is_closing():
            with contextlib.suppress(ssl.SSLError):
                self._tls.unwrap()
            self._flush()
        self._outer.close()

    def abort(self) -> None:
        """Close at once."""
        self._outer.abort()

    def is_closing(self) -> bool:
        """Whether it is closed or closing."""
        return self._outer.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the connection itself says."""
        return self._outer.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Read no more for now."""
        self._outer.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._outer.resume_reading()


def _why(error: OSError) -> str:
    reason = getattr(error, "reason", None)
    return str(reason or error).replace("_", " ").lower()
