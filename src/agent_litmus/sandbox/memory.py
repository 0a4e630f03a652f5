"""Reads a waiting process's arguments. Everything read is hostile and may change while it is read."""

import os
import socket
import struct
from dataclasses import dataclass

MAX_ARGUMENTS, MAX_ARGUMENT_BYTES, MAX_TOTAL_BYTES = 256, 4096, 32768
_PAGE = 4096


@dataclass(frozen=True, slots=True)
class Address:
    """A socket address as text; ``port`` is 0 where the family has none."""

    family: str
    address: str
    port: int


def text(data: bytes) -> str:
    """Bytes from the agent as text that can be printed back exactly."""
    return data.decode("utf-8", "backslashreplace")


def read(memory: int, at: int, size: int) -> bytes:
    """Up to ``size`` bytes at ``at``; fewer where the mapping ends."""
    try:
        return os.pread(memory, size, at)
    except (OSError, OverflowError):
        pass
    try:
        return os.pread(memory, min(size, _PAGE - at % _PAGE), at)
    except (OSError, OverflowError):
        return b""


def read_string(memory: int, at: int, limit: int = MAX_ARGUMENT_BYTES) -> bytes:
    """The NUL-terminated bytes at ``at``, cut at ``limit``."""
    found = b""
    while at and len(found) < limit:
        piece = read(memory, at, min(256, _PAGE - at % _PAGE))
        end = piece.find(b"\0")
        found += piece if end < 0 else piece[:end]
        if end >= 0 or not piece:
            break
        at += len(piece)
    return found[:limit]


def read_arguments(memory: int, at: int) -> tuple[list[str], bool]:
    """An argument vector as text, and whether it is complete."""
    raw = read(memory, at, 8 * (MAX_ARGUMENTS + 1)) if at else b""
    found: list[str] = []
    total = 0
    for (pointer,) in struct.iter_unpack("Q", raw[: len(raw) // 8 * 8]):
        if not pointer:
            return found, total < MAX_TOTAL_BYTES
        if len(found) >= MAX_ARGUMENTS or total >= MAX_TOTAL_BYTES:
            return found, False
        item = read_string(memory, pointer)
        total += len(item) if len(item) < MAX_ARGUMENT_BYTES else MAX_TOTAL_BYTES
        found.append(text(item))
    return found, False


def parse_address(data: bytes) -> Address | None:
    """A ``sockaddr``; ``None`` where it is too short to say anything."""
    if len(data) < 2:
        return None
    (family,) = struct.unpack_from("H", data)
    if family == socket.AF_INET and len(data) >= 8:
        return Address("inet", socket.inet_ntop(socket.AF_INET, data[4:8]), struct.unpack_from("!H", data, 2)[0])
    if family == socket.AF_INET6 and len(data) >= 24:
        return Address("inet6", socket.inet_ntop(socket.AF_INET6, data[8:24]), struct.unpack_from("!H", data, 2)[0])
    if family == socket.AF_UNIX:
        return Address("unix", _unix_name(data[2:]), 0)
    return Address(f"family {family}", "", 0)


def _unix_name(data: bytes) -> str:
    if data[:1] == b"\0":
        return "@" + text(data[1:])
    return text(data.split(b"\0")[0])
