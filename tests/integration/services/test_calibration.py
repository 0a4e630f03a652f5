"""Calibration calls against a real upstream."""

import json
from typing import Any

import pytest

from agent_litmus.records.proofs import CalibrationCall
from agent_litmus.services.calibration import Calibrator
from agent_litmus.services.gateway import upstream_client
from agent_litmus.testing import upstream as up

pytestmark = [pytest.mark.integration, pytest.mark.anyio]

KEY = "sk-very-secret+key/0123456789"


async def calls(*scripts: up.Script, count: int = 1, patience: float = 20.0) -> tuple[list[CalibrationCall], Any]:
    async with (
        up.UpstreamSimulator(*scripts) as upstream,
        upstream_client(upstream.base_url, timeout=patience) as own,
    ):
        calibrator = Calibrator(upstream.base_url, KEY, "m-2026-01-01", own)
        made = [await calibrator.call(after) for after in range(count)]
    return made, upstream.requests


async def test_each_call_is_a_small_question_with_a_nonce_and_the_key() -> None:
    made, requests = await calls(up.content("ok"), count=3)
    assert [(call.after, call.status, call.error) for call in made] == [(0, 200, ""), (1, 200, ""), (2, 200, "")]
    assert all(call.duration > 0 for call in made)
    assert {request.headers["authorization"] for request in requests} == {f"Bearer {KEY}"}
    assert {request.document["model"] for request in requests} == {"m-2026-01-01"}
    assert all(0 < request.document["max_tokens"] <= 16 for request in requests)
    assert len({request.body for request in requests}) == 3
    assert not any(request.streams for request in requests)


@pytest.mark.parametrize(
    ("script", "status", "word"),
    [
        (up.failure(429, "slow down"), 429, "slow down"),
        (up.failure(301), 301, "301"),
        (up.raw(b"{}"), 200, "no chat completion"),
        (up.raw(b"[]"), 200, "no chat completion"),
        (up.raw(b"not json"), 200, "no chat completion"),
        (up.raw(b'{"choices": []}'), 200, "no chat completion"),
        (up.raw(b"[" * 100_000), 200, "no chat completion"),
        (up.raw(b" " * (2 << 20)), 0, "larger than"),
        (up.cut_stream("par"), 0, "no answer"),
    ],
    ids=["429", "redirect", "empty", "list", "not-json", "no-choices", "nested", "huge", "cut"],
)
async def test_a_failure_is_a_record_with_its_reason(script: up.Script, status: int, word: str) -> None:
    (call,), requests = await calls(script)
    assert (call.status, len(requests)) == (status, 1)
    assert word in call.error


async def test_an_upstream_that_says_nothing_ends_in_time() -> None:
    (call,), _ = await calls(up.hang(), patience=0.2)
    assert call.status == 0
    assert "ReadTimeout" in call.error


async def test_nobody_listening_is_a_failure() -> None:
    async with upstream_client("http://127.0.0.1:9/v1", timeout=5.0) as client:
        call = await Calibrator("http://127.0.0.1:9/v1", None, "m", client).call(4)
    assert (call.after, call.status) == (4, 0)
    assert "ConnectError" in call.error


@pytest.mark.parametrize("padding", [0, 200, 270, 290])
async def test_the_key_is_not_recorded_wherever_the_upstream_repeats_it(padding: int) -> None:
    def script(request: up.Request) -> up.Reply:
        body = json.dumps({"error": "x" * padding + request.headers["authorization"]}).encode()
        return up.Reply(401, (body,))

    (call,), _ = await calls(script)
    assert not any(KEY[:length] in call.error for length in range(8, len(KEY) + 1))
    assert len(call.error) < 500


async def test_an_answer_that_is_all_thought_is_an_answer() -> None:
    body = json.dumps({"choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "length"}]}).encode()
    (call,), _ = await calls(up.raw(body))
    assert (call.status, call.error) == (200, "")
