"""The gateway between a real client and a real upstream."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from agent_litmus.records.config import ModelConfig
from agent_litmus.records.digest import digest_of, is_digest
from agent_litmus.records.session import ModelCall
from agent_litmus.services import gateway
from agent_litmus.testing import upstream as up
from agent_litmus.testing.local import LocalSession, local_session

pytestmark = [pytest.mark.integration, pytest.mark.anyio]

KEY = "sk-very-secret+key/0123456789"
ASK = {"model": "m", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]}


async def ask(session: LocalSession, body: Any = ASK, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=20) as client:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = {"content-type": "application/json", **headers}
        return await client.post(f"{session.gateway_url}/v1/chat/completions", content=content, headers=head)


async def one_call(*scripts: up.Script, body: Any = ASK, **options: Any) -> tuple[httpx2.Response, ModelCall]:
    async with up.UpstreamSimulator(*scripts) as upstream, local_session(upstream.base_url, **options) as session:
        response = await ask(session, body)
    (call,) = session.gateway.calls
    return response, call


async def test_an_answer_is_passed_on_unchanged_and_receipted() -> None:
    async with up.UpstreamSimulator(up.content("hi")) as upstream, local_session(upstream.base_url) as session:
        direct = (await _direct(upstream)).content
        response = await ask(session)
    (call,) = session.gateway.calls
    assert response.content == direct
    assert response.headers["x-litmus-receipt"] == call.id
    assert (call.status, call.error, call.model) == (200, "", "m")
    assert (call.request_text, call.response_text) == ("be brief\nhello", "hi")
    assert call.request_digest == digest_of(ASK)
    assert is_digest(call.response_digest)


async def _direct(upstream: up.UpstreamSimulator) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(f"{upstream.base_url}/chat/completions", json=ASK)


@pytest.mark.parametrize("script", [up.content("hello there"), up.tool_call("send_mail", {"to": "a@b.c"})])
async def test_streamed_and_whole_answers_have_the_same_record(script: up.Script) -> None:
    whole, call = await one_call(script)
    streamed, stream_call = await one_call(script, body=ASK | {"stream": True})
    assert whole.headers["content-type"] == "application/json"
    assert streamed.headers["content-type"] == "text/event-stream"
    assert streamed.content.endswith(b"data: [DONE]\n\n")
    assert (call.response_digest, call.response_text) == (stream_call.response_digest, stream_call.response_text)
    assert stream_call.error == ""


async def test_stream_events_arrive_before_the_stream_ends() -> None:
    async with (
        up.UpstreamSimulator(up.hanging_stream("early")) as upstream,
        local_session(upstream.base_url, grace=0.0) as session,
        httpx2.AsyncClient(trust_env=False) as client,
    ):
        url = f"{session.gateway_url}/v1/chat/completions"
        async with client.stream("POST", url, json=ASK | {"stream": True}) as response:
            first = await anext(response.aiter_bytes())
    assert b"early" in first
    (call,) = session.gateway.calls
    assert call.response_text == "early"
    assert "before the answer was complete" in call.error


async def test_the_request_goes_out_byte_for_byte_with_the_real_key_only() -> None:
    body = b' {"model" : "m","messages":[ ],  "seed": 12345678901234567890 }'
    async with up.UpstreamSimulator() as upstream, local_session(upstream.base_url, api_key=KEY) as session:
        await ask(
            session, body, authorization="Bearer mine", **{"api-key": "mine", "x-other": "mine", "cookie": "a=b"}
        )
    (request,) = upstream.requests
    assert request.body == body
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "mine" not in json.dumps(dict(request.headers))
    assert "cookie" not in request.headers


async def test_without_a_key_no_authorization_is_sent() -> None:
    async with up.UpstreamSimulator() as upstream, local_session(upstream.base_url) as session:
        await ask(session, authorization="Bearer mine")
    assert "authorization" not in upstream.requests[0].headers


async def test_cookies_of_the_upstream_do_not_tie_calls_together() -> None:
    script = up.constant(up.Reply(200, (b"{}",), headers={"set-cookie": "session=1"}))
    async with up.UpstreamSimulator(script) as upstream, local_session(upstream.base_url) as session:
        response = await ask(session)
        await ask(session)
    assert "set-cookie" not in response.headers
    assert all("cookie" not in request.headers for request in upstream.requests)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_the_upstreams_own_error_reaches_agent_and_record(status: int) -> None:
    response, call = await one_call(up.failure(status, "simulated reason"))
    assert response.status_code == call.status == status
    assert response.json()["error"]["message"] == "simulated reason"
    assert str(status) in call.error
    assert "simulated reason" in call.error
    assert call.response_digest == ""


async def test_a_rate_limit_is_passed_on_and_not_retried_by_the_gateway() -> None:
    scripts = (up.failure(429, retry_after="7"), up.content("fine"))
    async with up.UpstreamSimulator(*scripts) as upstream, local_session(upstream.base_url) as session:
        first = await ask(session)
        assert len(upstream.requests) == 1
        second = await ask(session)
    assert (first.status_code, first.headers["retry-after"]) == (429, "7")
    assert second.status_code == 200
    assert [bool(call.error) for call in session.gateway.calls] == [True, False]
    assert len({call.id for call in session.gateway.calls}) == 2


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{}", "no choices"),
        (b'{"choices": []}', "no choices"),
        (b"", "empty"),
        (b"<html>", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"null", "not JSON"),
        (b'{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}', "neither text nor tool calls"),
        (b'{"choices": [{"message": "hi"}]}', "not an object"),
        (b'{"error": {"message": "overloaded"}}', "overloaded"),
        (b'{"choices": "x"}', "not a list"),
        (b'{"choices": [{"message": {"tool_calls": [{}]}}]}', "no function"),
        (b"[" * 100_000, "not JSON"),
    ],
)
async def test_an_answer_without_content_is_an_error_though_http_said_200(body: bytes, why: str) -> None:
    response, call = await one_call(up.raw(body))
    assert response.status_code == call.status == 200
    assert response.content == body
    assert why in call.error
    assert call.response_digest == ""


async def test_a_dead_upstream_is_a_502_with_an_openai_style_error() -> None:
    async with up.UpstreamSimulator() as upstream:
        pass
    async with local_session(upstream.base_url) as session:
        response = await ask(session)
    (call,) = session.gateway.calls
    assert response.status_code == call.status == 502
    assert response.json()["error"]["code"] == "upstream_failed"
    assert "ConnectError" in call.error


async def test_an_upstream_that_never_answers_is_a_504() -> None:
    response, call = await one_call(up.hang(), timeout=0.1)
    assert response.status_code == call.status == 504
    assert response.json()["error"]["code"] == "upstream_timeout"
    assert call.error


async def test_a_stream_that_falls_silent_ends_with_an_error_event() -> None:
    response, call = await one_call(up.hanging_stream("half"), body=ASK | {"stream": True}, timeout=0.5)
    *_, last = response.content.strip().split(b"\n\n")
    assert json.loads(last.removeprefix(b"data: "))["error"]["code"] == "upstream_timeout"
    assert (call.status, call.response_text) == (200, "half")
    assert "in time" in call.error


@pytest.mark.parametrize("clean", [True, False])
async def test_a_truncated_stream_is_an_error(*, clean: bool) -> None:
    response, call = await one_call(up.cut_stream("half", clean=clean), body=ASK | {"stream": True})
    assert response.status_code == 200
    assert b"[DONE]" not in response.content
    assert (b'"error"' in response.content) is not clean
    assert call.response_text == "half"
    assert call.error


async def test_a_stream_that_is_no_chat_completion_is_passed_on_and_an_error() -> None:
    body = b"data: nonsense\n\ndata: [DONE]\n\n"
    response, call = await one_call(up.raw(body, content_type="text/event-stream"), body=ASK | {"stream": True})
    assert response.content == body
    assert "not JSON" in call.error


async def test_redirects_are_not_followed() -> None:
    script = up.constant(up.Reply(302, (b"",), headers={"location": "http://127.0.0.1:9/elsewhere"}))
    response, call = await one_call(script)
    assert response.status_code == call.status == 502
    assert "location" not in response.headers
    assert "302" in call.error


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_beyond_the_size_cap_is_cut_off(*, stream: bool) -> None:
    script = up.content("x" * 50_000, pieces=50)
    response, call = await one_call(script, body=ASK | {"stream": stream}, max_response=10_000)
    assert b"upstream_too_large" in response.content
    assert len(response.content) < 30_000
    assert "larger than" in call.error


@pytest.mark.parametrize("status", [200, 401, 500])
async def test_the_key_is_scrubbed_from_error_bodies_headers_and_records(status: int) -> None:
    response, call = await one_call(up.leak_key(status), api_key=KEY)
    everything = response.text + repr(response.headers) + repr(call)
    assert KEY not in everything
    assert "[key removed]" in response.text
    assert call.error


async def test_a_key_hidden_behind_json_escapes_is_scrubbed() -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    body = f'{{"error": {{"message": "bad key {escaped}"}}}}'.encode()
    response, call = await one_call(up.raw(body, status=401), api_key=KEY)
    assert KEY not in response.json()["error"]["message"]
    assert KEY not in call.error


async def test_a_key_cut_across_stream_chunks_is_scrubbed() -> None:
    event = b'data: {"error": {"message": "bad key ' + KEY.encode() + b'"}}\n\n'
    chunks = tuple(event[at : at + 7] for at in range(0, len(event), 7))
    script = up.constant(up.Reply(200, chunks, up.STREAM_TYPE))
    response, call = await one_call(script, body=ASK | {"stream": True}, api_key=KEY)
    assert KEY not in response.text
    assert "[key removed]" in response.text
    assert KEY not in call.error


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("escaped", [True, False])
async def test_a_key_cut_over_the_events_of_a_stream_is_scrubbed(size: int, escaped: bool) -> None:
    said = f"The key is {KEY}."
    parts = [said[at : at + size] for at in range(0, len(said), size)]
    texts = ["".join(f"\\u{ord(c):04x}" for c in part) if escaped else part for part in parts]
    events = [f'data: {{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}\n\n'.encode() for text in texts]
    script = up.constant(up.Reply(200, (*events, b"data: [DONE]\n\n"), up.STREAM_TYPE))
    response, call = await one_call(script, body=ASK | {"stream": True}, api_key=KEY)
    documents = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    heard = "".join(document["choices"][0]["delta"]["content"] for document in documents)
    assert heard == call.response_text == "The key is [key removed]."
    assert call.error == ""


async def test_a_key_behind_an_escaped_slash_is_scrubbed() -> None:
    body = f'{{"error": {{"message": "bad key {KEY.replace("/", chr(92) + "/")}"}}}}'.encode()
    response, _ = await one_call(up.raw(body, status=401), api_key=KEY)
    assert response.json()["error"]["message"] == "bad key [key removed]"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"model": "other", "messages": []}, 404, "model_not_found"),
        ({"messages": []}, 404, "model_not_found"),
        ({"model": ["m"], "messages": []}, 404, "model_not_found"),
        (b"", 400, "bad_body"),
        (b"not json", 400, "bad_body"),
        (b"\xff\xfe", 400, "bad_body"),
        (b"[]", 400, "bad_body"),
        (b'{"model": "m", "model": "other"}', 400, "bad_body"),
        (b'{"model": "m", "temperature": NaN}', 400, "bad_body"),
        (b"[" * 100_000, 400, "bad_body"),
        (b" " * 3000, 413, "too_large"),
    ],
)
async def test_unusable_requests_never_reach_the_upstream(body: Any, status: int, code: str) -> None:
    limit = 2000 if code == "too_large" else 8 << 20
    async with (
        up.UpstreamSimulator() as upstream,
        local_session(upstream.base_url, max_request=limit) as session,
    ):
        response = await ask(session, body)
    (call,) = session.gateway.calls
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert call.status == status
    assert call.error == response.json()["error"]["message"]
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/chat/completions?key=x"),
        ("POST", "/v1/chat/completions/"),
        ("POST", "/v1/../v1/files"),
        ("DELETE", "/v1/models/m"),
        ("POST", "/v1/models"),
    ],
)
async def test_other_methods_and_paths_are_refused_and_recorded(method: str, path: str) -> None:
    async with (
        up.UpstreamSimulator() as upstream,
        local_session(upstream.base_url) as session,
        httpx2.AsyncClient(trust_env=False) as client,
    ):
        response = await client.request(method, session.gateway_url + path)
    (call,) = session.gateway.calls
    assert response.status_code == call.status == 404
    assert response.json()["error"]["code"] == "not_allowed"
    assert upstream.requests == []


async def test_the_model_list_names_the_configured_model_and_is_no_call() -> None:
    async with local_session() as session, httpx2.AsyncClient(trust_env=False) as client:
        response = await client.get(f"{session.gateway_url}/v1/models")
    assert [model["id"] for model in response.json()["data"]] == ["m"]
    assert session.gateway.calls == ()
    assert session.gateway.count == 0


async def test_without_an_upstream_calls_are_refused_with_503() -> None:
    async with local_session() as session:
        response = await ask(session)
    (call,) = session.gateway.calls
    assert response.status_code == call.status == 503
    assert "base_url" in call.error


async def test_the_call_cap_holds_and_tells_clients_not_to_retry() -> None:
    model = ModelConfig(id="m", max_calls=2)
    async with up.UpstreamSimulator() as upstream, local_session(upstream.base_url, model=model) as session:
        responses = [await ask(session) for _ in range(3)]
    assert [r.status_code for r in responses] == [200, 200, 429]
    assert responses[2].json()["error"]["code"] == "call_cap"
    assert responses[2].headers["x-should-retry"] == "false"
    assert len(upstream.requests) == 2
    assert session.gateway.count == len(session.gateway.calls) == 3


async def test_the_call_cap_holds_for_concurrent_calls() -> None:
    model = ModelConfig(id="m", max_calls=3)
    async with up.UpstreamSimulator() as upstream, local_session(upstream.base_url, model=model) as session:
        responses = await asyncio.gather(*(ask(session) for _ in range(8)))
    assert sorted(r.status_code for r in responses) == [200] * 3 + [429] * 5
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("stream", [True, False])
async def test_the_token_cap_counts_what_the_upstream_reports(*, stream: bool) -> None:
    model = ModelConfig(id="m", max_tokens=15)
    body = ASK | {"stream": stream}
    async with (
        up.UpstreamSimulator(up.content("x", tokens=10)) as upstream,
        local_session(upstream.base_url, model=model) as session,
    ):
        responses = [await ask(session, body) for _ in range(3)]
    assert [r.status_code for r in responses] == [200, 200, 429]
    assert responses[2].json()["error"]["code"] == "token_cap"
    assert session.gateway.tokens == 20


async def test_tokens_are_estimated_where_the_upstream_reports_none() -> None:
    body = b'{"choices": [{"message": {"content": "' + b"x" * 400 + b'"}}]}'
    async with up.UpstreamSimulator(up.raw(body)) as upstream, local_session(upstream.base_url) as session:
        await ask(session)
    assert session.gateway.tokens == (len(json.dumps(ASK)) + 400) // 4


async def test_sessions_do_not_share_caps_or_receipts() -> None:
    model = ModelConfig(id="m", max_calls=1)
    async with (
        up.UpstreamSimulator() as upstream,
        local_session(upstream.base_url, model=model) as one,
        local_session(upstream.base_url, model=model) as two,
    ):
        assert [(await ask(session)).status_code for session in (one, two)] == [200, 200]
    assert one.gateway.calls[0].id != two.gateway.calls[0].id


async def test_a_client_that_leaves_frees_the_upstream_and_leaves_a_record() -> None:
    async with up.UpstreamSimulator(up.hang()) as upstream, local_session(upstream.base_url) as session:
        with pytest.raises(httpx2.ReadTimeout):
            async with httpx2.AsyncClient(trust_env=False, timeout=0.1) as client:
                await client.post(f"{session.gateway_url}/v1/chat/completions", json=ASK)
    (call,) = session.gateway.calls
    assert call.status == 0
    assert "agent closed the connection" in call.error


async def test_a_call_cut_off_by_the_sessions_end_is_recorded() -> None:
    async with up.UpstreamSimulator(up.hang()) as upstream:
        async with local_session(upstream.base_url, grace=0.0) as session:
            asking = asyncio.create_task(ask(session))
            await upstream.arrived.wait()
        with pytest.raises(httpx2.HTTPError):
            await asking
    (call,) = session.gateway.calls
    assert "before the answer was complete" in call.error
    assert session.gateway.count == 1


async def test_hostile_text_is_kept_storable() -> None:
    body = ASK | {"messages": [{"role": "user", "content": "\ud800 \x1b[31m" + "z" * 100_000}]}
    script = up.raw(b'{"choices": [{"message": {"content": "\\ud83d' + b"y" * 100_000 + b'"}}]}')
    _, call = await one_call(script, body=body)
    assert call.error == ""
    assert len(call.request_text.encode("utf-8")) < 70_000
    assert len(call.response_text.encode("utf-8")) < 70_000
    assert "\\ud800" in call.request_text
    assert is_digest(call.response_digest)


async def test_a_request_cut_off_by_its_sender_is_recorded_and_not_forwarded() -> None:
    async with up.UpstreamSimulator() as upstream, local_session(upstream.base_url) as session:
        _, writer = await asyncio.open_connection(*session.listeners.gateway.getsockname())
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
        writer.close()
    (call,) = session.gateway.calls
    assert call.status == 0
    assert "before its request was complete" in call.error
    assert upstream.requests == []


async def test_a_flood_of_refusals_is_cut_but_shows_and_hides_no_real_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "KEPT_REFUSALS", 2)
    async with up.UpstreamSimulator() as upstream, local_session(upstream.base_url) as session:
        for _ in range(5):
            await ask(session, {"model": "other"})
        await ask(session)
    assert [call.status for call in session.gateway.calls] == [404, 404, 200]
    assert session.gateway.count == 6


async def test_every_request_is_answered_or_recorded_under_a_crowd_of_clients() -> None:
    bad = [up.failure(500), up.raw(b"{}"), up.cut_stream("b"), up.failure(429)]
    scripts = [up.content("a"), *bad, up.content("c")] * 5
    async with up.UpstreamSimulator(*scripts) as upstream, local_session(upstream.base_url) as session:
        responses = await asyncio.gather(*(ask(session) for _ in range(30)))
    assert len(session.gateway.calls) == session.gateway.count == len(upstream.requests) == 30
    assert {call.id for call in session.gateway.calls} == {r.headers["x-litmus-receipt"] for r in responses}
    assert sum(not call.error for call in session.gateway.calls) == 10
