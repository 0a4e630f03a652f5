"""A batch of stored episodes, column by column: what scoring at scale reads instead of objects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_litmus.records.stored import StoredEpisode

TEXTS = (
    "agent",
    "agent_digest",
    "suite",
    "host",
    "injection",
    "attack",
    "category",
    "carrier",
    "probe",
    "subset",
    "condition",
    "delivery",
    "host_outcome",
    "injected_outcome",
)
"""Text columns that scoring reads."""
NUMBERS = ("seed", "repeat", "semantic", "physical")
FLAGS = ("recorded_utility", "recorded_security")
"""Columns that are true, false or missing."""
MISSING = -1
"""How a missing flag is written in a column of numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A text per row, as an index into the texts that occur."""

    codes: NDArray[np.intp]
    labels: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeColumns:
    """Some rows of an episode file."""

    rows: int
    texts: Mapping[str, TextColumn]
    """Every column of `TEXTS`."""
    numbers: Mapping[str, NDArray[np.int64]]
    """Every column of `NUMBERS` and `FLAGS`; flags are 1, 0 or `MISSING`."""


def columns_of(episodes: Iterable[StoredEpisode]) -> EpisodeColumns:
    """The columns of some episodes; for batches that fit in memory."""
    rows = list(episodes)
    texts = {name: _text([str(getattr(row, name)) for row in rows]) for name in TEXTS}
    numbers = {name: np.array([getattr(row, name) for row in rows], dtype=np.int64) for name in NUMBERS}
    for name in FLAGS:
        values = (getattr(row, name) for row in rows)
        numbers[name] = np.array([MISSING if value is None else int(value) for value in values], dtype=np.int64)
    return EpisodeColumns(len(rows), texts, numbers)


def _text(values: Sequence[str]) -> TextColumn:
    index: dict[str, int] = {}
    codes = np.array([index.setdefault(value, len(index)) for value in values], dtype=np.intp)
    return TextColumn(codes, tuple(index))
