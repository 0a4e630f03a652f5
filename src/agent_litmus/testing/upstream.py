"""A scriptable OpenAI-compatible model server: a real server with answers of your choosing.

In a test::

    async with UpstreamSimulator(content("hello"), failure(429), cut_stream("par")) as upstream:
        ...  # point a gateway at upstream.base_url; upstream.requests holds what arrived

The replies are given in turn, the last one again and again. As a process it answers every call at once::

    python -m agent_litmus.testing.upstream --port 8000
"""

import argparse
import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from starlette.types import Receive, Scope, Send

from agent_litmus.services.httpd import HttpServer, loopback_listener

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back, piece by piece."""

    status: int = 200
    chunks: tuple[bytes, ...] = ()
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    """After the pieces, stay silent until the client goes away."""
    cut: bool = False
    """After the pieces, break the connection instead of ending the body."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived. ``document`` is empty when the body is no JSON object."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    document: Mapping[str, Any]

    @property
    def streams(self) -> bool:
        """Whether the client asked for a stream."""
        return bool(self.document.get("stream"))


Script = Callable[[Request], Reply]
"""Makes the reply to one request."""


def content(text: str, *, tokens: int = 10, pieces: int = 3) -> Script:
    """A text, streamed in ``pieces`` events if the client asked for a stream."""
    return _message({"role": "assistant", "content": text}, _text_deltas(text, pieces), "stop", tokens)


def tool_call(name: str, arguments: Mapping[str, Any], *, tokens: int = 10) -> Script:
    """A call of one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    half = len(function["arguments"]) // 2
    deltas: list[dict[str, Any]] = [
        {"tool_calls": [{"index": 0, **call, "function": {"name": name, "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": function["arguments"][:half]}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": function["arguments"][half:]}}]},
    ]
    return _message({"role": "assistant", "content": None, "tool_calls": [call]}, deltas, "tool_calls", tokens)


def failure(status: int, message: str = "simulated failure", **headers: str) -> Script:
    """An OpenAI-style error; keyword names become headers with hyphens."""
    body = json.dumps({"error": {"message": message, "type": "simulated", "code": None}}).encode()
    hyphenated = {name.replace("_", "-"): value for name, value in headers.items()}
    return constant(Reply(status, (body,), headers=hyphenated))


def raw(body: bytes, *, status: int = 200, content_type: str = JSON_TYPE) -> Script:
    """Exactly these bytes."""
    return constant(Reply(status, (body,), content_type))


def hang() -> Script:
    """No answer at all."""
    return constant(Reply(status=0, hang=True))


def hanging_stream(text: str) -> Script:
    """A stream that falls silent after ``text``."""
    return constant(Reply(200, _events(_text_deltas(text, 1)), STREAM_TYPE, hang=True))


def cut_stream(text: str, *, clean: bool = False) -> Script:
    """A stream that ends after ``text`` without saying so; ``clean`` ends the body properly."""
    return constant(Reply(200, _events(_text_deltas(text, 1)), STREAM_TYPE, cut=not clean))


def leak_key(status: int = 401) -> Script:
    """An error whose body and header repeat the credentials the request came with."""

    def script(request: Request) -> Reply:
        key = request.headers.get("authorization", "")
        body = json.dumps({"error": {"message": f"bad credentials: {key}"}}).encode()
        return Reply(status, (body,), headers={"retry-after": key})

    return script


def constant(reply: Reply) -> Script:
    """The same reply whatever is asked."""
    return lambda _: reply


def _message(message: Mapping[str, Any], deltas: Sequence[Mapping[str, Any]], reason: str, tokens: int) -> Script:
    usage = {"prompt_tokens": tokens - 1, "completion_tokens": 1, "total_tokens": tokens}
    whole = {
        "id": "chatcmpl-simulated",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }
    body = json.dumps(whole).encode()

    def script(request: Request) -> Reply:
        if not request.streams:
            return Reply(200, (body,))
        last = _event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage})
        return Reply(200, (*_events(deltas), last, b"data: [DONE]\n\n"), STREAM_TYPE)

    return script


def _text_deltas(text: str, pieces: int) -> list[dict[str, str]]:
    size = max(1, -(-len(text) // pieces))
    return [{"content": text[at : at + size]} for at in range(0, len(text), size)]


def _events(deltas: Sequence[Mapping[str, Any]]) -> tuple[bytes, ...]:
    return tuple(_event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas)


def _event(document: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


class UpstreamSimulator:
    """The server, on a free port of 127.0.0.1 in the running event loop.

    Args:
        scripts: Replies in turn; the last one repeats. None: every call is answered ``ok``.
        port: Port to listen on; 0 picks a free one.
    """

    def __init__(self, *scripts: Script, port: int = 0) -> None:
        self._scripts = scripts or (content("ok"),)
        self._port = port
        self._server = HttpServer(self._app)
        self.requests: list[Request] = []
        """Every chat request that arrived, in order."""
        self.arrived = asyncio.Event()
        """Set once a chat request has arrived."""
        self.base_url = ""
        """Ends in ``/v1``; known once the context was entered."""

    async def __aenter__(self) -> Self:
        """Start listening."""
        listener = loopback_listener(self._port)
        self.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        await self._server.start([listener])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, whatever is still being answered."""
        await self._server.stop(grace=0.0)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            await _respond(Reply(200, (b'{"object": "list", "data": []}',)), receive, send)
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
        request = _request(scope, body)
        self.requests.append(request)
        self.arrived.set()
        reply = script(request)
        await _respond(reply, receive, send)
        if reply.cut:
            scope["state"]["transport"].abort()


def _request(scope: Scope, body: bytes) -> Request:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        document = json.loads(body)
    except ValueError:
        document = {}
    return Request(scope["path"], headers, body, document if isinstance(document, dict) else {})


async def _respond(reply: Reply, receive: Receive, send: Send) -> None:
    if reply.status:
        headers = {"content-type": reply.content_type, **reply.headers}
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
    for chunk in reply.chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    while reply.hang and (await receive())["type"] != "http.disconnect":
        pass
    if not reply.cut and reply.status:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _serve(port: int, text: str) -> None:
    async with UpstreamSimulator(content(text), port=port):
        await asyncio.Event().wait()


def main() -> None:
    """Serve instant answers until killed."""
    parser = argparse.ArgumentParser(description="an OpenAI-compatible server that answers every call at once")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--text", default=os.environ.get("LITMUS_SIMULATED_TEXT", "ok"))
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.port, arguments.text))


if __name__ == "__main__":
    main()
