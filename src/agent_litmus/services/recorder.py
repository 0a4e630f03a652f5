"""What every service keeps of a session: effects with their times, and which watched texts were really sent."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent_litmus.records.effect import Channel, Effect, Outcome

TEXT_LIMIT = 64 * 1024
"""Longest text kept in a record, in characters."""
EFFECT_LIMIT = 10_000
"""Most effects one service keeps of one session."""
KEY_LIMIT = 256
"""Longest key of a mapping kept in a record, in characters."""
ITEM_LIMIT = 1000
"""Most items of one list or mapping kept in a record."""
DNS_PORT = 53
SIZE_LIMIT = 32 << 20
"""Most characters of effect details one service keeps of one session."""

Clock = Callable[[], float]
"""Gives seconds since the session's start."""


def session_clock() -> Clock:
    """A monotonic clock that starts at zero now."""
    start = time.monotonic()
    return lambda: time.monotonic() - start


def clip(text: str, limit: int = TEXT_LIMIT) -> str:
    """``text`` with its middle cut out beyond ``limit`` characters, and safe to encode as UTF-8."""
    if len(text) > limit:
        head = limit * 3 // 4
        text = f"{text[:head]}\n[… {len(text) - limit} characters cut …]\n{text[len(text) - (limit - head) :]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def clean(value: Any, depth: int = 16) -> Any:
    """A JSON value made fit for a record: texts clipped, numbers within what canonical JSON can hold."""
    return cleaned(value, depth)[0]


def cleaned(value: Any, depth: int = 16) -> tuple[Any, bool]:
    """As :func:`clean`, and whether anything was cut: a text, a list, a mapping or what is nested too deeply."""
    if isinstance(value, int | float):
        exact = abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)
        return (value if exact else str(value)), False
    if isinstance(value, Mapping) and depth:
        pairs = [(clip(str(k), KEY_LIMIT), *cleaned(v, depth - 1)) for k, v in list(value.items())[:ITEM_LIMIT]]
        cut = len(value) > ITEM_LIMIT or any(len(str(k)) > KEY_LIMIT for k in value)
        return {k: v for k, v, _ in pairs}, cut or any(c for _, _, c in pairs)
    if isinstance(value, list | tuple) and depth:
        items = [cleaned(v, depth - 1) for v in value[:ITEM_LIMIT]]
        return [v for v, _ in items], len(value) > ITEM_LIMIT or any(c for _, c in items)
    if value is None:
        return None, False
    text = value if isinstance(value, str) else repr(value)
    return clip(text), len(text) > TEXT_LIMIT or not isinstance(value, str)


def is_act(action: str, detail: Mapping[str, Any]) -> bool:
    """Whether an effect changed or sent something, so that it outranks mere reading when there is no more room."""
    if detail.get("carries"):
        return True
    if action in {"list", "resolve"}:
        return False
    if action == "call":
        return not str(detail.get("tool", "")).startswith(("list_", "read_", "fetch_"))
    if action == "request":
        return detail.get("method") not in {"GET", "HEAD", "OPTIONS"}
    # Datagrams that carry nothing known are cheap to send by the thousand.
    return not (action == "bytes" and detail.get("port") == DNS_PORT)


class EffectLog:
    """Effects of one session on one service, bounded in number and size.

    Where there is no more room, an act pushes out the latest reads; see :func:`is_act`.

    Args:
        clock: Seconds since the session's start.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[int, tuple[Effect, int]] = {}
        self._reads: list[int] = []
        self._size = 0
        self._seen = 0
        self.dropped = 0
        """Effects not kept because a bound was reached. Above zero, the channel was only partially observed."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Everything kept so far, in order."""
        return tuple(effect for effect, _ in self._kept.values())

    def add(
        self, channel: Channel, action: str, outcome: Outcome, detail: Mapping[str, Any], *, clipped: bool = False
    ) -> None:
        """Keep one effect; ``detail`` is cleaned and clipped here, and says so in ``clipped``.

        Args:
            channel: Where it was observed.
            action: What was done.
            outcome: How far it got.
            detail: What is known of it.
            clipped: Whether the caller already cut something.
        """
        shown, cut = cleaned(detail)
        shown["clipped"] = clipped or cut
        size, act = _size(shown), is_act(action, shown)
        if act:
            self._make_room(size)
        if self._full(size):
            self.dropped += 1
            return
        self._seen += 1
        self._size += size
        self._kept[self._seen] = (Effect(channel, action, outcome, shown, at=self._clock()), size)
        if not act:
            self._reads.append(self._seen)

    def _full(self, size: int) -> bool:
        return len(self._kept) >= EFFECT_LIMIT or self._size + size > SIZE_LIMIT

    def _make_room(self, size: int) -> None:
        while self._reads and self._full(size):
            _, freed = self._kept.pop(self._reads.pop())
            self._size -= freed
            self.dropped += 1


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(k) + _size(v) for k, v in value.items())
    if isinstance(value, list):
        return sum(map(_size, value))
    return 8


class Witness:
    """Remembers which of the watched texts stood in what was sent, whitespace aside.

    Args:
        watch: Texts to look for, usually the injected text; blank ones are never seen.
    """

    def __init__(self, watch: Iterable[str]) -> None:
        self._watch = {text: normal for text in watch if (normal := _normal(text))}
        self._sent: set[str] = set()

    @property
    def sent(self) -> frozenset[str]:
        """The watched texts seen so far, as they were given."""
        return frozenset(self._sent)

    def saw(self, text: str) -> None:
        """Take note of a text whose bytes were handed to the agent's open connection."""
        if len(self._sent) == len(self._watch):
            return
        normal = _normal(text)
        self._sent.update(watched for watched, needle in self._watch.items() if needle in normal)


def _normal(text: str) -> str:
    return " ".join(text.split())
