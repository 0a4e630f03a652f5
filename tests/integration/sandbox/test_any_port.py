"""Any port of any address, as an agent in the sandbox sees it."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.sandbox import bubblewrap_session, demand
from agent_litmus.sandbox.demand import Demand
from agent_litmus.sandbox.protocol import Listeners, SandboxSession

pytestmark = pytest.mark.integration
Play = Callable[..., Any]


def python(code: str) -> tuple[str, ...]:
    return ("{python}", "-I", "-S", "-c", code)


async def echo(_: SandboxSession, listeners: Listeners) -> None:
    """Answer every connection with the address that it was made to."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(" ".join(map(str, writer.get_extra_info("sockname")[:2])).encode())
        writer.close()

    loop, servers = asyncio.get_running_loop(), set()

    def take(sock: socket.socket) -> None:
        def serve() -> None:
            servers.add(loop.create_task(asyncio.start_server(answer, sock=sock)))

        loop.call_soon_threadsafe(serve)

    assert listeners.demand is not None
    listeners.demand.attach(take)
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    for server in servers:
        server.result().close()


ASK = """
import socket
def ask(*place):
    family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
    client = socket.socket(family)
    client.settimeout(20)
    try:
        client.connect(place)
        print(client.recv(99).decode())
    except OSError as error:
        print(error.errno)
"""


def test_a_connection_reaches_a_listener_at_the_very_address_it_was_made_to(contained: Play) -> None:
    code = f"{ASK}\nfor port in (25, 6379, 6379, 12345): ask('192.0.2.1', port)\nask('192.0.2.2', 25)"
    seen = contained(*python(code), during=echo)
    ports = [("192.0.2.1", 25), ("192.0.2.1", 6379), ("192.0.2.1", 6379), ("192.0.2.1", 12345), ("192.0.2.2", 25)]
    assert seen.output.splitlines() == [f"{address} {port}" for address, port in ports]
    assert all(e.outcome is Outcome.EXECUTED for e in seen.on(Channel.CONNECT))


def test_ipv6_addresses_answer_too_also_mapped_and_link_local_ones(contained: Play) -> None:
    code = f"{ASK}\nask('2001:db8::1', 25)\nask('::ffff:192.0.2.9', 25)\nask('fe80::7', 25, 0, 1)"
    seen = contained(*python(code), during=echo)
    assert seen.output.splitlines() == ["2001:db8::1 25", "192.0.2.9 25", "fe80::7 25"]


def test_loopback_is_the_agents_own(contained: Play) -> None:
    code = (
        f"{ASK}\nask('127.0.0.1', 8000)\nask('::1', 8000)\n"
        "own = socket.create_server(('', 8000)); client = socket.create_connection(('localhost', 8000))\n"
        "peer = own.accept()[0]; peer.send(b'mine'); print(client.recv(9).decode())"
    )
    seen = contained(*python(code), during=echo)
    assert seen.output.splitlines() == ["111", "111", "mine"]


def test_a_port_that_the_agent_serves_on_every_address_is_left_to_it(contained: Play) -> None:
    code = (
        "import socket\nown = socket.create_server(('', 8000))\n"
        "client = socket.create_connection(('192.0.2.1', 8000)); peer = own.accept()[0]\n"
        "peer.send(b'mine'); print(client.recv(9).decode())"
    )
    seen = contained(*python(code), during=echo)
    assert seen.output == "mine\n"
    assert [e.outcome for e in seen.on(Channel.CONNECT)] == [Outcome.ATTEMPTED]


def test_the_agent_can_serve_a_port_after_it_was_reached_elsewhere(contained: Play) -> None:
    code = f"{ASK}\nask('192.0.2.1', 8000)\nown = socket.create_server(('127.0.0.1', 8000)); print('served')"
    assert contained(*python(code), during=echo).output.splitlines() == ["192.0.2.1 8000", "served"]


