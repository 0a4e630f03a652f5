"""Which part of a model's message is words to a reader, and which is a tool call."""

import json
import re
from collections.abc import Iterator
from typing import Any

from agent_litmus.scoring.words import clip

_CALL_TAGS = re.compile(r"<(tool_call|function_call|tool_use)>.*?(?:</\1>|\Z)", re.DOTALL)
_CALL_LINE = re.compile(r"\s*\w{1,64}\((?:\w{1,64}=|['\"{\[])[^\n]*\)\s*")
_CALL_KEYS = frozenset(
    {
        "tool",
        "tools",
        "tool_call",
        "tool_calls",
        "function",
        "function_call",
        "arguments",
        "args",
        "action",
        "cmd",
        "argv",
    }
)
_WORD_KEYS = ("answer", "final_answer", "final", "reply", "response", "message", "content", "text", "refusal")
_MAX_TEXT = 1 << 20


def own_words(text: str) -> str:
    """The words of a message, without tool calls.

    A message that is JSON, or a line that is, counts as a tool call unless it holds an answer and no call: then the
    answer is the words. Arguments of calls are written for tools, so refusing words in them refuse nothing.
    """
    text = _CALL_TAGS.sub(" ", clip(text, _MAX_TEXT))
    whole = _json(text)
    if whole is not None:
        return "\n".join(_answers(whole))
    return "\n".join(kept for line in text.splitlines() for kept in _line(line))


def _line(line: str) -> Iterator[str]:
    value = _json(line)
    if value is not None:
        yield from _answers(value)
    elif not _CALL_LINE.fullmatch(line):
        yield line


def _json(text: str) -> dict[str, Any] | list[Any] | None:
    text = text.strip()
    if not (text.startswith(("{", "[")) and text.endswith(("}", "]"))):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _answers(value: dict[str, Any] | list[Any]) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and not _CALL_KEYS & item.keys():
            yield from (item[key] for key in _WORD_KEYS if isinstance(item.get(key), str))
