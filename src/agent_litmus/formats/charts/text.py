"""Names and numbers as a chart shows them."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

from agent_litmus.formats.hostile import one_line

MAX_COLUMNS = 38
"""Widest name, in columns of a terminal; longer ones lose their middle."""
_STACKED = 2
"""Combining marks on one letter that some script has a use for; more is paint over the neighbours."""


def safe_name(name: str, columns: int = MAX_COLUMNS) -> str:
    """A hostile name on one line, its control characters visible, its middle left out if it is long."""
    shown = "".join(_unstacked(one_line(name, 2_000)))
    return _shortened(shown, columns) or "(no name)"


def safe_names(names: Iterable[str], columns: int = MAX_COLUMNS) -> list[str]:
    """Safe names in order, told apart by a number where several look the same."""
    seen: Counter[str] = Counter()
    out: list[str] = []
    for shown in (safe_name(name, columns) for name in names):
        label = shown
        while label in out:
            seen[shown] += 1
            label = f"{shown} #{seen[shown] + 1}"
        out.append(label)
    return out


def columns_of(text: str) -> int:
    """Width of a text in columns: 2 for wide characters, 0 for combining marks."""
    return sum(_columns(char) for char in text)


def percent(share: float | None) -> str:
    """A share as a percentage with one decimal; never rounded up to 100 or down to 0."""
    if share is None:
        return "–"
    if share in {0.0, 1.0}:
        return f"{100 * share:.0f}"
    return f"{min(max(100 * share, 0.1), 99.9):.1f}"


def _columns(char: str) -> int:
    if _is_mark(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in {"Mn", "Me"}


def _unstacked(text: str) -> Iterator[str]:
    run = 0
    for char in text:
        run = run + 1 if _is_mark(char) else 0
        yield char if run <= _STACKED else char.encode("unicode_escape").decode()


def _shortened(text: str, columns: int) -> str:
    if columns_of(text) <= columns:
        return text
    head = _taken(text, (columns - 1) * 3 // 5)
    tail = _taken(text[::-1], columns - 1 - columns_of(head))[::-1]
    return f"{head}…{tail}"


def _taken(text: str, columns: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return text[:index]
    return text
