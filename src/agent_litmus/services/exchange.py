"""One request to the upstream and its answer, passed on to the agent as it comes."""

import json
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx2
from starlette.types import Send

from agent_litmus.services.completion import Completion, MalformedError, StreamReader
from agent_litmus.services.events import EventScrubber
from agent_litmus.services.recorder import clip
from agent_litmus.services.request import RefusedError
from agent_litmus.services.scrub import MASK, Scrubber

_PASSED_HEADERS = ("content-type", "retry-after")


class Route(Protocol):
    """Where requests go, and the bounds on answers."""

    url: str
    client: httpx2.AsyncClient
    scrubber: Scrubber
    max_response: int


@dataclass(slots=True)
class Answer:
    """What the agent is given. ``status`` stays 0 until something was sent."""

    status: int = 0
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""
    complete: bool = False
    completion: Completion = field(default_factory=Completion)

    def unfinished(self) -> str:
        """Why there is no complete answer; empty when there is one."""
        return "" if self.complete else "the session ended before the answer was complete"

    async def start(self, send: Send, status: int) -> None:
        """Send status and headers."""
        self.status = status
        headers = {"content-type": "application/json"} | self.headers
        raw = [(n.encode("latin-1"), v.encode("latin-1", "replace")) for n, v in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})

    async def part(self, send: Send, body: bytes, *, last: bool = False) -> None:
        """Send a piece of the body."""
        if body or last:
            await send({"type": "http.response.body", "body": body, "more_body": not last})
        self.complete = self.complete or last

    async def send(self, send: Send) -> None:
        """Send everything at once."""
        self.headers["content-length"] = str(len(self.body))
        await self.start(send, self.status)
        await self.part(send, self.body, last=True)

    async def refuse(self, refusal: RefusedError, send: Send) -> None:
        """Send an error of the gateway's own; into a stream that already began, as its last event."""
        self.error = self.error or refusal.message
        if self.status:
            await self.part(send, b"data: " + refusal.body + b"\n\n", last=True)
            return
        if refusal.status == 429:
            # Clients repeat 429 by themselves; the caps do not come back.
            self.headers["x-should-retry"] = "false"
        self.status, self.body = refusal.status, refusal.body
        await self.send(send)


async def exchange(route: Route, body: bytes, headers: dict[str, str], answer: Answer, send: Send) -> None:
    """Send ``body`` upstream once and pass the answer on; every failure ends in ``answer.error``."""
    try:
        request = route.client.stream("POST", route.url, content=body, headers=headers, follow_redirects=False)
        async with request as response:
            await _pass_on(route, response, answer, send)
    except RefusedError as refusal:
        await answer.refuse(refusal, send)
    except httpx2.TimeoutException as error:
        why = f"The model upstream did not answer in time ({type(error).__name__})."
        await answer.refuse(RefusedError(504, "upstream_timeout", why), send)
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
        shown = route.scrubber.text(clip(str(error), 300))
        why = f"The model upstream failed: {type(error).__name__}{': ' if shown else ''}{shown}."
        await answer.refuse(RefusedError(502, "upstream_failed", why), send)


async def _pass_on(route: Route, response: httpx2.Response, answer: Answer, send: Send) -> None:
    status = response.status_code
    if status != 200 and not 400 <= status <= 599:
        raise RefusedError(
            502, "upstream_unexpected", f"The model upstream answered with status {status}; it is not followed."
        )
    for name in _PASSED_HEADERS:
        if name in response.headers:
            answer.headers[name] = route.scrubber.text(response.headers[name])
    if status == 200 and response.headers.get("content-type", "").startswith("text/event-stream"):
        await _stream(route, response, answer, send)
    else:
        await _whole(route, response, answer, send)


async def _whole(route: Route, response: httpx2.Response, answer: Answer, send: Send) -> None:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        _bound(route, len(body))
    data = route.scrubber.data(bytes(body))
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if route.scrubber.hidden_in(data):
        shown = MASK if document is None else json.dumps(document, ensure_ascii=False)
        data = route.scrubber.text(shown).encode("utf-8", "backslashreplace")
    answer.error = _problem(response.status_code, document, data, answer.completion)
    answer.body, answer.status = data, response.status_code
    await answer.send(send)


def _problem(status: int, document: Any, data: bytes, completion: Completion) -> str:
    if status != 200:
        return f"the upstream answered {status}: {clip(data.decode('utf-8', 'backslashreplace'), 1000)}"
    if document is None:
        return "the upstream's answer is not JSON" if data.strip() else "the upstream's answer is empty"
    try:
        completion.add(document, "message")
    except MalformedError as error:
        return str(error)
    return completion.problem()


async def _stream(route: Route, response: httpx2.Response, answer: Answer, send: Send) -> None:
    reader, scrubber, size = StreamReader(), EventScrubber(route.scrubber), 0
    answer.completion = reader.completion
    await answer.start(send, 200)
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        _bound(route, size)
        if not answer.error:
            answer.error = _read(reader, chunk)
        await answer.part(send, scrubber.feed(chunk))
    answer.error = answer.error or _read(reader, None)
    await answer.part(send, scrubber.end(), last=True)


def _read(reader: StreamReader, chunk: bytes | None) -> str:
    """Feed the record; the agent gets the bytes whether or not they can be read."""
    try:
        if chunk is None:
            return reader.end()
        reader.feed(chunk)
    except MalformedError as error:
        return str(error)
    return ""


def _bound(route: Route, size: int) -> None:
    if size > route.max_response:
        raise RefusedError(
            502, "upstream_too_large", f"The model upstream's answer is larger than {route.max_response} bytes."
        )
