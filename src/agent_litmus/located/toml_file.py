"""TOML as plain values with lines; ``tomllib`` keeps no marks, so a scanner over the valid text finds them."""

import re
import tomllib
from pathlib import Path

from agent_litmus.located.document import KeyPath, Located, raise_one, read_text

_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\r\n]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
MAX_DEPTH = 64
"""Deepest nesting."""


def load_toml(path: Path) -> Located:
    """Read a TOML file.

    Raises:
        LitmusConfigError: The file cannot be read, is not TOML (a key given twice included), or nests too deep.
    """
    return parse_toml(read_text(path), str(path))


def parse_toml(text: str, source: str) -> Located:
    """As :func:`load_toml` for text already read; ``source`` stands in messages."""
    try:
        value = tomllib.loads(text)
        lines = _Scanner(text.replace("\r\n", "\n")).scan()
    except RecursionError:
        raise_one(source, 1, f"nested deeper than {MAX_DEPTH} levels")
    except ValueError as error:  # TOMLDecodeError, and integers too long to convert
        message = str(error)
        at = _AT_LINE.search(message)
        line = int(at[1]) if at else text.count("\n") + 1
        what = message[: at.start()] if at else message
        hint = "; put text between quotes" if what == "Invalid value" else ""
        raise_one(source, line, f"not valid TOML: {what}{hint}")
    return Located(source, value, lines)


class _Scanner:
    """Walks valid TOML and notes the line of every table, key and array item."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted = (0, 1)
        self._tables: dict[KeyPath, int] = {}
        self.lines: dict[KeyPath, int] = {(): 1}

    def scan(self) -> dict[KeyPath, int]:
        prefix: KeyPath = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text[self._at] == "[":
                prefix = self._header()
            else:
                self._pair(prefix)
        return self.lines

    def _line(self) -> int:
        start, line = self._counted
        line += self._text.count("\n", start, self._at)
        self._counted = (self._at, line)
        return line

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at

    def _header(self) -> KeyPath:
        line, double = self._line(), self._text.startswith("[[", self._at)
        self._at += 2 if double else 1
        path: KeyPath = ()
        keys = self._dotted()
        for key in keys[:-1]:
            path = self._inside((*path, key), line)
        path = (*path, keys[-1])
        if double:
            self._tables[path] = self._tables.get(path, -1) + 1
            self.lines.setdefault(path, line)
            path = (*path, self._tables[path])
        self.lines[path] = line
        self._at += 2 if double else 1
        return path

    def _inside(self, path: KeyPath, line: int) -> KeyPath:
        """A table on the way to another; of an array of tables, the last one."""
        self.lines.setdefault(path, line)
        return (*path, self._tables[path]) if path in self._tables else path

    def _dotted(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            start = self._at
            if self._text[start] in "\"'":
                self._skip(_STRING)
                keys.append(next(iter(tomllib.loads(f"{self._text[start : self._at]} = 1"))))
            else:
                self._skip(_BARE_KEY)
                keys.append(self._text[start : self._at])
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return keys
            self._at += 1

    def _pair(self, prefix: KeyPath) -> None:
        line = self._line()
        path = prefix
        for key in self._dotted():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self._at += 1
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        if len(path) > MAX_DEPTH:
            raise RecursionError
        first = self._text[self._at]
        if first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        else:
            self._skip(_STRING if first in "\"'" else _BARE_VALUE)

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._text[self._skip(_BLANK)] != "]":
            self.lines[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1
            if self._text[self._skip(_BLANK)] == ",":
                self._at += 1
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while self._text[self._skip(_BLANK)] != "}":
            self._pair(path)
            if self._text[self._skip(_BLANK)] == ",":
                self._at += 1
        self._at += 1
