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
    if isinstance(value, int | float):
        exact = abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)
        return value if exact else str(value)
    if isinstance(value, Mapping) and depth:
        return {clip(str(k), 256): clean(v, depth - 1) for k, v in list(value.items())[:1000]}
    if isinstance(value, list | tuple) and depth:
        return [clean(v, depth - 1) for v in value[:1000]]
    if value is None:
        return None
    return clip(value if isinstance(value, str) else repr(value))


class EffectLog:
    """Effects of one session on one service, bounded in number and size.

    Args:
        clock: Seconds since the session's start.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._effects: list[Effect] = []
        self._size = 0
        self.dropped = 0
        """Effects not kept because a bound was reached. Above zero, the channel was only partially observed."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Everything kept so far, in order."""
        return tuple(self._effects)

    def add(self, channel: Channel, action: str, outcome: Outcome, detail: Mapping[str, Any]) -> None:
        """Keep one effect; ``detail`` is cleaned and clipped here."""
        cleaned = clean(detail)
        self._size += _size(cleaned)
        if len(self._effects) >= EFFECT_LIMIT or self._size > SIZE_LIMIT:
            self.dropped += 1
            return
        self._effects.append(Effect(channel, action, outcome, cleaned, at=self._clock()))


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
