"""UDP sockets of a session that are no name service: what is sent to them is recorded."""

import asyncio
import socket
import struct
from typing import Any, Protocol

from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.services.dns import DnsSink, Names
from agent_litmus.services.held import Held
from agent_litmus.services.httpd import readable, settle
from agent_litmus.services.outbound import BodySearch, Inspect
from agent_litmus.services.recorder import EffectLog

_SO_MEMINFO, _COUNTERS, _DROPS = 55, struct.Struct("9I"), 8


class DatagramSink(DnsSink):
    """Records datagrams; a name look-up is answered on any port.

    Args:
        log: Where effects go.
        names: The session's names.
        inspect: Looks through what was sent.
        local: Address and port of the socket.
    """

    def __init__(self, log: EffectLog, names: Names, inspect: Inspect | None, local: tuple[str, int]) -> None:
        super().__init__(log, names, inspect)
        self._local = local

    def _record_bytes(self, data: bytes) -> None:
        held = Held(BodySearch(self._inspect))
        held.take(data)
        address, port = self._local
        name = self._names.name(address)
        detail = {"host": name, "resolved": name, "port": port, "datagram": True, "tls": False, **held.detail()}
        self._log.add(Channel.HTTP, "bytes", Outcome.EXECUTED, detail, clipped=held.size > len(held.head))


class Session(Protocol):
    """What records a session's datagrams."""

    def datagrams(self, local: tuple[str, int]) -> DatagramSink:
        """The protocol of one socket."""

    def lose(self, count: int = 1) -> None:
        """Count datagrams that nobody read."""


class DatagramServer:
    """Reads UDP sockets.

    Args:
        session: Where datagrams are recorded.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sockets: list[socket.socket] = []
        self._transports: list[asyncio.DatagramTransport] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._stopped = False

    def add(self, sock: socket.socket) -> None:
        """Read ``sock``, which is owned from now on."""
        if self._stopped:
            sock.close()
            return
        self._sockets.append(sock)
        task = asyncio.get_running_loop().create_task(self._start(sock))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _start(self, sock: socket.socket) -> None:
        local: tuple[Any, ...] = sock.getsockname()
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: self._session.datagrams((local[0], local[1])), sock=sock
        )
        self._transports.append(transport)

    async def stop(self, grace: float) -> None:
        """Take in what has already arrived, for at most ``grace`` seconds, then close everything."""
        await settle(lambda: bool(self._starting) or readable(self._sockets), grace)
        self._stopped = True
        await asyncio.gather(*self._starting, return_exceptions=True)
        for sock in self._sockets:
            self._session.lose(lost_datagrams(sock))
        for transport in self._transports:
            transport.close()


def lost_datagrams(sock: socket.socket) -> int:
    """Datagrams that the kernel dropped because nobody read them in time."""
    try:
        counters: tuple[int, ...] = _COUNTERS.unpack(
            sock.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _COUNTERS.size)
        )
    except (OSError, struct.error):
        return 0
    return counters[_DROPS]
