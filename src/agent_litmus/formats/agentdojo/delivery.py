"""Whether an injection reached the agent: its text must stand in a tool's result."""

import re
from collections.abc import Iterable, Sequence

from agent_litmus.formats.agentdojo.schema import Message
from agent_litmus.records.session import Delivery

MIN_LENGTH = 8
"""Letters and digits that an injection needs to be recognised by; a shorter one could stand there by chance."""

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5})|[nrtabefv0])")
_OTHER = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Za-z0-9]+")


def delivery_of(injections: Iterable[str], messages: Sequence[Message]) -> Delivery:
    """Look for injected texts in the tools' results.

    Tools print YAML, which folds lines and escapes characters, so both sides are compared by letters and digits
    alone, in order.

    Returns:
        ``DELIVERED``, ``UNDELIVERED``, or ``UNKNOWN`` where the file records no text to look for.
    """
    wanted = [(text, needle) for text in set(injections) if len(needle := letters(text)) >= MIN_LENGTH]
    if not wanted:
        return Delivery.UNKNOWN
    results = [message.words for message in messages if message.role == "tool"]
    for text, needle in wanted:
        word = max(_WORD.findall(text), key=len, default="")
        if any(word in result and needle in letters(result) for result in results):
            return Delivery.DELIVERED
    return Delivery.UNDELIVERED


def letters(text: str) -> str:
    """Letters and digits of a text, escapes resolved, case folded."""
    return _OTHER.sub("", _ESCAPE.sub(_resolved, text)).casefold()


def _resolved(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    number = int(code, 16) if code else 0x20
    return chr(number) if number <= 0x10FFFF else " "
