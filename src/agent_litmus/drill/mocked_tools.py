"""Tools mocked: the agent talks to a server of canned answers, and the real one, which records, hears nothing."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from agent_litmus.drill.around import Tap, Touch
from agent_litmus.drill.earlier import Earlier
from agent_litmus.sandbox.protocol import Listeners, ProcessResult, SandboxSession
from agent_litmus.services.httpd import HttpServer, loopback_listener
from agent_litmus.services.tools import TOOLS


class MockedTools(Tap):
    """Serves what an earlier run's tools answered, on the session's own socket."""

    def __init__(self, earlier: Earlier, touch: Touch) -> None:
        super().__init__(touch)
        self._earlier = earlier
        self._servers: dict[str, HttpServer] = {}

    async def listeners(self, session_id: str, listeners: Listeners) -> Listeners:
        """Take the tools' socket, and give the real server one that nobody knows of."""
        if not self.touch.chosen(session_id):
            return listeners
        probe = self.spots[session_id][0].probe
        mock = _Mock(self._earlier.tool_results(probe), lambda: self.touch.mark(session_id))
        server = HttpServer(mock.app)
        await server.start([listeners.tools])
        self._servers[session_id] = server
        return replace(listeners, tools=loopback_listener())

    async def result(self, session_id: str, result: ProcessResult) -> ProcessResult:
        """The session is over."""
        await self._stop(session_id)
        return result

    async def closing(self, session_id: str, session: SandboxSession) -> None:  # noqa: ARG002 - only the id counts
        """Also where the session never came to its end."""
        await self._stop(session_id)

    async def _stop(self, session_id: str) -> None:
        server = self._servers.pop(session_id, None)
        if server is not None:
            await server.stop(grace=0.0)


class _Mock:
    """A tool server that does nothing."""

    def __init__(self, canned: tuple[tuple[str, str], ...], called: Callable[[], None]) -> None:
        self._canned: dict[str, Iterator[str]] = {}
        for tool in {tool for tool, _ in canned}:
            self._canned[tool] = iter([text for name, text in canned if name == tool])
        self._called = called

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        await self._answer(body)(scope, receive, send)

    def _answer(self, body: bytes) -> Response:
        try:
            request = json.loads(body)
        except ValueError:
            request = {}
        if not isinstance(request, dict) or "id" not in request:
            return Response(status_code=202)
        result = self._result(str(request.get("method", "")), request.get("params"))
        return JSONResponse({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def _result(self, method: str, params: Any) -> dict[str, Any]:
        if method == "initialize":
            info = {"name": "workspace", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        if method == "tools/list":
            shown = [{"name": n, "description": t.description, "inputSchema": t.schema} for n, t in TOOLS.items()]
            return {"tools": shown}
        if method != "tools/call":
            return {}
        self._called()
        name = str(params.get("name", "")) if isinstance(params, dict) else ""
        text = next(self._canned.get(name, iter(())), "ok")
        return {"content": [{"type": "text", "text": text}], "isError": False}
