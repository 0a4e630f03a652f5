"""Mergeable counts per (host, injection) cell: all that shares, differences and resampling need."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_litmus.errors import LitmusScoringError

HOSTS_ONLY = ""
"""The single column label of a table that has no injections (control episodes)."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTable:
    """Counts of good and of all assessed episodes per host (rows) and injection (columns).

    Labels are sorted and unique, so tables of the same episodes are equal whatever the order or sharding was.
    Unassessed episodes do not belong here; whoever builds the table counts them separately.
    """

    hosts: tuple[str, ...]
    injections: tuple[str, ...]
    good: NDArray[np.float64]
    """Good episodes per cell, shape (hosts, injections); fractions arise only from `spread_like`."""
    n: NDArray[np.float64]
    """Assessed episodes per cell, same shape."""

    @classmethod
    def from_episodes(
        cls, good: Sequence[int], hosts: Sequence[str], injections: Sequence[str] | None = None
    ) -> "ClusterTable":
        """Tabulate episodes given column by column.

        Args:
            good: 1 where the episode was good, 0 where not.
            hosts: Host task id of each episode.
            injections: Injection id of each episode; ``None`` for control episodes.

        Raises:
            LitmusScoringError: Columns differ in length, or a value is neither 0 nor 1.
        """
        columns = [HOSTS_ONLY] * len(hosts) if injections is None else injections
        row_labels, row = np.unique(np.asarray(hosts, dtype=np.str_), return_inverse=True)
        col_labels, col = np.unique(np.asarray(columns, dtype=np.str_), return_inverse=True)
        return cls.from_codes(good, row, col, row_labels.tolist(), col_labels.tolist())

    @classmethod
    def from_codes(
        cls,
        good: Sequence[int] | NDArray[np.generic],
        rows: Sequence[int] | NDArray[np.generic],
        columns: Sequence[int] | NDArray[np.generic],
        hosts: Sequence[str],
        injections: Sequence[str],
    ) -> "ClusterTable":
        """Tabulate episodes whose host and injection are given as indices into the labels (one pass, no strings).

        Raises:
            LitmusScoringError: Columns differ in length, a value is neither 0 nor 1, or an index has no label.
        """
        outcome = np.asarray(good, dtype=np.float64)
        row, column = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
        _check_columns(outcome, row, column, (len(hosts), len(injections)))
        shape, cell = (len(hosts), len(injections)), row * len(injections) + column
        size = shape[0] * shape[1]
        good_cells, all_cells = (
            np.asarray(np.bincount(cell, weights=weights, minlength=size), dtype=np.float64).reshape(shape)
            for weights in (outcome, np.ones_like(outcome))
        )
        return cls.from_counts(good_cells, all_cells, hosts, injections)

    @classmethod
    def from_counts(
        cls, good: NDArray[np.float64], n: NDArray[np.float64], hosts: Sequence[str], injections: Sequence[str]
    ) -> "ClusterTable":
        """Take ready counts; labels are sorted, and empty rows and columns dropped.

        Raises:
            LitmusScoringError: Shapes disagree, labels repeat, or a count is negative, not finite or above ``n``.
        """
        good, n = np.asarray(good, dtype=np.float64), np.asarray(n, dtype=np.float64)
        _check_counts(good, n, hosts, injections)
        rows = [i for i in np.argsort(np.asarray(hosts, dtype=np.str_), kind="stable") if n[i].any()]
        columns = [j for j in np.argsort(np.asarray(injections, dtype=np.str_), kind="stable") if n[:, j].any()]
        pick = np.ix_(rows, columns)
        return cls(
            tuple(hosts[i] for i in rows),
            tuple(injections[j] for j in columns),
            good[pick],
            n[pick],
        )

    def merge(self, other: "ClusterTable") -> "ClusterTable":
        """The table of both sets of episodes together; associative and commutative, so shards can be summed."""
        hosts = sorted({*self.hosts, *other.hosts})
        injections = sorted({*self.injections, *other.injections})
        one, two = self.aligned(hosts, injections), other.aligned(hosts, injections)
        return ClusterTable(tuple(hosts), tuple(injections), one.good + two.good, one.n + two.n)

    def aligned(self, hosts: Sequence[str], injections: Sequence[str]) -> "ClusterTable":
        """The same counts laid out on the given labels (a superset of this table's); empty cells are zero."""
        row_of = {label: i for i, label in enumerate(hosts)}
        column_of = {label: j for j, label in enumerate(injections)}
        rows, columns = [row_of[label] for label in self.hosts], [column_of[label] for label in self.injections]
        good, n = np.zeros((2, len(hosts), len(injections)))
        good[np.ix_(rows, columns)], n[np.ix_(rows, columns)] = self.good, self.n
        return ClusterTable(tuple(hosts), tuple(injections), good, n)

    def by_host(self) -> "ClusterTable":
        """The table summed over injections: one column."""
        columns = (HOSTS_ONLY,) if self.injections else ()
        keep = (len(self.hosts), len(columns))
        return ClusterTable(
            self.hosts, columns, self.good.sum(axis=1).reshape(keep), self.n.sum(axis=1).reshape(keep)
        )

    def spread_like(self, other: "ClusterTable") -> "ClusterTable":
        """This table's share per host, laid over the cells of ``other`` with ``other``'s weights.

        The shared control of a host stands beside each of its injected episodes this way, so that differences
        between injected and control are taken pair by pair. Hosts without a control are left out.
        """
        hosts = sorted({*self.hosts, *other.hosts})
        mine, weight = self.aligned(hosts, self.injections), other.aligned(hosts, other.injections).n
        good, n = mine.good.sum(axis=1, keepdims=True), mine.n.sum(axis=1, keepdims=True)
        share = np.divide(good, n, out=np.zeros_like(good), where=n > 0)
        return ClusterTable.from_counts(share * weight, weight * (n > 0), hosts, other.injections)

    def restricted(self, other: "ClusterTable") -> "ClusterTable":
        """The cells of this table that ``other`` has too."""
        hosts, injections = sorted({*self.hosts, *other.hosts}), sorted({*self.injections, *other.injections})
        mine, theirs = self.aligned(hosts, injections), other.aligned(hosts, injections)
        both = theirs.n > 0
        return ClusterTable.from_counts(mine.good * both, mine.n * both, hosts, injections)

    @property
    def hosts_only(self) -> bool:
        """Whether the table has no injections to tell apart."""
        return self.injections in {(), (HOSTS_ONLY,)}

    @property
    def episodes(self) -> int:
        """Assessed episodes in the table."""
        return round(float(self.n.sum()))

    @property
    def share(self) -> float | None:
        """Good episodes over assessed ones; ``None`` for an empty table."""
        total = float(self.n.sum())
        return float(self.good.sum()) / total if total else None


