"""Listeners on demand, on this machine's own loopback."""

import array
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from agent_litmus.sandbox.demand import Demand
from agent_litmus.sandbox.memory import Address

HOME = "127.0.0.1"


def serve(theirs: socket.socket) -> None:
    with theirs:
        while request := theirs.recv(8):
            with socket.socket(*struct.unpack("ii", request)) as sock:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sock.fileno()]))]
                theirs.sendmsg([b"made"], rights)


@pytest.fixture
def maker() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    thread = threading.Thread(target=serve, args=(theirs,), name="maker")
    thread.start()
    yield ours
    ours.close()
    thread.join()


def free_port() -> int:
    with socket.create_server((HOME, 0)) as sock:
        port: int = sock.getsockname()[1]
        return port


def test_an_address_is_opened_once_and_answers(maker: socket.socket) -> None:
    demand, port = Demand(maker), free_port()
    taken: list[socket.socket] = []
    assert demand.open(Address("inet", HOME, port), datagram=False)
    assert demand.open(Address("inet6", f"::ffff:{HOME}", port), datagram=False)
    demand.attach(taken.append)
    assert demand.open(Address("inet", HOME, port), datagram=True)
    assert [(sock.type, sock.getsockname()) for sock in taken] == [
        (socket.SOCK_STREAM, (HOME, port)),
        (socket.SOCK_DGRAM, (HOME, port)),
    ]
    socket.create_connection((HOME, port)).close()
    for sock in taken:
        sock.close()
    demand.close()


def test_what_is_served_already_is_left_alone(maker: socket.socket) -> None:
    with socket.create_server((HOME, 0)) as own:
        demand = Demand(maker)
        assert not demand.open(Address("inet", HOME, own.getsockname()[1]), datagram=False)
        demand.close()


def test_beyond_the_limit_and_without_a_port_nothing_is_opened(maker: socket.socket) -> None:
    demand, first, second = Demand(maker, 1), free_port(), free_port()
    assert not demand.open(Address("inet", HOME, 0), datagram=False)
    assert demand.open(Address("inet", HOME, first), datagram=False)
    assert not demand.open(Address("inet", HOME, second), datagram=False)
    assert demand.open(Address("inet", HOME, first), datagram=False)
    demand.close()


def test_after_the_end_nothing_is_opened_and_nothing_left_open(maker: socket.socket) -> None:
    demand, port = Demand(maker), free_port()
    assert demand.open(Address("inet", HOME, port), datagram=False)
    demand.close()
    demand.close()
    assert not demand.open(Address("inet", HOME, free_port()), datagram=False)
    for thread in threading.enumerate():
        if thread.name == "maker":  # it too held the socket for a moment
            thread.join()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOME, port))


def test_a_maker_that_makes_nothing_opens_nothing() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.send(b"no room")
    demand = Demand(ours)
    assert not demand.open(Address("inet", HOME, 9), datagram=False)
    theirs.close()
    assert not demand.open(Address("inet", HOME, 9), datagram=False)
    demand.close()
