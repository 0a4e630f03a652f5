"""Makes text from the agent safe to show: control characters become visible, lengths are bounded."""

import unicodedata

_KEEP = {"\n", "\t"}
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, limit: int = 500) -> str:
    """``text`` with control, format and bidirectional characters written as escapes, cut at ``limit``.

    A line that starts with ``::`` would be a command to some CI systems; a zero-width break is not safe there, so
    the colons are separated by a space.
    """
    cut = text if len(text) <= limit else text[:limit] + f"… (+{len(text) - limit} characters)"
    escaped = "".join(_escape(char) for char in cut)
    return "\n".join(_neutral(line) for line in escaped.split("\n"))


def one_line(text: str, limit: int = 160) -> str:
    """``text`` on one line, safe to show."""
    return visible(" ".join(text.split()), limit)


def _escape(char: str) -> str:
    if char in _KEEP or unicodedata.category(char) not in _INVISIBLE:
        return char
    return char.encode("unicode_escape").decode()


def _neutral(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith(("::", "##[")):
        return line[: len(line) - len(stripped)] + stripped[0] + " " + stripped[1:]
    return line
