"""Whether an injection reached the agent: its text must stand in a tool's result."""

import re
from collections.abc import Iterable, Sequence

from agent_litmus.formats.agentdojo.schema import Message
from agent_litmus.records.session import Delivery

MIN_LENGTH = 8
"""Bytes of letters and digits an injection needs to be recognised by; a shorter one could stand there by chance."""

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|[abefv0_NLP])"
)
_BLANKS = ("\\n", "\\r", "\\t")
_OTHER = bytes(code for code in range(128) if not chr(code).isalnum())
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


def letters(text: str) -> bytes:
    """A text without ASCII punctuation and white space, escapes resolved, case folded; as bytes, for speed."""
    for escape in _BLANKS:
        text = text.replace(escape, " ")
    if "\\" in text:
        text = _ESCAPE.sub(_resolved, text)
    return "".join(text.split()).casefold().encode("utf-8", "surrogatepass").translate(None, _OTHER)


def _resolved(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else " "
