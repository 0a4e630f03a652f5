"""Intervals for shares on suites that cross host tasks with injections.

Episodes that share a host or an injection are correlated, so intervals for independent trials are far too short.
The variance is the two-way cluster-robust one of the regression literature, V = V_host + V_inj - V_cell, taken no
smaller than either one-way part. It vanishes when every episode agrees, which is where safe agents live, so the
interval is the outer one of the t interval and of Clopper-Pearson at an effective sample size whose design effect
has a declared floor. ``docs/explanation/intervals.md`` has the simulated coverage.

The array kernels take any number of leading dimensions, so that a simulation runs the shipped code.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from agent_litmus.scoring.stats.binomial import clopper_pearson_real
from agent_litmus.scoring.stats.interval import UNDERPOWERED, Interval, check_level
from agent_litmus.scoring.stats.table import ClusterTable

Array: TypeAlias = NDArray[np.float64]

ICC_FLOOR = 0.04
"""Least intra-cluster correlation assumed, along hosts and along injections alike, however alike episodes look.

Public runs of real agents show 0.04 to 0.9 along hosts and 0 to 0.4 along injections.
"""

ICC_FLOOR_CELLS = 100
"""Once the rarer outcome was seen in more cells than this the floor fades in proportion: the data speak then."""

MIN_CLUSTERS = 5
"""Fewer hosts or injections than this make an interval underpowered."""


def share_influence(good: Array, n: Array) -> Array:
    """Each cell's pull on the overall share: (good - share * n) / sum(n); sums to zero over the cells."""
    total = n.sum(axis=(-2, -1), keepdims=True)
    share = good.sum(axis=(-2, -1), keepdims=True) / total
    return np.asarray((good - share * n) / total)


def clustered_variance(influence: Array, n: Array) -> Array:
    """Cluster-robust variance of a linearised statistic on an H x J table.

    V = max(V_host + V_inj - V_cell, V_host, V_inj), each part the sum of squared cluster totals times G / (G - 1)
    for its G non-empty clusters. A direction with a single cluster says nothing about variation along it: the
    table is then treated as clustered one way, along the other.

    Args:
        influence: Per-cell influence, shape (..., H, J).
        n: Episodes per cell, same shape; decides which clusters are empty.

    Returns:
        Variance of the statistic, shape (...); zero where neither direction has two clusters.
    """
    hosts, injections = _clusters(n)
    v_host = _part(influence.sum(axis=-1), hosts)
    v_inj = _part(influence.sum(axis=-2), injections)
    v_cell = _part(influence.reshape(*influence.shape[:-2], -1), (n > 0).sum(axis=(-2, -1)))
    both = np.maximum(np.maximum(v_host + v_inj - v_cell, v_host), v_inj)
    return np.asarray(np.where(injections < 2, v_host, np.where(hosts < 2, v_inj, both)))


def _part(totals: Array, clusters: NDArray[np.intp]) -> Array:
    return np.asarray((totals**2).sum(axis=-1) * clusters / np.maximum(clusters - 1, 1) * (clusters > 1))


