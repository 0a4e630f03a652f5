"""Attaching services to listeners and taking them off again."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import httpx2
import pytest

from agent_litmus.records.config import ModelConfig
from agent_litmus.records.probe import Environment
from agent_litmus.sandbox.protocol import Listeners
from agent_litmus.services import httpd
from agent_litmus.services.gateway import Gateway, upstream_client
from agent_litmus.services.httpd import HttpServer, loopback_listener
from agent_litmus.services.serve import ServiceError, serve_session
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession
from agent_litmus.testing.local import local_listeners, local_session

pytestmark = [pytest.mark.integration, pytest.mark.anyio]


def every_socket(listeners: Listeners) -> list[socket.socket]:
    dns = [listeners.dns] if listeners.dns else []
    return [listeners.gateway, listeners.tools, *listeners.http, *dns]


@contextlib.asynccontextmanager
async def serving(listeners: Listeners, world: Environment | None = None) -> AsyncIterator[ToolSession]:
    environment = world or Environment("e")
    async with upstream_client("") as client:
        gateway = Gateway("", None, ModelConfig(id="m"), client).session("s")
        tools = ToolSession(environment)
        async with serve_session(listeners, gateway, tools, SinkSession(environment)):
            yield tools


async def test_every_socket_is_closed_afterwards() -> None:
    listeners = local_listeners(sinks=3)
    async with serving(listeners):
        assert all(sock.fileno() >= 0 for sock in every_socket(listeners))
    assert all(sock.fileno() == -1 for sock in every_socket(listeners))


async def test_a_provider_without_dns_and_sinks_is_served() -> None:
    listeners = Listeners(loopback_listener(), loopback_listener())
    url = f"http://127.0.0.1:{listeners.gateway.getsockname()[1]}/v1/models"
    async with serving(listeners), httpx2.AsyncClient(trust_env=False) as client:
        assert (await client.get(url)).status_code == 200


async def test_the_callers_exception_comes_through_as_it_is_and_sockets_are_closed() -> None:
    listeners = local_listeners()
    with pytest.raises(ZeroDivisionError):
        async with serving(listeners):
            raise ZeroDivisionError
    assert all(sock.fileno() == -1 for sock in every_socket(listeners))


async def test_cancellation_comes_through_and_sockets_are_closed() -> None:
    listeners = local_listeners()
    started = asyncio.Event()

    async def forever() -> None:
        async with serving(listeners):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(forever())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(sock.fileno() == -1 for sock in every_socket(listeners))


async def test_a_start_that_fails_closes_what_was_handed_over() -> None:
    broken = local_listeners()
    broken.http[0].close()
    with pytest.raises((OSError, ValueError)):
        async with serving(broken):
            pass
    assert all(sock.fileno() == -1 for sock in every_socket(broken))


async def test_connections_held_open_do_not_hold_up_the_end() -> None:
    async with contextlib.AsyncExitStack() as clients, asyncio.timeout(20), local_session() as session:
        for sock in (session.listeners.gateway, session.listeners.tools, session.listeners.http[0]):
            for beginning in (b"", b"POST /mcp HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"):
                reader, writer = await asyncio.open_connection(*sock.getsockname())
                clients.callback(writer.close)
                writer.write(beginning)
                if beginning.endswith(b"\r\n\r\n"):
                    await reader.readuntil(b"\r\n\r\n")
    assert [effect.action for effect in session.sink.effects].count("request") == 1


async def test_accepted_connections_have_nagles_algorithm_off() -> None:
    seen = []

    async def app(scope: object, receive: object, send: object) -> None:
        seen.append(scope["state"]["transport"].get_extra_info("socket"))  # type: ignore[index]
        seen.append(seen[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]

    listener = socket.socket()  # as a sandbox might make it: no protocol named, so asyncio leaves Nagle on
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = HttpServer(app)
    await server.start([listener])
    async with httpx2.AsyncClient(trust_env=False) as client:
        await client.get(url)
    await server.stop()
    assert seen[1] == 1


async def test_a_defect_of_a_service_is_an_error_of_the_session() -> None:
    listeners = local_listeners()
    # A mailbox the suite's schema would never let through.
    world = Environment("e", mailbox=({"subject": "no id"},))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_mail", "arguments": {}}}
    url = f"http://127.0.0.1:{listeners.tools.getsockname()[1]}/mcp"
    with pytest.raises(ServiceError, match="KeyError"):
        async with serving(listeners, world) as tools, httpx2.AsyncClient(trust_env=False) as client:
            await client.post(url, json=body)
    assert tools.effects == ()


async def test_sessions_side_by_side_keep_apart() -> None:
    world = Environment("e", mailbox=({"id": "m", "from": "a", "to": "b", "subject": "s", "body": "x"},))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_mail", "arguments": {}}}
    async with contextlib.AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(local_session(environment=world)) for _ in range(8)]
        client = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False))
        calls = [client.post(s.tools_url, json=body) for n, s in enumerate(sessions) for _ in range(n)]
        await asyncio.gather(*calls)
    assert [session.tools.calls for session in sessions] == list(range(8))


async def test_what_an_application_raises_is_kept_and_its_client_gets_a_500() -> None:
    async def app(scope: object, receive: object, send: object) -> None:
        raise ZeroDivisionError

    listener = loopback_listener()
    server = HttpServer(app)
    await server.start([listener])
    async with httpx2.AsyncClient(trust_env=False) as client:
        response = await client.get(f"http://127.0.0.1:{listener.getsockname()[1]}")
    await server.stop()
    assert response.status_code == 500
    assert [type(error) for error in server.failures] == [ZeroDivisionError]


async def test_connections_too_many_are_turned_away_by_every_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpd, "MAX_CONNECTIONS", 1)
    async with local_session() as session:
        address = session.listeners.gateway.getsockname()
        _, held = await asyncio.open_connection(*address)
        reader, extra = await asyncio.open_connection(*address)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        held.close()
        extra.close()
