"""One small number per (row, seed, repeat): dense while that is small, a dictionary where it would not be."""

import numpy as np
from numpy.typing import NDArray

_DENSE = 1 << 28  # bytes of the largest dense table

Index = NDArray[np.integer]


class Slots:
    """A table of bytes that grows; 0 stands for nothing there."""

    def __init__(self) -> None:
        self._dense: NDArray[np.uint8] = np.zeros((1, 1, 1), dtype=np.uint8)
        self._sparse: dict[tuple[int, int, int], int] | None = None

    def get(self, rows: Index, seeds: Index, repeats: Index) -> NDArray[np.uint8]:
        """What stands at each index."""
        self._reach(rows, seeds, repeats)
        if self._sparse is None:
            return self._dense[rows, seeds, repeats]
        at = zip(rows.tolist(), seeds.tolist(), repeats.tolist(), strict=True)
        return np.array([self._sparse.get(key, 0) for key in at], dtype=np.uint8)

    def put(self, rows: Index, seeds: Index, repeats: Index, values: NDArray[np.uint8]) -> bool:
        """Write values (not 0); says whether every index was empty before and occurs once."""
        if self.get(rows, seeds, repeats).any():
            return False
        if self._sparse is None:
            before = self._filled
            self._dense[rows, seeds, repeats] = values
            return self._filled - before == len(rows)
        at = zip(rows.tolist(), seeds.tolist(), repeats.tolist(), strict=True)
        before = len(self._sparse)
        self._sparse.update(zip(at, values.tolist(), strict=True))
        return len(self._sparse) - before == len(rows)

    def clash(self, rows: Index, seeds: Index, repeats: Index) -> int:
        """Position of an entry whose index is taken, or occurs before it in these; after `put` said no."""
        taken = self.get(rows, seeds, repeats) > 0
        keys = list(zip(rows.tolist(), seeds.tolist(), repeats.tolist(), strict=True))
        first: dict[tuple[int, int, int], int] = {}
        for position, key in enumerate(keys):
            if first.setdefault(key, position) != position:
                return position
        return int(np.argmax(taken))

    @property
    def _filled(self) -> int:
        return int(np.count_nonzero(self._dense))

    def _reach(self, rows: Index, seeds: Index, repeats: Index) -> None:
        if self._sparse is not None or not len(rows):
            return
        needed = [int(index.max()) + 1 for index in (rows, seeds, repeats)]
        if all(need <= have for need, have in zip(needed, self._dense.shape, strict=True)):
            return
        shape = tuple(
            have if need <= have else max(need, have + have // 2)
            for need, have in zip(needed, self._dense.shape, strict=True)
        )
        if shape[0] * shape[1] * shape[2] > _DENSE:
            at = np.nonzero(self._dense)
            keys = zip(*(axis.tolist() for axis in at), strict=True)
            self._sparse = dict(zip(keys, self._dense[at].tolist(), strict=True))
            return
        grown: NDArray[np.uint8] = np.zeros(shape, dtype=np.uint8)
        grown[tuple(slice(0, have) for have in self._dense.shape)] = self._dense
        self._dense = grown
