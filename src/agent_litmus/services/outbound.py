"""Looks through everything that leaves the sandbox before a record of it is cut."""

import codecs
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

Inspect = Callable[[str], Collection[str]]
"""Names of what was found in a text, usually of secrets."""

WINDOW = 8 << 20
"""Bytes looked through at once; longer streams are looked through in windows of this size."""
OVERLAP = 64 << 10
"""Bytes that two windows share: nothing shorter is missed at their border."""
INFLATED_LIMIT = 8 << 20
"""Most bytes a compressed body is looked through in after decompression."""
_GZIP_MAGIC = b"\x1f\x8b"
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that no text holds; ESC colours terminals."""
_CODINGS = {"gzip", "x-gzip", "deflate"}


def texts(value: Any) -> Iterable[str]:
    """Every key and value in a JSON value, as text."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack.extend(reversed([part for pair in value.items() for part in pair]))
        elif isinstance(value, list | tuple):
            stack.extend(reversed(value))
        elif value is not None:
            yield value if isinstance(value, str) else str(value)


class Search:
    """What was found in one outbound record, however much of it there is.

    Args:
        inspect: Looks through one text; ``None`` finds nothing.
    """

    def __init__(self, inspect: Inspect | None) -> None:
        self._inspect = inspect
        self._held = bytearray()
        self._fresh = False
        self._found: set[str] = set()

    def text(self, text: str) -> None:
        """Look through a text that is complete in itself."""
        if self._inspect is not None:
            self._found.update(self._inspect(text.encode("utf-8", "replace").decode("utf-8")))

    def feed(self, data: bytes) -> None:
        """Take in the next bytes of a stream."""
        if self._inspect is None:
            return
        for start in range(0, len(data), WINDOW):
            self._held += data[start : start + WINDOW]
            self._fresh = True
            if len(self._held) >= WINDOW:
                self._look()
                del self._held[:-OVERLAP]

    def found(self) -> list[str]:
        """Names of everything found so far, sorted."""
        if self._fresh:
            self._look()
        return sorted(self._found)

    def _look(self) -> None:
        self._fresh = False
        self.text(self._held.decode("utf-8", "replace"))


class BodySearch:
    """Looks through a stream, usually the body of a request, as it came and decompressed.

    Args:
        inspect: Looks through one text.
        head: Request line and headers, which stand before the body in what is looked through.
        coding: The ``Content-Encoding`` header; gzip and deflate are undone, whatever else is taken as it is.
    """

    def __init__(self, inspect: Inspect | None, head: str = "", coding: str = "") -> None:
        self._plain = Search(inspect)
        self._plain.feed(head.encode("utf-8", "replace"))
        self._inflated = Search(inspect)
        names = [name.strip().lower() for name in coding.split(",")]
        self._inflaters = [Inflater() for name in reversed(names) if name in _CODINGS][:4]
        self._begun = False
        self._room = INFLATED_LIMIT if inspect is not None else 0
        self._text = TextTest()
        self.clipped = False
        """Whether part of the decompressed body was not looked through."""

    @property
    def inflated_text(self) -> bool:
        """Whether it was compressed, and all that comes out of it is text."""
        intact = bool(self._inflaters) and not any(inflater.broken for inflater in self._inflaters)
        return intact and not self.clipped and self._text.passed

    def feed(self, data: bytes) -> None:
        """Take in the next bytes of the body."""
        if not data:
            return
        self._plain.feed(data)
        if not self._begun and data.startswith(_GZIP_MAGIC) and not self._inflaters:
            # Compressed without saying so.
            self._inflaters = [Inflater()]
        self._begun = True
        if self._inflaters and self._room:
            self._inflate(data)

    def found(self) -> list[str]:
        """Names of everything found, sorted."""
        return sorted({*self._plain.found(), *self._inflated.found()})

    def _inflate(self, data: bytes) -> None:
        for inflater in self._inflaters:
            data = inflater.feed(data, self._room + 1)
        if len(data) > self._room or any(inflater.stopped for inflater in self._inflaters):
            self.clipped = True
        self._inflated.feed(data[: self._room])
        self._text.feed(data)
        self._room = 0 if self.clipped else self._room - len(data)


class TextTest:
    """Whether a stream is text: UTF-8 without control characters that no text holds."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.passed = True
        """Whether all that was taken in so far is text."""

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        if self.passed:
            try:
                self.passed = not _NO_TEXT.search(self._decoder.decode(data))
            except UnicodeDecodeError:
                self.passed = False


class Inflater:
    """Undoes gzip, zlib or raw deflate, told apart by the first bytes; several members may follow each other."""

    def __init__(self) -> None:
        self._stream: Any = None
        self._raw = False
        self.broken = False
        """Whether the data turned out not to be compressed."""
        self._start = b""
        self.stopped = False
        """Whether there was more output than was asked for."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """Output of the next bytes, at most ``limit``; nothing once the data turned out not to be compressed."""
        if self._stream is None:
            self._start += data
            if len(self._start) < 2:
                return b""
            data, self._start = self._start, b""
            self._begin(data)
        out = bytearray()
        while data and not self.broken and len(out) < limit:
            data = self._some(data, out, limit - len(out))
        self.stopped = self.stopped or bool(data and not self.broken)
        return bytes(out)

    def _begin(self, data: bytes) -> None:
        # RFC 1950: a zlib header is a multiple of 31 with method 8.
        is_zlib = data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        self._raw = not is_zlib and not data.startswith(_GZIP_MAGIC)
        self._restart()

    def _restart(self) -> None:
        # 32 + 15: gzip or zlib by header; -15: no header.
        self._stream = zlib.decompressobj(-15 if self._raw else 47)

    def _some(self, data: bytes, out: bytearray, limit: int) -> bytes:
        """Put output of ``data`` into ``out``; what of the input is left."""
        try:
            out += self._stream.decompress(data, limit)
        except zlib.error:
            self.broken = True
            return b""
        if not self._stream.eof:
            rest: bytes = self._stream.unconsumed_tail
            return rest
        rest = self._stream.unused_data
        self._restart()
        return rest