def merge_all(tables: Iterable[ClusterTable]) -> ClusterTable:
    """Merge any number of tables; none gives the empty table."""
    merged = ClusterTable.from_episodes([], [], [])
    for table in tables:
        merged = merged.merge(table)
    return merged


def _check_columns(
    good: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]
) -> None:
    if not good.shape == rows.shape == columns.shape or good.ndim != 1:
        raise LitmusScoringError(
            f"columns differ in length: {good.shape} outcomes, {rows.shape} hosts, {columns.shape} injections",
            hint="give one outcome, one host and one injection per episode",
            slug="ragged-columns",
        )
    wrong = np.flatnonzero((good != 0.0) & (good != 1.0))
    if wrong.size:
        raise LitmusScoringError(
            f"episode {int(wrong[0])} has the outcome {good[wrong[0]]!r}, which is neither 0 nor 1",
            hint="leave unassessed episodes out of the table and count them as unassessed",
            slug="bad-outcome",
        )
    for name, index, size in (("host", rows, shape[0]), ("injection", columns, shape[1])):
        if index.size and not (index.min() >= 0 and index.max() < size):
            raise LitmusScoringError(
                f"a {name} index lies outside its {size} labels",
                hint=f"give a label for every {name} index",
                slug="bad-index",
            )


def _check_counts(
    good: NDArray[np.float64], n: NDArray[np.float64], hosts: Sequence[str], injections: Sequence[str]
) -> None:
    shape = (len(hosts), len(injections))
    problem = ""
    if not good.shape == n.shape == shape:
        problem = f"counts have shapes {good.shape} and {n.shape}, labels say {shape}"
    elif len(set(hosts)) != shape[0] or len(set(injections)) != shape[1]:
        problem = "a host or injection label occurs twice"
    elif not (np.isfinite(good).all() and np.isfinite(n).all()):
        problem = "a count is not finite"
    elif bool((good < 0).any()) or bool((good > n * (1 + 1e-12)).any()):
        problem = "a cell has a negative count or more good episodes than episodes"
    if problem:
        raise LitmusScoringError(
            f"cell counts cannot be used: {problem}",
            hint="build the table from assessed episodes with ClusterTable.from_episodes",
            slug="bad-counts",
        )