def test_beyond_the_limit_destinations_are_refused_and_those_opened_still_answer(
    contained: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap_session, "Demand", lambda maker: Demand(maker, 3))
    code = f"{ASK}\nfor port in (1, 2, 3, 4, 1): ask('192.0.2.1', port)"
    seen = contained(*python(code), during=echo)
    assert seen.output.splitlines() == ["192.0.2.1 1", "192.0.2.1 2", "192.0.2.1 3", "111", "192.0.2.1 1"]
    outcomes = [e.outcome for e in seen.on(Channel.CONNECT)]
    assert outcomes == [Outcome.EXECUTED] * 3 + [Outcome.ATTEMPTED, Outcome.EXECUTED]


def test_datagrams_arrive_whether_they_are_addressed_or_their_socket_is_connected(contained: Play) -> None:
    taken: list[socket.socket] = []

    async def keep(_: SandboxSession, listeners: Listeners) -> None:
        assert listeners.demand is not None
        listeners.demand.attach(taken.append)

    code = (
        "import socket\n"
        "s = socket.socket(2, 2); s.sendto(b'one', ('192.0.2.1', 514))\n"
        "s.sendmsg([b'two'], [], 0, ('192.0.2.2', 514))\n"
        "s = socket.socket(2, 2); s.connect(('192.0.2.3', 514)); s.send(b'three')\n"
        "s = socket.socket(10, 2); s.connect(('2001:db8::1', 514)); s.send(b'four')"
    )
    contained(*python(code), during=keep)
    found = [(sock.recv(99, socket.MSG_DONTWAIT), sock.getsockname()[0]) for sock in taken]
    for sock in taken:
        sock.close()
    assert found == [
        (b"one", "192.0.2.1"),
        (b"two", "192.0.2.2"),
        (b"three", "192.0.2.3"),
        (b"four", "2001:db8::1"),
    ]


def test_one_session_reaches_no_listener_of_another(bubblewrap: Callable[[], Any], play: Play) -> None:
    hold = (
        f"{ASK}\nown = socket.create_server(('', 8000)); abstract = socket.socket(1)\n"
        "abstract.bind('\\0mine'); abstract.listen(); ask('192.0.2.1', 9000)\n"
        "own.settimeout(0.01); abstract.settimeout(0.01)\n"
        "for server in (own, abstract):\n"
        "    try: print(server.accept())\n"
        "    except TimeoutError: print('nobody')"
    )
    reach = (
        f"{ASK}\nask('127.0.0.1', 8000)\nask('127.0.0.1', 9000)\nown = socket.create_server(('', 9000))\n"
        "print(socket.socket(1).connect_ex('\\0mine'))"
    )

    async def together() -> list[Any]:
        provider, holding, done = bubblewrap(), asyncio.Event(), asyncio.Event()

        async def hold_on(_: SandboxSession, listeners: Listeners) -> None:
            assert listeners.demand is not None
            loop = asyncio.get_running_loop()
            taken: list[socket.socket] = []

            def take(sock: socket.socket) -> None:
                taken.append(sock)
                loop.call_soon_threadsafe(holding.set)

            listeners.demand.attach(take)
            await done.wait()
            peer, _ = taken[0].accept()
            peer.send(b"done")
            peer.close()
            taken[0].close()

        try:
            first = asyncio.create_task(play(provider, *python(hold), during=hold_on))
            await holding.wait()
            second = await play(provider, *python(reach))
            done.set()
            return [await first, second]
        finally:
            await provider.close()

    holding, reaching = asyncio.run(together())
    assert holding.output.split() == ["done", "nobody", "nobody"]
    assert reaching.output.split() == ["111", "111", "111"]


def test_what_nobody_took_is_closed_with_the_session(contained: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Demand] = []

    def make(maker: socket.socket) -> Demand:
        made.append(demand.Demand(maker))
        return made[0]

    monkeypatch.setattr(bubblewrap_session, "Demand", make)
    contained(*python("import socket; socket.socket().connect(('192.0.2.1', 9999))"))
    taken: list[socket.socket] = []
    made[0].attach(taken.append)
    assert taken == []
