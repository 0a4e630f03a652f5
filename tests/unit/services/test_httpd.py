import logging
import socket

import pytest

from agent_litmus.services.httpd import connected, loopback_listener, no_delay, quiet, readable


def test_listeners_have_nagles_algorithm_off() -> None:
    with loopback_listener() as sock:
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_listener_made_with_defaults_gets_it_switched_off() -> None:
    with socket.socket() as sock:
        no_delay(sock)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_other_sockets_are_left_alone() -> None:
    with socket.socket(socket.AF_UNIX) as unix, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        no_delay(unix)
        no_delay(udp)


def test_waiting_bytes_are_seen_and_closed_sockets_have_none() -> None:
    one, two = socket.socketpair()
    assert not readable([one, None])
    two.send(b"x")
    assert readable([one])
    one.close()
    two.close()
    assert not readable([one])
    assert not readable([])


def test_a_request_without_a_known_connection_counts_as_connected() -> None:
    assert connected({})


def test_quieting_respects_levels_set_on_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    mcp, uvicorn = logging.getLogger("mcp"), logging.getLogger("uvicorn.error")
    monkeypatch.setattr(mcp, "level", logging.DEBUG)
    monkeypatch.setattr(uvicorn, "level", logging.NOTSET)
    quiet()
    assert (mcp.level, uvicorn.level) == (logging.DEBUG, logging.CRITICAL)
