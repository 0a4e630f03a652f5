"""The tool server: MCP over streamable HTTP at ``/mcp``, one per session, every call recorded."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from agent_litmus.errors import LitmusError
from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.probe import Environment
from agent_litmus.services import world as w
from agent_litmus.services.httpd import connected
from agent_litmus.services.outbound import Inspect, Search, texts
from agent_litmus.services.recorder import Clock, EffectLog, Witness, session_clock

PATH = "/mcp"
MAX_BODY = 4 << 20
"""Largest request body in bytes."""


@dataclass(frozen=True, slots=True)
class _Tool:
    description: str
    arguments: type[w.Arguments]
    run: Callable[[w.World, Any], str]
    schema: dict[str, Any]


def _tool(description: str, arguments: type[w.Arguments], run: Callable[[w.World, Any], str]) -> _Tool:
    schema = arguments.model_json_schema()
    schema = {key: value for key, value in schema.items() if key not in {"title", "description"}}
    schema["properties"] = {
        n: {k: v for k, v in p.items() if k != "title"} for n, p in schema["properties"].items()
    }
    return _Tool(description, arguments, run, schema)


TOOLS = {
    "list_mail": _tool("List the mails in the mailbox.", w.NoArguments, w.World.list_mail),
    "read_mail": _tool("Read one mail.", w.Id, w.World.read_mail),
    "send_mail": _tool("Send a mail.", w.Mail, w.World.send_mail),
    "list_tickets": _tool("List the tickets.", w.NoArguments, w.World.list_tickets),
    "read_ticket": _tool("Read one ticket.", w.Id, w.World.read_ticket),
    "create_ticket": _tool("Open a new ticket.", w.Ticket, w.World.create_ticket),
    "fetch_page": _tool("Fetch a web page.", w.Url, w.World.fetch_page),
    "list_files": _tool("List the files of the workspace.", w.NoArguments, w.World.list_files),
    "read_file": _tool("Read a file of the workspace.", w.Path, w.World.read_file),
    "write_file": _tool("Write a file of the workspace.", w.Text, w.World.write_file),
}
"""Every tool, by name."""


class ToolSession:
    """The tools of one session.

    Args:
        environment: The expanded environment: world, offered tools, overridden descriptions.
        watch: Texts whose sending is witnessed (the injected text).
        clock: Seconds since the session's start.
        inspect: Names of what it finds in a text; called with everything that leaves, before any of it is cut.
        path: Where it answers, without a slash at the end.

    Raises:
        LitmusError: The environment names a tool there is none of.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        watch: tuple[str, ...] = (),
        clock: Clock | None = None,
        inspect: Inspect | None = None,
        path: str = PATH,
    ) -> None:
        self._inspect = inspect
        self._path = path
        self._tools = _offered(environment)
        self._world = w.World(environment)
        self._descriptions = environment.tool_descriptions
        self._log = EffectLog(clock or session_clock())
        self._witness = Witness(watch)
        self._manager: StreamableHTTPSessionManager | None = None
        self.calls = 0
        """Tool calls received, failed ones included."""
        self.failures: list[Exception] = []
        """Defects of this server itself; anything here makes the session worthless."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Effects on the channel ``tools``, in order."""
        return self._log.effects

    @property
    def dropped(self) -> int:
        """Effects not kept; above zero the channel was only partially observed."""
        return self._log.dropped

    @property
    def sent(self) -> frozenset[str]:
        """The watched texts that stood in bytes sent over an open connection."""
        return self._witness.sent

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the server going; ``app`` answers only inside."""
        server = Server[Any]("workspace", version="1", on_list_tools=self._list_tools, on_call_tool=self._call_tool)
        server.middleware[:] = [self._record_broken_calls]
        # No DNS-rebinding check: the listener is in the session's own network, any Host header is the agent's.
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MAX_BODY
        )
        ready, leave = asyncio.Event(), asyncio.Event()
        # In a task of its own, because the manager's task group would wrap the caller's exceptions.
        task = asyncio.create_task(_run(self._manager, ready, leave))
        try:
            await ready.wait()
            yield
        finally:
            leave.set()
            await task

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if scope["path"].rstrip("/") != self._path:
            await JSONResponse({"error": f"not found; the tool server is at {PATH}"}, 404)(scope, receive, send)
            return
        if scope["method"] not in {"POST", "DELETE"}:
            # A standing event stream would only be held open: this server never speaks first.
            await JSONResponse({"error": "method not allowed"}, 405, {"allow": "POST"})(scope, receive, send)
            return
        assert self._manager is not None
        await self._manager.handle_request(_accepting(scope), receive, self._witnessed(scope, send))

    def _witnessed(self, scope: Scope, send: Send) -> Send:
        body = bytearray()

        async def forward(message: Message) -> None:
            # Asked before the last bytes go out: with `Connection: close` they are followed by our own closing.
            open_before = connected(scope)
            await send(message)
            if message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if open_before and not message.get("more_body", False):
                    for text in _texts(bytes(body)):
                        self._witness.saw(text)

        return forward

    async def _list_tools(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._log.add(Channel.TOOLS, "list", Outcome.EXECUTED, {"count": len(self._tools)})
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name, description=self._descriptions.get(name, tool.description), input_schema=tool.schema
                )
                for name, tool in self._tools.items()
            ]
        )

    async def _call_tool(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        try:
            result, ok = self._run(params.name, arguments), True
        except w.ToolError as error:
            result, ok = str(error), False
        self._record(params.name, arguments, ok=ok, result=result)
        return types.CallToolResult(content=[types.TextContent(text=result)], is_error=not ok)

    def _run(self, name: str, arguments: dict[str, Any]) -> str:
        tool = self._tools.get(name)
        if tool is None:
            raise w.ToolError(f"Unknown tool {name!r}. Known: {', '.join(self._tools)}.")
        try:
            parsed = tool.arguments.model_validate(arguments)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
            raise w.ToolError(f"Bad arguments for {name}: {problems}") from error
        return tool.run(self._world, parsed)

    def _record(self, name: str, arguments: Any, *, ok: bool, result: str) -> None:
        self.calls += 1
        outcome = Outcome.EXECUTED if ok else Outcome.ATTEMPTED
        named = isinstance(arguments, Mapping)
        detail = {"tool": name, "arguments": arguments if named else {}, "ok": ok, "result": result}
        detail["carries"] = self._carried([name, arguments])
        self._log.add(Channel.TOOLS, "call", outcome, detail, clipped=not named and arguments is not None)
        if not ok and named and name == "send_mail" and name in self._tools:
            self._world.acts.append(("mail", w.mail_detail(arguments)))
        for action, act in self._world.acts:
            carried = {} if action == "write" else {"carries": self._carried(act)}
            self._log.add(Channel.TOOLS, action, outcome, {**act, **carried})
        self._world.acts.clear()

    def _carried(self, value: Any) -> list[str]:
        search = Search(self._inspect)
        search.text("\n".join(texts(value)))
        return search.found()

    async def _record_broken_calls(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Record calls so malformed that the protocol layer refuses them before the tool is looked up."""
        try:
            return await call_next(ctx)
        except (MCPError, ValidationError) as error:
            if ctx.method == "tools/call":
                params = ctx.params or {}
                name = str(params.get("name") or "")
                self._record(name, params.get("arguments"), ok=False, result=f"malformed call: {error}")
            raise
        except Exception as error:
            self.failures.append(error)
            raise


async def _run(manager: StreamableHTTPSessionManager, ready: asyncio.Event, leave: asyncio.Event) -> None:
    async with manager.run():
        ready.set()
        await leave.wait()


def _offered(environment: Environment) -> dict[str, _Tool]:
    unknown = sorted({*environment.tools, *environment.tool_descriptions} - TOOLS.keys())
    if unknown:
        raise LitmusError(
            f"environment {environment.id!r}: unknown tool {', '.join(unknown)}",
            hint=f"Use some of: {', '.join(TOOLS)}.",
            slug="unknown-tool",
        )
    return {name: tool for name, tool in TOOLS.items() if not environment.tools or name in environment.tools}


def _accepting(scope: Scope) -> Scope:
    """The same request with an Accept header the protocol asks for; small agents leave it out."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"accept"]
    return {**scope, "headers": [*headers, (b"accept", b"application/json, text/event-stream")]}


def _texts(body: bytes) -> Iterator[str]:
    """Every text in a JSON answer."""
    try:
        stack = [json.loads(body)]
    except ValueError:
        return
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
