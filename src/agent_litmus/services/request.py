"""What the gateway lets through: reads an agent's request and says why it is refused."""

import json
from dataclasses import dataclass, field
from typing import Any

from agent_litmus.records.digest import digest_of, sha256_of
from agent_litmus.services.completion import request_text

CANONICAL_LIMIT = 256 * 1024
"""Bodies beyond this many bytes are digested as they are: their canonical form would hold up every session."""


class RefusedError(Exception):
    """The gateway answers in the upstream's place, with an OpenAI-style error.

    Args:
        status: HTTP status.
        code: Stable code, ``snake_case``.
        message: What is wrong and what to do.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    @property
    def body(self) -> bytes:
        """The error as OpenAI clients expect it."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return json.dumps(
            {"error": {"message": self.message, "type": kind, "param": None, "code": self.code}}
        ).encode()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """An agent's request, kept as bytes because it is forwarded as it came."""

    body: bytes
    digest: str = ""
    document: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    """Why the body is no JSON object; empty when it is one."""

    @property
    def model(self) -> str:
        """The model asked for; empty when none is named."""
        model = self.document.get("model")
        return model if isinstance(model, str) else ""

    @property
    def text(self) -> str:
        """The messages' text, clipped."""
        return request_text(self.document)


def parse(body: bytes) -> ChatRequest:
    """Read a request body; never raises."""
    try:
        document = json.loads(body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return ChatRequest(body, sha256_of(body), why=str(error))
    if not isinstance(document, dict):
        return ChatRequest(body, sha256_of(body), why="not a JSON object")
    return ChatRequest(body, _digest(document, body), document)


def _digest(document: dict[str, Any], body: bytes) -> str:
    if len(body) > CANONICAL_LIMIT:
        return sha256_of(body)
    try:
        return digest_of(document)
    except (ValueError, RecursionError):
        # Valid JSON that has no canonical form: integers beyond 2**53, lone surrogates.
        return sha256_of(body)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys: gateway and upstream could each believe another one, e.g. of two models."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key in an object")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
