"""A connection that is read on after our side of it was closed."""

import asyncio
import contextlib
import os
import socket
from typing import Any

_CHUNK = 1 << 16


class Lingering(asyncio.Transport):
    """A transport whose closing says that nothing follows from us, and leaves the other side to end as it likes.

    What a client sends after it was told goodbye has left its machine all the same.

    Args:
        outer: The transport of the connection.
    """

    def __init__(self, outer: asyncio.Transport) -> None:
        super().__init__()
        self._outer = outer
        self.over = False
        """Whether our side is closed."""

    @property
    def listens(self) -> bool:
        """Whether what comes in is still read."""
        return not self._outer.is_closing()

    def close(self) -> None:
        """Send what is left, then say that nothing follows."""
        if self.over:
            return
        self.over = True
        with contextlib.suppress(OSError):  # the client is gone
            self._outer.write_eof()
        self.resume_reading()

    def rest(self, limit: int) -> bytes:
        """Bytes that had arrived when the connection was lost, of which nobody was told; at most ``limit``.

        A write that fails ends a transport at once, whatever is still to be read: who sends, never listens and goes
        away would not be heard. To be asked for while the loss is being told.
        """
        sock = self._outer.get_extra_info("socket")
        found = bytearray()
        if sock is None or sock.fileno() < 0:
            return b""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(sock.fileno())) as copy:
            while len(found) < limit and (piece := copy.recv(min(_CHUNK, limit - len(found)), socket.MSG_DONTWAIT)):
                found += piece
        return bytes(found)

    def abort(self) -> None:
        """Close both sides at once."""
        self._outer.abort()

    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self.over or self._outer.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes; nothing once our side is closed."""
        if not self.over:
            self._outer.write(data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the connection itself says."""
        return self._outer.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Read no more for now."""
        self._outer.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        if self.listens:
            self._outer.resume_reading()
