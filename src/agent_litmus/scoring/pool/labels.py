"""Numbering what occurs: texts, and combinations of columns."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)

_TABLE = 1 << 22  # codes that are renumbered through a table; beyond, by sorting


class Numbering(Generic[Key]):
    """Gives every key a number, in order of first sight."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, key: Key) -> int:
        """The number of a key, given now if it has none."""
        number = self._numbers.setdefault(key, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        return number

    def numbers(self, keys: Iterable[Key]) -> NDArray[np.intp]:
        """The numbers of many keys."""
        return np.array([self.number(key) for key in keys], dtype=np.intp)

    @property
    def keys(self) -> Sequence[Key]:
        """The keys in the order of their numbers."""
        return self._keys


def combine(
    parts: Sequence[tuple[NDArray[np.integer], int]], rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the combinations of columns that occur.

    Args:
        parts: For each column, a code per row and the number of different codes.
        rows: Number of rows.

    Returns:
        A number per row, from 0; and for each number a row that has it.
    """
    code, size = np.zeros(rows, dtype=np.int64), 1
    for codes, count in parts:
        if count <= 1:
            continue
        if size * count > _TABLE:
            code, size = _renumbered(code, size)
        code = codes.astype(np.int64) if size == 1 else code * count + codes
        size *= count
    code, size = _renumbered(code, size)
    where = np.zeros(size, dtype=np.intp)
    where[code] = np.arange(rows)
    return code, where


def _renumbered(code: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], int]:
    if size > _TABLE:
        present, inverse = np.unique(code, return_inverse=True)
        return inverse.astype(np.int64), len(present)
    seen = np.zeros(size, dtype=np.bool_)
    seen[code] = True
    present = np.flatnonzero(seen)
    numbers = np.empty(size, dtype=np.int64)
    numbers[present] = np.arange(len(present))
    return numbers[code], len(present)


def distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct whole numbers, and for each row the index of its own; quick where their range is small."""
    if not values.size:
        return values, values
    low, high = int(values.min()), int(values.max())
    if high - low >= _TABLE:
        return np.unique(values, return_inverse=True)
    code, size = _renumbered(values.astype(np.int64) - low, high - low + 1)
    found = np.zeros(size, dtype=np.int64)
    found[code] = values
    return found, code
