"""Reads what a model generated out of an OpenAI chat completion, whole or streamed, for the record."""

import json
from dataclasses import dataclass, field
from typing import Any

from agent_litmus.records.digest import digest_of
from agent_litmus.services.recorder import clip

LINE_LIMIT = 8 << 20
"""Longest line of an event stream in bytes."""


class MalformedError(ValueError):
    """The upstream's answer is not a chat completion; the text says why."""


@dataclass(slots=True)
class ToolCall:
    """A tool call the model asked for."""

    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Choice:
    """One generated alternative."""

    text: str = ""
    tool_calls: dict[int, ToolCall] = field(default_factory=dict)
    finish_reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The generated content alone: no ids, no times."""
        calls = [self.tool_calls[i] for i in sorted(self.tool_calls)]
        return {
            "text": _storable(self.text),
            "tool_calls": [{"name": _storable(c.name), "arguments": _storable(c.arguments)} for c in calls],
        }


@dataclass(slots=True)
class Completion:
    """What was generated, and the tokens the upstream says it took (``tokens`` 0: it did not say)."""

    choices: dict[int, Choice] = field(default_factory=dict)
    tokens: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def digest(self) -> str:
        """Digest over the generated content; empty when nothing was generated."""
        return digest_of([c.as_json() for _, c in sorted(self.choices.items())]) if self.generated else ""

    @property
    def generated(self) -> bool:
        """Whether any choice holds text or a tool call."""
        return any(c.text or c.tool_calls for c in self.choices.values())

    @property
    def text(self) -> str:
        """The generated text, then tool calls as JSON, clipped."""
        parts = []
        for _, choice in sorted(self.choices.items()):
            content = choice.as_json()
            parts.extend([content["text"]] if content["text"] else [])
            parts.extend(json.dumps(call, ensure_ascii=False) for call in content["tool_calls"])
        return clip("\n".join(parts))

    def problem(self) -> str:
        """Why this is not an answer; empty when it is one."""
        if not self.choices:
            return "the answer holds no choices"
        if not self.generated:
            reasons = ", ".join(sorted({c.finish_reason or "none" for c in self.choices.values()}))
            return f"the answer holds neither text nor tool calls (finish_reason: {reasons})"
        return ""

    def add(self, document: Any, part: str) -> None:
        """Take in a whole answer (``part`` = ``message``) or one event of a stream (``part`` = ``delta``).

        Raises:
            MalformedError: It reports an error or has not the shape of a chat completion.
        """
        if not isinstance(document, dict):
            raise MalformedError("the answer is not a JSON object")
        if document.get("error"):
            raise MalformedError(f"the upstream reports an error: {clip(json.dumps(document['error']), 2000)}")
        self._count(document.get("usage"))
        choices = document.get("choices") or []
        if not isinstance(choices, list):
            raise MalformedError("`choices` is not a list")
        for position, choice in enumerate(choices):
            if not isinstance(choice, dict):
                raise MalformedError("a choice is not an object")
            self._choose(choice, position, part)

    def _count(self, usage: Any) -> None:
        """Take in what the upstream counted; a stream may say it several times, growing."""
        if not isinstance(usage, dict):
            return
        total = usage.get("total_tokens")
        if isinstance(total, int) and total > self.tokens:
            self.tokens = total
        self.prompt_tokens = _larger(self.prompt_tokens, usage.get("prompt_tokens"))
        self.completion_tokens = _larger(self.completion_tokens, usage.get("completion_tokens"))

    def _choose(self, source: dict[str, Any], position: int, part: str) -> None:
        index = source.get("index", position)
        choice = self.choices.setdefault(index if isinstance(index, int) else position, Choice())
        choice.finish_reason = str(source.get("finish_reason") or choice.finish_reason)
        message = source.get(part) or {}
        if not isinstance(message, dict):
            raise MalformedError(f"`{part}` is not an object")
        choice.text += _content(message.get("content")) + _content(message.get("refusal"))
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list):
            raise MalformedError("`tool_calls` is not a list")
        if isinstance(message.get("function_call"), dict):
            calls = [*calls, {"function": message["function_call"]}]
        for order, call in enumerate(calls):
            _add_call(choice, call, order)


def _larger(known: int | None, said: Any) -> int | None:
    """The larger of two counts; what is no count that JSON can carry says nothing."""
    if not isinstance(said, int) or isinstance(said, bool) or not 0 <= said < 2**53:
        return known
    return said if known is None else max(known, said)


def _add_call(choice: Choice, call: Any, order: int) -> None:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise MalformedError("a tool call has no function")
    index = call.get("index", order)
    target = choice.tool_calls.setdefault(index if isinstance(index, int) else order, ToolCall())
    target.name += str(function.get("name") or "")
    arguments = function.get("arguments") or ""
    target.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)


def _content(content: Any) -> str:
    """Text of a message's content, which is text, a list of parts, or nothing."""
    if isinstance(content, list):
        return "".join(_content(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def request_text(body: dict[str, Any]) -> str:
    """All messages' text, roles aside, joined and clipped; tool calls of earlier turns included."""
    messages = body.get("messages")
    parts: list[str] = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            parts.append(_content(message.get("content")))
            calls = message.get("tool_calls")
            parts.extend(
                json.dumps(call, ensure_ascii=False) for call in (calls if isinstance(calls, list) else ())
            )
    return clip("\n".join(part for part in parts if part))


class StreamReader:
    """Reassembles a completion from the bytes of an event stream, however they are cut into chunks."""

    def __init__(self) -> None:
        self.completion = Completion()
        self._line = bytearray()
        self._data: list[bytes] = []
        self._done = False

    def feed(self, chunk: bytes) -> None:
        """Take in the next bytes.

        Raises:
            MalformedError: The stream holds something that is no event of a chat completion.
        """
        *lines, rest = (bytes(self._line) + chunk).split(b"\n")
        self._line = bytearray(rest)
        if len(self._line) > LINE_LIMIT:
            raise MalformedError(f"a line of the stream is longer than {LINE_LIMIT} bytes")
        for line in lines:
            self._take(line.rstrip(b"\r"))

    def end(self) -> str:
        """Take in the end of the stream; why it is not a complete answer, or nothing.

        Raises:
            MalformedError: As :meth:`feed`.
        """
        if self._line:
            self._take(bytes(self._line).rstrip(b"\r"))
            self._line.clear()
        self._take(b"")
        finished = bool(self.completion.choices) and all(c.finish_reason for c in self.completion.choices.values())
        if not self._done and not finished:
            return "the stream ended before the answer was complete"
        return self.completion.problem()

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            self._event(data)

    def _event(self, data: bytes) -> None:
        if data.strip() == b"[DONE]":
            self._done = True
            return
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise MalformedError(f"an event of the stream is not JSON: {error}") from error
        self.completion.add(document, "delta")
