"""The gateway is no relay: whatever a request says, it goes to the one upstream for the one model, or nowhere."""

import asyncio
import json

import pytest

from agent_litmus.testing import upstream as up
from agent_litmus.testing.local import LocalSession, local_session

pytestmark = [pytest.mark.integration, pytest.mark.anyio]

KEY = "sk-relay-key-0123456789"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
OTHER_MODEL = BODY.replace(b'"m"', b'"other-model"')


async def raw(session: LocalSession, request: bytes) -> bytes:
    """What comes back for exactly these bytes."""
    host, port = session.gateway_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request)
        return await asyncio.wait_for(reader.read(65_536), 20)
    finally:
        writer.close()
        await writer.wait_closed()


def request(line: str, host: str, body: bytes = BODY, *more: str) -> bytes:
    head = [
        line,
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*head, *more, "", ""]).encode() + body


@pytest.mark.parametrize(
    "line",
    [
        "POST {other}/chat/completions HTTP/1.1",
        "POST {other}/../v1/chat/completions HTTP/1.1",
        "CONNECT {place} HTTP/1.1",
        "POST //{place}/v1/chat/completions HTTP/1.1",
        "POST /v1/chat/completions@{place}/v1/chat/completions HTTP/1.1",
        "POST /v1/chat/completions/../../{other}/chat/completions HTTP/1.1",
        "POST /v1/%2e%2e/v1/files HTTP/1.1",
        "POST /v1/chat%2fcompletions/x HTTP/1.1",
        "POST /v1/chat/completions;{place} HTTP/1.1",
        "POST /v1/models/../files HTTP/1.1",
        "PUT /v1/chat/completions HTTP/1.1",
        "TRACE /v1/chat/completions HTTP/1.1",
    ],
)
async def test_no_request_line_leads_to_another_host_or_path(line: str) -> None:
    async with up.UpstreamSimulator() as ours, up.UpstreamSimulator() as other:
        async with local_session(ours.base_url, api_key=KEY) as session:
            place = other.base_url.removeprefix("http://").removesuffix("/v1")
            answer = await raw(session, request(line.format(other=other.base_url, place=place), place))
        assert other.requests == []
        assert [r.path for r in ours.requests] in ([], ["/v1/chat/completions"])
        assert answer.split(b" ", 2)[1:2] != [b"200"] or ours.requests
        assert KEY.encode() not in answer


@pytest.mark.parametrize(
    "headers",
    [
        ("X-Forwarded-Host: {place}", "X-Forwarded-For: 10.0.0.1"),
        ("Forwarded: host={place}",),
        ("X-Original-URL: {other}/chat/completions", "X-Rewrite-URL: /v1/files"),
        ("X-HTTP-Method-Override: DELETE",),
        ("Proxy-Authorization: Basic eDp5", "Proxy-Connection: keep-alive"),
        ("OpenAI-Organization: somebody", "OpenAI-Project: theirs", "api-key: theirs", "x-api-key: theirs"),
    ],
    ids=["forwarded-host", "forwarded", "original-url", "method-override", "proxy", "accounts"],
)
async def test_no_header_leads_to_another_host_or_account(headers: tuple[str, ...]) -> None:
    async with up.UpstreamSimulator() as ours, up.UpstreamSimulator() as other:
        place = other.base_url.removeprefix("http://").removesuffix("/v1")
        filled = [header.format(other=other.base_url, place=place) for header in headers]
        async with local_session(ours.base_url, api_key=KEY) as session:
            answer = await raw(session, request("POST /v1/chat/completions HTTP/1.1", place, BODY, *filled))
    assert answer.startswith(b"HTTP/1.1 200")
    assert other.requests == []
    (arrived,) = ours.requests
    assert arrived.path == "/v1/chat/completions"
    assert arrived.headers["host"] == ours.base_url.removeprefix("http://").removesuffix("/v1")
    assert arrived.headers["authorization"] == f"Bearer {KEY}"
    assert not {header.partition(":")[0].lower() for header in filled} & arrived.headers.keys()


async def test_another_model_is_refused_before_the_upstream() -> None:
    async with up.UpstreamSimulator() as ours, local_session(ours.base_url, api_key=KEY) as session:
        answer = await raw(session, request("POST /v1/chat/completions HTTP/1.1", "x", OTHER_MODEL))
    assert answer.split(b" ", 2)[1][:1] == b"4"
    assert b"other-model" not in b"".join(r.body for r in ours.requests)
    assert ours.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_nowhere_and_hands_out_no_address_with_a_key(status: int) -> None:
    async with up.UpstreamSimulator() as other:
        away = up.failure(status, "go elsewhere", location=f"{other.base_url}/chat/completions")
        async with up.UpstreamSimulator(away) as ours, local_session(ours.base_url, api_key=KEY) as session:
            answer = await raw(session, request("POST /v1/chat/completions HTTP/1.1", "x"))
    assert other.requests == []
    assert len(ours.requests) == 1
    assert not answer.startswith(b"HTTP/1.1 200")
    assert KEY.encode() not in answer
    assert all(call.error for call in session.gateway.calls)


async def test_two_requests_in_one_connection_are_judged_one_by_one() -> None:
    second = request("POST /v1/files HTTP/1.1", "x")
    first = request("POST /v1/chat/completions HTTP/1.1", "x").replace(b"Connection: close\r\n", b"")
    async with up.UpstreamSimulator() as ours, local_session(ours.base_url, api_key=KEY) as session:
        answer = await raw(session, first + second)
    assert [r.path for r in ours.requests] == ["/v1/chat/completions"]
    assert b"404" in answer
