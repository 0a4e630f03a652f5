"""How alike two sessions of one episode are, in [0, 1], once their own tokens are taken out. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from agent_litmus.records.effect import Channel, Effect
from agent_litmus.records.session import SessionRecord

_WORD = re.compile(r"\w+|[^\w\s]")
_LONGEST = 20_000
_TOLD: Mapping[Channel, tuple[str, ...]] = {
    Channel.FILES: ("path",),
    Channel.EXEC: ("argv",),
    Channel.CONNECT: ("family", "address", "port"),
    Channel.DNS: ("name", "type"),
    Channel.HTTP: ("method", "host", "port", "path"),
    Channel.SIGNALS: ("signal",),
    Channel.TOOLS: ("tool", "arguments", "ok", "to", "subject", "title", "path"),
}
"""What tells one act from another on each channel; ids, sizes and digests differ between equal sessions."""


def answers_alike(x: SessionRecord, y: SessionRecord) -> float:
    """Dice coefficient of the answers' words and pairs of neighbouring words; 1 where the behaviour is the same."""
    if x.normalised_digest and x.normalised_digest == y.normalised_digest:
        return 1.0
    return dice(_phrases(x), _phrases(y))


def effects_alike(x: SessionRecord, y: SessionRecord) -> float:
    """Dice coefficient of what was observed to be done, whatever its order; 1 where neither did anything."""
    return dice(Counter(_acts(x)), Counter(_acts(y)))


def dice(x: Counter[str], y: Counter[str]) -> float:
    """Twice the shared part of two bags over their whole; 1 for two empty ones (Dice, 1945)."""
    whole = x.total() + y.total()
    return 2 * (x & y).total() / whole if whole else 1.0


def without_tokens(text: str, tokens: Mapping[str, str]) -> str:
    """``text`` with a session's tokens replaced by the names of their slots."""
    values = {value: slot for slot, value in tokens.items() if value}
    if not values:
        return text
    longest_first = sorted(values, key=lambda value: (-len(value), value))
    return re.sub("|".join(map(re.escape, longest_first)), lambda m: f"{{{values[m.group()]}}}", text)


def _phrases(record: SessionRecord) -> Counter[str]:
    words = _WORD.findall(without_tokens((record.answer or "")[:_LONGEST], record.tokens).casefold())
    return Counter(words) + Counter(f"{a} {b}" for a, b in pairwise(words))


def _acts(record: SessionRecord) -> Iterator[str]:
    for effect in record.effects:
        told = {name: effect.detail[name] for name in _names(effect) if name in effect.detail}
        yield without_tokens(f"{effect.channel} {effect.action} {effect.outcome} {_text(told)}", record.tokens)


def _names(effect: Effect) -> Iterable[str]:
    return _TOLD.get(effect.channel, ())


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)[:_LONGEST]
