"""Scrubs an event stream of chat completions: the key is also found where events cut it or JSON escapes hide it."""

import json
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent_litmus.services.scrub import MASK, Scrubber

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n")
_LINE = re.compile(rb"\r\n|\n|\r")


@dataclass(slots=True)
class _Piece:
    """A text in an event that continues the text at the same place in earlier events."""

    holder: Any
    key: Any

    @property
    def text(self) -> str:
        found: str = self.holder[self.key]
        return found

    def replace(self, text: str) -> None:
        self.holder[self.key] = text


class _Event:
    """One event, with its lines as they came and its data as JSON where it is JSON."""

    def __init__(self, raw: bytes, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._raw = raw
        lines = _LINE.split(raw)
        self.data = b"\n".join(line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:"))
        try:
            self.document = json.loads(self.data)
        except (ValueError, RecursionError):
            self.document = None
        self._changed = scrubber.hidden_in(scrubber.data(self.data))

    def shown(self) -> bytes:
        """The event as it goes out."""
        if not self._changed:
            return self._scrubber.data(self._raw)
        other = [line for line in _LINE.split(self._raw) if line and not line.startswith(b"data:")]
        data = MASK.encode() if self.document is None else self._dumped()
        return self._scrubber.data(b"\n".join([*other, b"data: " + data])) + b"\n\n"

    def _dumped(self) -> bytes:
        text = self._scrubber.text(json.dumps(self.document, ensure_ascii=False))
        return text.encode("utf-8", "backslashreplace")

    def pieces(self) -> Iterable[tuple[tuple[Any, ...], _Piece]]:
        """Texts under the deltas, each with its place."""
        choices = self.document.get("choices") if isinstance(self.document, dict) else None
        for position, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict) and isinstance(choice.get("delta"), dict | list):
                yield from _pieces(choice["delta"], (_index(choice, position),))

    def rewritten(self) -> None:
        """Take note that a piece was replaced."""
        self._changed = True


def _pieces(holder: Any, place: tuple[Any, ...]) -> Iterable[tuple[tuple[Any, ...], _Piece]]:
    if len(place) > 16:
        return
    for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        here = (*place, _index(value, key))
        if isinstance(value, str):
            if key not in {"role", "id", "type"}:
                yield here, _Piece(holder, key)
        elif isinstance(value, dict | list):
            yield from _pieces(value, here)


def _index(value: Any, position: Any) -> Any:
    index = value.get("index") if isinstance(value, dict) else None
    return index if isinstance(index, int) else position


class EventScrubber:
    """Scrubs a stream event by event; events whose text may begin the key wait for those that go on.

    Args:
        scrubber: What to remove; one without a key passes bytes through as they come.
    """

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._rest = bytearray()
        self._held: deque[_Event] = deque()
        self._open: dict[tuple[Any, ...], list[tuple[_Event, _Piece]]] = {}

    def feed(self, chunk: bytes) -> bytes:
        """The bytes that may go out now."""
        if not self._scrubber.active:
            return chunk
        begin = max(0, len(self._rest) - 3)
        self._rest += chunk
        ends = [match.end() for match in _END.finditer(self._rest, begin)]
        out = [self._take(bytes(self._rest[start:end])) for start, end in pairwise([0, *ends])]
        del self._rest[: ends[-1] if ends else 0]
        return b"".join(out)

    def end(self) -> bytes:
        """The rest."""
        rest = bytes(self._rest)
        self._rest.clear()
        last = self._take(rest) if rest else b""
        self._open.clear()
        return last + self._release()

    def _take(self, raw: bytes) -> bytes:
        event = _Event(raw, self._scrubber)
        self._held.append(event)
        for place, piece in event.pieces():
            self._open.setdefault(place, []).append((event, piece))
            self._settle(place)
        if event.data.strip() == b"[DONE]":
            self._open.clear()
        return self._release()

    def _release(self) -> bytes:
        """Let every event go that stands before the first one still waiting."""
        waiting = {id(event) for held in self._open.values() for event, _ in held}
        out = []
        while self._held and id(self._held[0]) not in waiting:
            out.append(self._held.popleft().shown())
        return b"".join(out)

    def _settle(self, place: tuple[Any, ...]) -> None:
        """Mask the key in the texts held at one place, and forget those that cannot be its beginning."""
        held = self._open[place]
        text = "".join(piece.text for _, piece in held)
        spans = self._scrubber.spans(text)
        if spans:
            _mask(held, spans)
            text = "".join(piece.text for _, piece in held)
        keep, size = self._scrubber.held_back(text.encode("utf-8", "replace")), len(text)
        while held and (size := size - len(held[0][1].text)) >= keep:
            held.pop(0)
        if not held:
            del self._open[place]


def _mask(held: list[tuple[_Event, _Piece]], spans: list[tuple[int, int]]) -> None:
    """Put the mask where each span begins and take the rest of it out of the pieces it reaches into."""
    start = 0
    for event, piece in held:
        text, stop = piece.text, start + len(piece.text)
        out, at = [], start
        for begin, end in spans:
            if end <= at or begin >= stop:
                continue
            out.append(text[at - start : max(begin, at) - start])
            out.append(MASK if begin >= start else "")
            at = min(end, stop)
        if at > start or out:
            piece.replace("".join(out) + text[at - start :])
            event.rewritten()
        start = stop
