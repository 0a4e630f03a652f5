import ctypes
import os
import socket
import struct
from collections.abc import Iterator

import pytest

from agent_litmus.sandbox import memory
from agent_litmus.sandbox.memory import Address, parse_address, read_arguments, read_string


@pytest.fixture
def own() -> Iterator[int]:
    fd = os.open("/proc/self/mem", os.O_RDONLY)
    yield fd
    os.close(fd)


def test_addresses_of_every_family_are_told() -> None:
    v4 = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(80), socket.inet_aton("192.0.2.1"))
    v6 = struct.pack(
        "=HHI16sI", socket.AF_INET6, socket.htons(443), 0, socket.inet_pton(socket.AF_INET6, "2001:db8::1"), 0
    )
    assert parse_address(v4) == Address("inet", "192.0.2.1", 80)
    assert parse_address(v6) == Address("inet6", "2001:db8::1", 443)
    assert parse_address(struct.pack("=H", socket.AF_UNIX) + b"/run/x\0junk") == Address("unix", "/run/x", 0)
    assert parse_address(struct.pack("=H", socket.AF_UNIX) + b"\0name") == Address("unix", "@name", 0)
    assert parse_address(struct.pack("=H", socket.AF_NETLINK) + bytes(10)) == Address("family 16", "", 0)


@pytest.mark.parametrize("data", [b"", b"\2"])
def test_an_address_too_short_for_a_family_says_nothing(data: bytes) -> None:
    assert parse_address(data) is None


def test_a_cut_internet_address_is_not_made_up() -> None:
    assert parse_address(struct.pack("=HH", socket.AF_INET, 80)) == Address("family 2", "", 0)


def test_strings_end_at_nul_or_the_limit(own: int) -> None:
    buffer = ctypes.create_string_buffer(b"hello\0rest" + b"x" * 10_000)
    at = ctypes.addressof(buffer)
    assert read_string(own, at) == b"hello"
    assert read_string(own, at + 6) == b"rest" + b"x" * (memory.MAX_ARGUMENT_BYTES - 4)


@pytest.mark.parametrize("address", [0, 1, 1 << 63, (1 << 64) - 1])
def test_addresses_that_are_not_mapped_read_as_nothing(own: int, address: int) -> None:
    assert read_string(own, address) == b""
    assert read_arguments(own, address) == ([], False)


def _vector(items: list[bytes]) -> tuple[int, list[object]]:
    strings = [ctypes.create_string_buffer(item) for item in items]
    array = (ctypes.c_char_p * (len(items) + 1))(*[ctypes.cast(s, ctypes.c_char_p) for s in strings], None)
    return ctypes.addressof(array), [strings, array]


def test_argument_vectors_are_read_to_their_end(own: int) -> None:
    at, keep = _vector([b"tool", b"", b"\xff arg"])
    assert read_arguments(own, at) == (["tool", "", "\\xff arg"], True)
    assert keep


def test_a_long_argument_and_many_arguments_are_cut(own: int) -> None:
    at, first = _vector([b"x" * 5000])
    cut, complete = read_arguments(own, at)
    assert (len(cut[0]), complete) == (memory.MAX_ARGUMENT_BYTES, False)
    at, second = _vector([b"y"] * (memory.MAX_ARGUMENTS + 1))
    cut, complete = read_arguments(own, at)
    assert (len(cut), complete) == (memory.MAX_ARGUMENTS, False)
    assert first
    assert second
