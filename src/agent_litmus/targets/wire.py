"""What goes over the wire to an agent behind a URL and back; docs/reference/remote.md has it for endpoints."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JSON = "application/json"
MAX_RESPONSE = 8 << 20
"""Largest response that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One response. Everything in it is hostile."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    whole: bool
    """Whether the body was read to its end."""


def question(*, prompt: str, session: str, nonce: str, seed: int, tools_url: str) -> bytes:
    """The request's body."""
    document = {"prompt": prompt, "session": session, "nonce": nonce, "seed": seed, "mcp": {"url": tools_url}}
    return json.dumps(document).encode()


def flaw(reply: Reply) -> str:
    """Why a response says nothing, whatever is in its body; empty if it may."""
    if 300 <= reply.status < 400:
        return f"the endpoint answered with status {reply.status}, a redirect, and none is followed"
    if reply.status != 200:
        return f"the endpoint answered with status {reply.status}"
    if not reply.whole:
        return f"the endpoint's response is longer than {MAX_RESPONSE} bytes"
    encoding = reply.headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity"}:
        return f"the endpoint's response has the content encoding {encoding[:40]!a}, and none was accepted"
    return ""


def spoken(reply: Reply) -> tuple[str, str]:
    """The agent's answer, and why there is none; exactly one of both is empty, unless the answer itself is."""
    why = flaw(reply)
    if why:
        return "", why
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        return "", f"the endpoint's response is of type {kind[:80]!a}, not {JSON}"
    if not reply.body.strip():
        return "", "the endpoint's response is empty"
    try:
        document: Any = json.loads(reply.body)
    except (ValueError, RecursionError):
        return "", "the endpoint's response is not JSON"
    if not isinstance(document, dict) or "answer" not in document:
        return "", "the endpoint's response is no JSON object with the key 'answer'"
    answer = document["answer"]
    if not isinstance(answer, str):
        return "", "the endpoint's 'answer' is not text"
    if not answer.strip():
        return "", "the endpoint's 'answer' is empty"
    return answer, ""
