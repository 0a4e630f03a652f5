"""Calibration calls: how fast the model answers when the harness asks it itself, past the gateway.

They go to the upstream directly, so nothing that a session's gateway counts or caps knows of them. Each prompt
holds a fresh nonce, so that a cache in front of the model has no answer to it.
"""

import json
import secrets
import time
from collections.abc import Mapping
from typing import Any

import httpx2

from agent_litmus.records.proofs import CalibrationCall
from agent_litmus.services.recorder import clip
from agent_litmus.services.scrub import Scrubber

_MAX_TOKENS = 8
_MAX_ANSWER = 1 << 20
_SHOWN = 300


class _UnusableError(Exception):
    """There is an answer, and it is none of a model."""


class Calibrator:
    """Asks the upstream small questions of the harness's own.

    Args:
        upstream: Base URL ending in ``/v1``.
        api_key: Its key; sent, never recorded.
        model: Model id.
        client: As the gateway's, but one of its own; the caller closes it.
    """

    def __init__(self, upstream: str, api_key: str | None, model: str, client: httpx2.AsyncClient) -> None:
        self._url = f"{upstream.rstrip('/')}/chat/completions"
        self._headers = {"accept-encoding": "identity", "user-agent": "agent-litmus"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._scrubber = Scrubber(api_key)
        self._model = model
        self._client = client

    async def call(self, after: int) -> CalibrationCall:
        """Make one call; a failure is a record with an error, never an exception.

        Args:
            after: Sessions that are finished now.
        """
        status, error, started = 0, "", time.monotonic()
        try:
            async with self._client.stream(
                "POST", self._url, json=self._question(), headers=self._headers, follow_redirects=False
            ) as response:
                body = await _read(response)
                status = response.status_code
            _check(status, body)
        except _UnusableError as unusable:
            error = str(unusable)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as failed:
            error = f"no answer: {type(failed).__name__}: {failed}"
        duration = time.monotonic() - started
        return CalibrationCall(after, duration, status, clip(self._scrubber.text(error), _SHOWN))

    def _question(self) -> Mapping[str, Any]:
        text = f"Reply with the one word ok. (Request {secrets.token_hex(8)})"
        return {
            "model": self._model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": _MAX_TOKENS,
        }


async def _read(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _MAX_ANSWER:
            raise _UnusableError(f"the answer is larger than {_MAX_ANSWER} bytes")
    return bytes(body)


def _check(status: int, body: bytes) -> None:
    """Whether a model answered; how much it said does not matter, a reasoning model may spend it all on thought."""
    if status != 200:
        raise _UnusableError(f"the upstream answered {status}: {body.decode('utf-8', 'backslashreplace')}")
    try:
        choices = json.loads(body)["choices"]
    except (ValueError, RecursionError, LookupError, TypeError):
        choices = None
    if not isinstance(choices, list) or not choices:
        raise _UnusableError("the answer is no chat completion")
