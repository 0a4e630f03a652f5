"""A parsed file as plain values beside the line of every key."""

import difflib
import json
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from agent_litmus.errors import LitmusConfigError

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the root of a document; ``()`` is the document itself."""

MAX_BYTES = 2 << 20
"""Largest configuration file that is read."""
MAX_SHOWN = 100
"""Most problems that stand in one message; ``LocatedErrors.errors`` holds all."""
_MAX_MESSAGE = 500

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class LocatedErrors(LitmusConfigError):  # noqa: N818 - it is several errors, and callers know the name
    """Every problem of one file at once.

    Args:
        errors: Lines ``file:line: $.path: message``, in file order.
    """

    default_slug = "invalid-file"

    def __init__(self, errors: tuple[str, ...]) -> None:
        noun = "this line" if len(errors) == 1 else f"these {len(errors)} lines"
        more = f"\n… and {len(errors) - MAX_SHOWN} more" if len(errors) > MAX_SHOWN else ""
        super().__init__("\n".join(errors[:MAX_SHOWN]) + more, hint=f"correct {noun} and try again")
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Located:
    """A parsed file."""

    source: str
    """The path as given, for messages."""
    value: Any
    """Plain ``dict``, ``list`` and scalars."""
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    """Path to line, counted from 1."""
    problems: tuple[str, ...] = ()
    """Problems met while parsing that did not stop it (only with ``defer=True``)."""

    def line(self, path: KeyPath) -> int:
        """Line of ``path``, or of its nearest ancestor that has one; 1 for the document."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1

    def problem(self, path: KeyPath, message: str) -> str:
        """``file:line: $.path: message``, on one line whatever the file holds."""
        return f"{self.source}:{self.line(path)}: {show_path(path)}: {_one_line(message)}"


def show_path(path: KeyPath) -> str:
    """``$.hosts[0]["a b"]`` for ``("hosts", 0, "a b")``; control characters are escaped."""
    return "$" + "".join(_show_step(step) for step in path)


def _show_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step[:_MAX_MESSAGE])}]"


def _one_line(message: str) -> str:
    """The message with control characters escaped, cut where it is very long."""
    shown = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in message[:_MAX_MESSAGE])
    return f"{shown}…" if len(message) > _MAX_MESSAGE else shown


def suggest(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the closest of ``known``, else ``; known: …`` (at most 12), else nothing."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    if not names:
        return ""
    return f"; known: {', '.join(names[:12])}" + (", …" if len(names) > 12 else "")


def raise_all(located: Located, problems: Iterable[str]) -> None:
    """Raise every problem at once, parsing problems included, in file order; return if there is none.

    Raises:
        LocatedErrors: There is at least one problem.
    """
    found = dict.fromkeys((*located.problems, *problems))
    if found:
        raise LocatedErrors(tuple(sorted(found, key=lambda text: _line_of(located.source, text))))


def _line_of(source: str, problem: str) -> int:
    number = problem.removeprefix(f"{source}:").partition(":")[0]
    return int(number) if number.isdecimal() else 0


def raise_one(source: str, line: int, message: str) -> NoReturn:
    """Raise a problem of the whole document that stops parsing."""
    raise LocatedErrors((f"{source}:{line}: $: {_one_line(message)}",))


def read_text(path: Path) -> str:
    """Text of a regular UTF-8 file of at most :data:`MAX_BYTES`; a leading byte order mark is dropped.

    Raises:
        LitmusConfigError: Missing, not a regular file, unreadable, too large, or not UTF-8.
    """
    data = _read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LitmusConfigError(
            f"{path}:{line}: the file is not UTF-8 text (byte 0x{data[error.start]:02x})",
            hint="save the file as UTF-8",
            slug="not-utf8",
        ) from error


def _read_bytes(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            raise LitmusConfigError(f"{path}: is {what}", hint="name the file itself", slug="not-a-file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise LitmusConfigError(f"{path}: no such file", hint="check the path", slug="no-file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LitmusConfigError(
            f"{path}: cannot be read: {reason}", hint="check path and permissions", slug="unreadable"
        ) from error
    if len(data) > MAX_BYTES:
        raise LitmusConfigError(
            f"{path}: larger than {MAX_BYTES >> 20} MiB", hint="split the file", slug="file-too-large"
        )
    return data
