"""Asking a model over HTTP: every failure is one of a few fixed texts, and the key stays where it belongs."""

import asyncio
import json
from typing import Any

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.services.chat import MAX_ANSWER, ChatClient, ChatError, checked_url
from agent_litmus.testing.upstream import (
    Reply,
    Request,
    Script,
    UpstreamSimulator,
    constant,
    content,
    failure,
    hang,
    leak_key,
    raw,
    tool_call,
)

pytestmark = [pytest.mark.integration, pytest.mark.anyio]
KEY = "sk-a-very-secret-key-0123456789"
QUESTION = [{"role": "user", "content": "?"}]
FORMAT: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "v", "strict": True, "schema": {}}}


async def asked(upstream: UpstreamSimulator, *, seconds: float = 20.0) -> str:
    async with ChatClient(upstream.base_url, "m", key=KEY, timeout=seconds) as client:
        return await client.ask(QUESTION, FORMAT)


async def test_the_question_is_constrained_and_carries_the_key_in_its_header_alone() -> None:
    async with UpstreamSimulator(content("yes")) as upstream:
        assert await asked(upstream) == "yes"
    (request,) = upstream.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.document["response_format"] == FORMAT
    assert (request.document["model"], request.document["temperature"]) == ("m", 0)
    assert KEY.encode() not in request.body


def message(**fields: object) -> Script:
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": fields.pop("reason", "stop")}
    return raw(json.dumps({"choices": [choice]}).encode())


FAILURES = {
    "HTTP status 500": failure(500),
    "HTTP status 401": leak_key(),
    "HTTP status 307": constant(Reply(307, headers={"location": "http://127.0.0.1:1/"})),
    "HTTP status 429": failure(429, retry_after="0"),
    "the answer is no chat completion": raw(b"\xff{"),
    "the model refused": message(content=None, refusal="I'd rather not."),
    "the answer was cut short": message(content='{"refuses": tr', reason="length"),
    "the answer is empty": message(content=" "),
    "the answer is too long": raw(b"x" * (MAX_ANSWER + 1)),
    "the connection failed": constant(Reply(200, (b"{",), cut=True)),
}


@pytest.mark.parametrize(("why", "script"), FAILURES.items(), ids=FAILURES)
async def test_every_failure_is_a_fixed_text_without_the_key(why: str, script: Script) -> None:
    async with UpstreamSimulator(script) as upstream:
        with pytest.raises(ChatError) as caught:
            await asked(upstream)
    assert str(caught.value) == why
    assert KEY not in repr(caught.value)


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b"[" * 99999]
)
async def test_what_is_no_completion_is_said(body: bytes) -> None:
    async with UpstreamSimulator(raw(body)) as upstream:
        with pytest.raises(ChatError, match="no chat completion"):
            await asked(upstream)


async def test_a_tool_call_is_no_answer() -> None:
    async with UpstreamSimulator(tool_call("verdict", {"refuses": True})) as upstream:
        with pytest.raises(ChatError, match="the answer is empty"):
            await asked(upstream)


async def test_silence_ends_in_time() -> None:
    async with UpstreamSimulator(hang()) as upstream:
        with pytest.raises(ChatError, match="no answer in time"):
            await asked(upstream, seconds=0.2)


async def test_nobody_there_is_said() -> None:
    async with UpstreamSimulator() as upstream:
        url = upstream.base_url
    async with ChatClient(url, "m") as client:
        with pytest.raises(ChatError, match="the connection failed"):
            await client.ask(QUESTION, FORMAT)


async def test_a_busy_endpoint_is_asked_again() -> None:
    busy = failure(429, retry_after="0")
    async with UpstreamSimulator(busy, failure(503, retry_after="nan"), content("yes")) as upstream:
        assert await asked(upstream) == "yes"
    assert len(upstream.requests) == 3


async def test_no_more_questions_are_in_flight_than_allowed() -> None:
    arrived = asyncio.Semaphore(0)

    def silent(_: Request) -> Reply:
        arrived.release()
        return Reply(status=0, hang=True)

    async with UpstreamSimulator(silent) as upstream, ChatClient(upstream.base_url, "m", jobs=2) as client:
        tasks = [asyncio.create_task(client.ask(QUESTION, FORMAT)) for _ in range(6)]
        await arrived.acquire()
        await arrived.acquire()
        tasks[0].cancel()  # frees a place, for one more
        await arrived.acquire()
        assert len(upstream.requests) == 3
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    "url", ["", "host/v1", "ftp://host", "http://", "http://[::1", "http://h:99999/", "file:///x"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(LitmusConfigError, match="no http or https URL"):
        checked_url(url)


@pytest.mark.parametrize("url", ["http://user:pass@host/v1", "https://host/v1?key=secret"])
def test_a_url_with_credentials_is_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(LitmusConfigError, match="--key-env") as caught:
        checked_url(url)
    assert "pass" not in caught.value.message.replace("password", "")
    assert "secret" not in str(caught.value)