def _clusters(n: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return n.any(axis=-1).sum(axis=-1), n.any(axis=-2).sum(axis=-1)


def degrees_of_freedom(n: Array) -> Array:
    """min(H, J) - 1 over the directions that have at least two clusters; zero where none has."""
    hosts, injections = _clusters(n)
    least = np.where(injections < 2, hosts, np.where(hosts < 2, injections, np.minimum(hosts, injections)))
    return np.asarray(least - 1.0)


def half_width(variance: Array, df: Array, level: float) -> Array:
    """Half the width of the t interval; zero where there are no degrees of freedom."""
    quantile = np.where(df > 0, special.stdtrit(np.maximum(df, 1.0), (1.0 + level) / 2.0), 0.0)
    return np.asarray(quantile * np.sqrt(variance))


def design_effect_floor(n: Array, icc: float | Array = ICC_FLOOR) -> Array:
    """Design effect if episodes that share a host or an injection were correlated by ``icc``.

    1 + icc * ((sum of n_h^2 over hosts) / n - 1 + (sum of n_j^2 over injections) / n - 1), which for a balanced
    table is 1 + icc * (n/H - 1 + n/J - 1). A direction with one cluster is left out.
    """
    hosts, injections = _clusters(n)
    total = n.sum(axis=(-2, -1))
    per_host = (n.sum(axis=-1) ** 2).sum(axis=-1) / total
    per_inj = (n.sum(axis=-2) ** 2).sum(axis=-1) / total
    return np.asarray(1.0 + icc * ((per_host - 1.0) * (hosts > 1) + (per_inj - 1.0) * (injections > 1)))


def rarer_outcome_cells(good: Array, n: Array) -> NDArray[np.intp]:
    """Number of cells in which the outcome seen in fewer cells was seen."""
    return np.asarray(np.minimum((good > 0).sum(axis=(-2, -1)), (good < n).sum(axis=(-2, -1))))


def faded_icc(seen: NDArray[np.intp], icc: float = ICC_FLOOR) -> Array:
    """The floor on the intra-cluster correlation, fading once the rarer outcome was seen in many cells."""
    return np.asarray(icc * np.minimum(1.0, ICC_FLOOR_CELLS / np.maximum(seen, 1)))


def share_bounds(good: Array, n: Array, *, level: float = 0.95, icc: float = ICC_FLOOR) -> tuple[Array, Array]:
    """Lower and upper bounds of the share, over any leading dimensions; the kernel of `clustered_share`."""
    total = n.sum(axis=(-2, -1))
    share = good.sum(axis=(-2, -1)) / total
    variance = clustered_variance(share_influence(good, n), n)
    half = half_width(variance, degrees_of_freedom(n), level)
    simple = share * (1.0 - share) / total
    observed = np.divide(variance, simple, out=np.zeros_like(variance), where=simple > 0)
    floor = design_effect_floor(n, faded_icc(rarer_outcome_cells(good, n), icc))
    cp_low, cp_high = clopper_pearson_real(share, total / np.maximum(observed, floor), level=level)
    return np.maximum(np.minimum(share - half, cp_low), 0.0), np.minimum(np.maximum(share + half, cp_high), 1.0)


def clustered_share(cells: ClusterTable, *, level: float = 0.95, icc: float = ICC_FLOOR) -> Interval:
    """Share of good episodes with its two-way clustered, saturation-safe interval.

    Args:
        cells: Counts per host and injection.
        level: Two-sided confidence, in (0, 1).
        icc: Floor on the intra-cluster correlation, in [0, 1].

    Returns:
        The interval; all ``None`` for an empty table. Fewer than five hosts or injections: underpowered. With a
        single host or injection nothing can be said beyond it, and the method says "within one ...".

    Raises:
        LitmusScoringError: The level is out of range.
    """
    check_level(level)
    method = method_name(cells, "effective-n Clopper-Pearson")
    if cells.share is None:
        return Interval(None, None, None, 0, method)
    low, high = share_bounds(cells.good, cells.n, level=level, icc=icc)
    return Interval(cells.share, float(low), float(high), cells.episodes, method)


def host_clustered_share(cells: ClusterTable, *, level: float = 0.95, icc: float = ICC_FLOOR) -> Interval:
    """The one-way variant for control episodes, which have hosts only; arguments as in `clustered_share`."""
    return clustered_share(cells.by_host(), level=level, icc=icc)


def method_name(cells: ClusterTable, guard: str) -> str:
    """How an interval on these cells is made, ending in ``; underpowered`` with fewer than five clusters."""
    counts = {"host": len(cells.hosts), "injection": len(cells.injections)}
    if cells.hosts_only:
        del counts["injection"]
    several = [label for label, count in counts.items() if count > 1]
    ways = {0: "unclustered", 1: f"one-way clustered t ({''.join(several)}s)", 2: "two-way clustered t"}
    within = "".join(f"; within one {label}" for label, count in counts.items() if count == 1)
    weak = UNDERPOWERED if min(counts.values()) < MIN_CLUSTERS else ""
    return f"{ways[len(several)]} + {guard}{within}{weak}"
