import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from agent_litmus.errors import LitmusError
from agent_litmus.records.probe import Environment
from agent_litmus.services.tools import TOOLS, ToolSession


@pytest.mark.parametrize(
    "environment", [Environment("e", tools=("send_male",)), Environment("e", tool_descriptions={"send_male": "x"})]
)
def test_an_environment_that_names_an_unknown_tool_is_refused(environment: Environment) -> None:
    with pytest.raises(LitmusError, match="send_male") as caught:
        ToolSession(environment)
    assert "send_mail" in caught.value.hint


def test_every_tool_has_a_closed_schema_without_noise() -> None:
    for tool in TOOLS.values():
        assert tool.schema["type"] == "object"
        assert tool.schema["additionalProperties"] is False
        assert "title" not in str(
            {name: sorted(p) for name, p in tool.schema["properties"].items() if name != "title"}
        )
        assert tool.description


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/secre", "/mcp/secret2", "/", "/mcp/secret/more"])
def test_a_server_with_a_path_of_its_own_answers_nowhere_else(path: str) -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"{}"}

    session = ToolSession(Environment("e"), path="/mcp/secret")
    scope = {"type": "http", "method": "POST", "path": path, "headers": []}
    asyncio.run(session.app(scope, receive, send))
    assert sent[0]["status"] == 404
    assert b"secret" not in sent[1]["body"]
