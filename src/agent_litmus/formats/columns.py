"""Names and sentences in two columns, as wide as the terminal, or unbroken where there is none."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator

from agent_litmus.formats.hostile import one_line

_LONGEST = 2000


def columns(rows: Iterable[tuple[str, str]], width: int | None = None) -> Iterator[str]:
    """Lines of ``name  text``, the texts aligned, what does not fit continued below its own column.

    Args:
        rows: Names and their texts; both may be hostile.
        width: Columns to fit into; ``None``: those of the terminal that standard output is, else no limit.
    """
    known = [(one_line(name), one_line(text, _LONGEST)) for name, text in rows]
    indent = 4 + max((len(name) for name, _ in known), default=0)
    room = max((width or terminal_width()) - indent, 20)
    for name, text in known:
        lines = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        yield f"  {name.ljust(indent - 4)}  {lines[0]}".rstrip()
        yield from (" " * indent + line for line in lines[1:])


def terminal_width() -> int:
    """Columns of the terminal that standard output is; more than any line needs where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10 * _LONGEST
