"""Makes text from the agent safe to show: control characters become visible, lengths are bounded."""

import re
import unicodedata

_DOUBLED = re.compile(r"([:#])(?=\1)")
_KEEP = {"\n", "\t"}
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, limit: int = 500) -> str:
    """``text`` with control, format and bidirectional characters written as escapes, cut at ``limit``.

    A line that starts with ``::`` or holds ``##[`` is a command to some CI systems, and whoever prints the text may
    break its lines anywhere: all doubled colons and number signs are set apart by a space.
    """
    cut = text if len(text) <= limit else text[:limit] + f"… (+{len(text) - limit} characters)"
    return _DOUBLED.sub(r"\1 ", "".join(_escape(char) for char in cut))


def one_line(text: str, limit: int = 160) -> str:
    """``text`` on one line, safe to show."""
    return visible(" ".join(text.split()), limit)


def _escape(char: str) -> str:
    if char in _KEEP or unicodedata.category(char) not in _INVISIBLE:
        return char
    return char.encode("unicode_escape").decode()
