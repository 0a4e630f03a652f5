"""Counts by group of probes, seed and outcome, while they stay small."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent_litmus.scoring.pool.labels import Numbering

Key = TypeVar("Key", bound=tuple[object, ...])

_MOST = 1 << 22  # cells; beyond, seeds are no longer kept apart
Index = NDArray[np.intp]


class SeedCounts(Generic[Key]):
    """Grows with groups, seeds and outcomes; given up where seeds are so many that their spread says nothing."""

    def __init__(self) -> None:
        self.groups: Numbering[Key] = Numbering()
        self.counts: NDArray[np.int64] = np.zeros((0, 0, 0), dtype=np.int64)
        self._full = False

    def add(self, group: Index, seed: Index, outcome: Index) -> None:
        """Count episodes given by the numbers of their group, seed and outcome."""
        if self._full or not group.size:
            return
        needed = [int(index.max()) + 1 for index in (group, seed, outcome)]
        shape = tuple(max(pair) for pair in zip(needed, self.counts.shape, strict=True))
        if shape[0] * shape[1] * shape[2] > _MOST:
            self._full, self.counts = True, np.zeros((0, 0, 0), dtype=np.int64)
            return
        if shape != self.counts.shape:
            grown: NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
            grown[tuple(slice(0, have) for have in self.counts.shape)] = self.counts
            self.counts = grown
        flat = (group * shape[1] + seed) * shape[2] + outcome
        self.counts.reshape(-1)[:] += np.bincount(flat, minlength=self.counts.size)
