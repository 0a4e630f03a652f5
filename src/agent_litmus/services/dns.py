"""A DNS sink: every name exists and has one address of its own in 198.18.0.0/15, reserved for tests."""

import asyncio
import ipaddress
import struct
from dataclasses import dataclass
from typing import Any

from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.services.outbound import Inspect, Search
from agent_litmus.services.recorder import DNS_PORT, EffectLog

_FIRST = int(ipaddress.IPv4Address("198.18.0.1"))
_LAST = int(ipaddress.IPv4Address("198.19.255.254"))
_TYPES = {1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 65: "HTTPS"}
_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!2H")
HEAD_LIMIT = 4096
"""Most bytes kept of a datagram that is no plain query."""


@dataclass(frozen=True, slots=True)
class Question:
    """One DNS query."""

    id: int
    name: str
    """Labels joined by dots, bytes beyond ASCII escaped; hostile."""
    type: int
    wire: bytes
    """The question section's bytes, echoed in the answer."""
    plain: bool = True
    """Whether the packet held nothing else that could carry a text."""

    @property
    def type_name(self) -> str:
        """``A``, ``AAAA`` …, or ``TYPE<number>``."""
        return _TYPES.get(self.type, f"TYPE{self.type}")


def parse_question(packet: bytes) -> Question | None:
    """The query in a packet (RFC 1035, section 4.1); ``None`` if it is malformed or no query."""
    if len(packet) < _HEADER.size or len(packet) > 4096:
        return None
    identity, flags, questions, *others = _HEADER.unpack_from(packet)
    if flags & 0xF800 or questions < 1:
        return None
    labels, at, size = [], _HEADER.size, 0
    while at < len(packet) and (length := packet[at]):
        size += length + 1
        if length > 63 or size > 254 or at + 1 + length > len(packet):
            return None
        labels.append(packet[at + 1 : at + 1 + length].decode("ascii", "backslashreplace"))
        at += 1 + length
    if at + 1 + _QUESTION.size > len(packet) or not labels:
        return None
    kind, _ = _QUESTION.unpack_from(packet, at + 1)
    end = at + 1 + _QUESTION.size
    plain = _is_plain((questions, *others), packet[end:])
    return Question(identity, ".".join(labels), kind, packet[_HEADER.size : end], plain)


def _is_plain(counts: tuple[int, ...], rest: bytes) -> bool:
    """Whether ``rest`` is nothing, or the empty OPT record of RFC 6891 that resolvers add."""
    if not rest:
        return counts == (1, 0, 0, 0)
    return counts == (1, 0, 0, 1) and len(rest) == 11 and rest[:3] == b"\0\0\x29" and rest[9:] == b"\0\0"


def answer(question: Question, address: ipaddress.IPv4Address | None) -> bytes:
    """The reply: ``address`` for an A query, otherwise no records and no error."""
    records = b""
    if question.type == 1 and address is not None:
        # 0xC00C points back at the question's name; class IN, 60 s, four bytes.
        records = struct.pack("!3HIH", 0xC00C, 1, 1, 60, 4) + address.packed
    # Response, recursion desired and available.
    return _HEADER.pack(question.id, 0x8180, 1, 1 if records else 0, 0, 0) + question.wire + records


class Names:
    """Which name has which address in this session."""

    def __init__(self) -> None:
        self._addresses: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def address(self, name: str) -> ipaddress.IPv4Address:
        """The name's address; names beyond the 131,069th share the last one."""
        key = name.lower().rstrip(".")
        number = self._addresses.get(key)
        if number is None:
            number = min(_FIRST + len(self._addresses), _LAST)
            if number < _LAST:
                self._addresses[key], self._names[number] = number, key
        return ipaddress.IPv4Address(number)

    def name(self, address: str) -> str:
        """The name an address was given out for, or the address itself."""
        try:
            return self._names.get(int(ipaddress.IPv4Address(address.removeprefix("::ffff:"))), address)
        except ValueError:
            return address


class DnsSink(asyncio.DatagramProtocol):
    """Answers and records queries.

    Args:
        log: Where ``resolve`` and ``bytes`` effects go.
        names: Shared with the HTTP sink, which tells hosts by their addresses.
        inspect: Looks through what was sent.
    """

    def __init__(self, log: EffectLog, names: Names, inspect: Inspect | None = None) -> None:
        self._inspect = inspect
        self._log = log
        self._names = names
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        """Keep the transport to answer on."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        """Record one packet, and answer it if it is a query."""
        try:
            reply = self.reply(data)
        except Exception:
            self._log.dropped += 1
            raise
        if reply and self._transport is not None:
            self._transport.sendto(reply, addr)

    def reply(self, data: bytes) -> bytes:
        """Record one packet; the answer to it, empty if it is no query."""
        question = parse_question(data)
        if question is None or not question.plain:
            self._record_bytes(data)
        if question is None:
            return b""
        address = self._names.address(question.name) if question.type == 1 else None
        search = Search(self._inspect)
        search.text(question.name)
        detail = {"name": question.name, "type": question.type_name, "address": str(address or "")}
        self._log.add(Channel.DNS, "resolve", Outcome.EXECUTED, {**detail, "carries": search.found()})
        return answer(question, address)

    def stream(self) -> "DnsStream":
        """The same over one TCP connection."""
        return DnsStream(self)

    def _record_bytes(self, data: bytes) -> None:
        search = Search(self._inspect)
        search.feed(data)
        detail = {
            "port": DNS_PORT,
            "size": len(data),
            "head": data[:HEAD_LIMIT].decode("utf-8", "backslashreplace"),
            "carries": search.found(),
        }
        self._log.add(Channel.DNS, "bytes", Outcome.EXECUTED, detail, clipped=len(data) > HEAD_LIMIT)


class DnsStream:
    """Packets one after the other, each behind its length (RFC 1035, section 4.2.2).

    Args:
        sink: Records and answers them.
    """

    def __init__(self, sink: DnsSink) -> None:
        self._sink = sink
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """The answers to the next bytes."""
        self._rest += data
        replies = b""
        while len(self._rest) > 2 and len(self._rest) >= (end := 2 + int.from_bytes(self._rest[:2], "big")):
            packet, self._rest = self._rest[2:end], self._rest[end:]
            reply = self._sink.reply(packet)
            replies += len(reply).to_bytes(2, "big") + reply if reply else b""
        return replies

    def end(self) -> None:
        """Record what was no whole packet."""
        if self._rest:
            self._sink.reply(self._rest)
            self._rest = b""
