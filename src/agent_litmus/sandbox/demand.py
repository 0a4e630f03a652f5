"""Listeners that are opened the moment something wants to reach them, so that any port of any address answers."""

import array
import errno
import ipaddress
import os
import socket
import struct
import threading
from collections.abc import Callable

from agent_litmus.sandbox.memory import Address

MAX_LISTENERS = 128
"""Destinations a session can open; each holds a descriptor of the harness. Further ones are refused."""
_SECONDS = 5.0
_FREEBIND = {socket.AF_INET: (socket.IPPROTO_IP, 15), socket.AF_INET6: (socket.IPPROTO_IPV6, 78)}
"""``IP_FREEBIND``, ``IPV6_FREEBIND``: no interface has the addresses that are answered for."""
_LOOPBACK_INDEX = 1

Take = Callable[[socket.socket], None]
"""Is given a bound socket (a stream's listens already) and owns it; called in any thread."""


class Demand:
    """Binds sockets of a session's network to the very addresses its processes are about to reach.

    A port that something inside already listens on is left to it, and the wildcard addresses stay free, so that an
    agent's own servers work.

    Args:
        maker: Answers every request (family and type, two ints) with one socket of the network; owned.
        limit: Destinations that are opened.
    """

    def __init__(self, maker: socket.socket, limit: int = MAX_LISTENERS) -> None:
        self._maker, self._limit = maker, limit
        self._maker.settimeout(_SECONDS)
        self._lock = threading.Lock()
        self._opened: set[tuple[str, int, bool]] = set()
        self._waiting: list[socket.socket] = []
        self._take: Take | None = None
        self._closed = False

    def open(self, address: Address, *, datagram: bool) -> bool:
        """Make ``address`` answer; whether it does. Called before the connection or the datagram is on its way."""
        with self._lock:
            place = _place(address)
            known = (place, address.port, datagram)
            if known in self._opened:
                return True
            if self._closed or not address.port or len(self._opened) >= self._limit:
                return False
            sock = self._bound(place, address.port, socket.SOCK_DGRAM if datagram else socket.SOCK_STREAM)
            if sock is None:
                return False
            self._opened.add(known)
            self._hand_over(sock)
            return True

    def _bound(self, place: str, port: int, kind: int) -> socket.socket | None:
        """A socket at the address; ``None`` where something else holds it, or none can be made."""
        family = socket.AF_INET6 if ":" in place else socket.AF_INET
        try:
            sock = self._made(family, kind)
        except OSError:
            return None
        try:
            sock.setsockopt(*_FREEBIND[family], 1)
            _join(sock, place)
            sock.bind((place, port, 0, _scope(place)) if family == socket.AF_INET6 else (place, port))
            if kind == socket.SOCK_STREAM:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)  # urgent bytes are bytes
                sock.listen(128)
        except (OSError, OverflowError):
            sock.close()
            return None
        return sock

    def _made(self, family: int, kind: int) -> socket.socket:
        self._maker.send(struct.pack("ii", family, kind))
        data, extra, _, _ = self._maker.recvmsg(256, socket.CMSG_SPACE(4))
        for level, form, content in extra:
            if (level, form) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                return socket.socket(fileno=array.array("i", content)[0])
        raise OSError(errno.ENOBUFS, data.decode("utf-8", "replace") or os.strerror(errno.ENOBUFS))

    def _hand_over(self, sock: socket.socket) -> None:
        if self._take is None:
            self._waiting.append(sock)
        else:
            self._take(sock)

    def attach(self, take: Take) -> None:
        """Give ``take`` every socket that was opened so far, and those that will be."""
        with self._lock:
            self._take, waiting, self._waiting = take, self._waiting, []
            for sock in waiting:
                take(sock)

    def close(self) -> None:
        """Open nothing more, and close what nobody took; safe to call twice and in any thread."""
        with self._lock:
            self._closed = True
            self._maker.close()
            while self._waiting:
                self._waiting.pop().close()


def _place(address: Address) -> str:
    """The address as it is bound: an IPv4 address written as an IPv6 one arrives as IPv4."""
    place = ipaddress.ip_address(address.address)
    mapped = place.ipv4_mapped if isinstance(place, ipaddress.IPv6Address) else None
    return str(mapped or place)


def _join(sock: socket.socket, place: str) -> None:
    """Be one of the group that an address stands for; raises ``OSError``."""
    address = ipaddress.ip_address(place)
    if address.is_multicast and address.version == 4:
        group = address.packed + bytes(4) + struct.pack("i", _LOOPBACK_INDEX)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    elif address.is_multicast:
        group = address.packed + struct.pack("i", _LOOPBACK_INDEX)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)


def _scope(place: str) -> int:
    address = ipaddress.ip_address(place)
    return _LOOPBACK_INDEX if address.is_link_local or address.is_multicast else 0
