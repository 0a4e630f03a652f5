"""A client of an OpenAI-compatible endpoint whose every failure is one of a few fixed texts."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from agent_litmus.errors import LitmusConfigError

MAX_ANSWER = 1 << 20
"""Bytes of the largest answer that is read."""
_MAX_TOKENS = 512
_TRIES = 3
_AGAIN = frozenset({429, 503})
_LONGEST_WAIT = 20.0


class ChatError(Exception):
    """There is no usable answer. The text holds nothing that came from the endpoint, which might repeat the key."""


class ChatClient:
    """Asks a model, a bounded number of times at once.

    Args:
        url: Base URL of the endpoint, such as ``https://host/v1``.
        model: Model id.
        key: Bearer key; empty sends none.
        timeout: Longest time for one answer, in seconds.
        jobs: Requests in flight at once.

    Raises:
        LitmusConfigError: The URL is none, or holds a user or password.
    """

    def __init__(self, url: str, model: str, *, key: str = "", timeout: float = 60.0, jobs: int = 4) -> None:
        self._url, self._model, self._timeout = f"{checked_url(url)}/chat/completions", model, timeout
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(headers=headers, trust_env=False, timeout=timeout)
        self._slots = asyncio.Semaphore(jobs)

    async def __aenter__(self) -> Self:
        """Nothing is sent yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def ask(self, messages: Sequence[Mapping[str, str]], response_format: Mapping[str, Any]) -> str:
        """The text of the model's answer.

        Raises:
            ChatError: There is none.
        """
        body = {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            "response_format": dict(response_format),
            "temperature": 0,
            "max_tokens": _MAX_TOKENS,
        }
        async with self._slots:
            try:
                async with asyncio.timeout(self._timeout):
                    return _content(await self._answer(body))
            except (TimeoutError, httpx2.TimeoutException):
                raise ChatError("no answer in time") from None
            except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL):
                raise ChatError("the connection failed") from None

    async def _answer(self, body: Mapping[str, Any]) -> bytes:
        for last in (*[False] * (_TRIES - 1), True):
            async with self._client.stream("POST", self._url, json=body, follow_redirects=False) as response:
                if response.status_code == 200:
                    return await _limited(response)
                if last or response.status_code not in _AGAIN:
                    raise ChatError(f"HTTP status {response.status_code}")
                pause = _wait(response.headers.get("retry-after", ""))
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")


def checked_url(url: str) -> str:
    """The URL without its last slash.

    Raises:
        LitmusConfigError: It is none, or holds a user or password.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise LitmusConfigError(
            f"{url[:100]!r} is no http or https URL", hint="give the base URL, such as https://host/v1"
        )
    if parts.username is not None or parts.password is not None or parts.query:
        raise LitmusConfigError(
            "the judge's URL holds a user, a password or a query",
            hint="name the variable that holds the key with --key-env",
        )
    return url.rstrip("/")


async def _limited(response: httpx2.Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_ANSWER:
            raise ChatError("the answer is too long")
    return bytes(data)


def _wait(retry_after: str) -> float:
    try:
        return min(_LONGEST_WAIT, max(0.0, float(retry_after)))  # in this order NaN is bounded too
    except ValueError:
        return 1.0


def _content(data: bytes) -> str:
    try:
        choice = json.loads(data)["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise ChatError("the answer is no chat completion") from None
    if refusal or reason == "content_filter":
        raise ChatError("the model refused")
    if reason == "length":
        raise ChatError("the answer was cut short")
    if not isinstance(content, str) or not content.strip():
        raise ChatError("the answer is empty")
    return content
