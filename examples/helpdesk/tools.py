"""MCP client of the help-desk agent: initialize, tools/list and tools/call over streamable HTTP."""

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PROTOCOL = "2025-06-18"


class ToolServerError(Exception):
    """The tool server could not be reached or broke the protocol."""


class ToolServer:
    """One MCP session.

    Args:
        url: Endpoint, e.g. ``http://127.0.0.1:8081/mcp``.
        timeout: Seconds to wait for each answer.
    """

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        parts = urlsplit(url)
        self._path = parts.path or "/"
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._id = 0

    @classmethod
    def from_config(cls, path: str) -> "ToolServer":
        """The first server of an ``mcpServers`` file.

        Raises:
            ToolServerError: The file cannot be read or names no server.
        """
        try:
            servers = json.loads(Path(path).read_text(encoding="utf-8"))["mcpServers"]
            return cls(next(iter(servers.values()))["url"])
        except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
            raise ToolServerError(f"no tool server in {path!r}: {error!r}") from error

    def start(self) -> list[str]:
        """Open the session; returns the names of the tools offered.

        Raises:
            ToolServerError: No answer, or an error instead of one.
        """
        client = {"name": "helpdesk", "version": "1"}
        opened = self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._headers["MCP-Protocol-Version"] = str(opened.get("protocolVersion", PROTOCOL))
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return [str(tool["name"]) for tool in self._ask("tools/list", {}).get("tools", [])]

    def call(self, name: str, arguments: dict[str, str]) -> tuple[bool, str]:
        """Call a tool: whether it worked, and its text.

        Raises:
            ToolServerError: No answer, or a protocol error instead of a result.
        """
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        texts = [str(part.get("text", "")) for part in result.get("content", []) if part.get("type") == "text"]
        return not result.get("isError", False), "\n".join(texts)

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        raw = self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        try:
            reply = json.loads(raw)
            if "error" in reply:
                raise ToolServerError(f"{method}: {reply['error'].get('message', reply['error'])}")
            return dict(reply["result"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ToolServerError(f"{method}: not a JSON-RPC answer: {raw[:200]!r}") from error

    def _send(self, message: dict[str, Any]) -> bytes:
        try:
            self._connection.request("POST", self._path, json.dumps(message).encode(), self._headers)
            response = self._connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ToolServerError(f"{message['method']}: no answer from the tool server: {error!r}") from error
        if session := response.getheader("Mcp-Session-Id"):
            self._headers["Mcp-Session-Id"] = session
        if response.status not in {http.client.OK, http.client.ACCEPTED}:
            raise ToolServerError(f"{message['method']}: the tool server answered {response.status}: {raw[:200]!r}")
        return raw
