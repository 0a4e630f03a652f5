"""Intervals for differences of two shares that were taken on the same hosts and injections.

The difference is linearised cell by cell, so whatever both sides share (an easy host, a weak injection) cancels.
Where the two sides agree everywhere the clustered variance is zero; the guard is then an interval for the shares of
pairs won and lost, b and c, by Clopper-Pearson at the effective number of pairs, joined to b - c by square-and-add
(MOVER).
"""

import numpy as np

from agent_litmus.scoring.stats.binomial import clopper_pearson_real
from agent_litmus.scoring.stats.interval import Interval, check_level
from agent_litmus.scoring.stats.table import ClusterTable
from agent_litmus.scoring.stats.twoway import (
    ICC_FLOOR,
    Array,
    clustered_variance,
    degrees_of_freedom,
    design_effect_floor,
    faded_icc,
    half_width,
    method_name,
    share_influence,
)

_GUARD = "paired effective-n Clopper-Pearson"


def clustered_difference(
    x: ClusterTable, y: ClusterTable, *, level: float = 0.95, icc: float = ICC_FLOOR
) -> Interval:
    """Share of ``x`` minus share of ``y`` over the cells both have, with a two-way clustered interval.

    Args:
        x: Counts of one agent (or condition).
        y: Counts of the other, on the same suite.
        level: Two-sided confidence, in (0, 1).
        icc: Floor on the intra-cluster correlation, in [0, 1].

    Returns:
        The interval, in [-1, 1]; all ``None`` where no cell is shared. ``n`` counts pairs.

    Raises:
        LitmusScoringError: The level is out of range.
    """
    return _paired(x.restricted(y), y.restricted(x), None, level, icc)


def control_difference(
    injected: ClusterTable, control: ClusterTable, *, level: float = 0.95, icc: float = ICC_FLOOR
) -> Interval:
    """Injected share minus the share of the same hosts' shared controls, pair by pair (as COR is).

    Args:
        injected: Counts per host and injection.
        control: Counts per host; a host without a control is left out.
        level: Two-sided confidence, in (0, 1).
        icc: Floor on the intra-cluster correlation, in [0, 1].

    Returns:
        The interval, in [-1, 1]; all ``None`` where no host has both. ``n`` counts injected episodes that have a
        control. A host's control is one sample however many injections lean on it, and is counted as such.

    Raises:
        LitmusScoringError: The level is out of range.
    """
    spread = control.spread_like(injected)
    paired = injected.restricted(spread)
    known = set(paired.hosts)
    own = control.by_host()
    keep = np.array([host in known for host in own.hosts], dtype=bool).reshape(-1, 1)
    return _paired(paired, spread, own.n * keep, level, icc)


def _paired(x: ClusterTable, y: ClusterTable, control: Array | None, level: float, icc: float) -> Interval:
    check_level(level)
    method = method_name(x, _GUARD)
    if x.share is None or y.share is None:
        return Interval(None, None, None, 0, method)
    most = np.inf if control is None else float(control.sum() / design_effect_floor(control, icc))
    low, high = difference_bounds((x.good, x.n), (y.good, y.n), level=level, icc=icc, most=most)
    pairs = round(float(np.minimum(x.n, y.n).sum()))
    return Interval(x.share - y.share, float(low), float(high), pairs, method)


def difference_bounds(
    x: tuple[Array, Array],
    y: tuple[Array, Array],
    *,
    level: float = 0.95,
    icc: float = ICC_FLOOR,
    most: float = np.inf,
) -> tuple[Array, Array]:
    """Bounds of the difference, over any leading dimensions; the kernel of `clustered_difference`.

    Args:
        x: Good and all episodes per cell, each (..., H, J), of one side.
        y: The same for the other side, non-empty in the same cells.
        level: Two-sided confidence, in (0, 1).
        icc: Floor on the intra-cluster correlation, in [0, 1]; fades once many cells differ between the sides.
        most: Largest effective number of pairs the guard may count.
    """
    (x_good, x_n), (y_good, y_n) = x, y
    variance = clustered_variance(share_influence(x_good, x_n) - share_influence(y_good, y_n), x_n)
    half = half_width(variance, degrees_of_freedom(x_n), level)
    difference = _share(x_good, x_n) - _share(y_good, y_n)
    below, above = _guard(x, y, level, icc, most)
    low, high = difference - np.maximum(half, below), difference + np.maximum(half, above)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def _guard(
    x: tuple[Array, Array], y: tuple[Array, Array], level: float, icc: float, most: float
) -> tuple[Array, Array]:
    """How far below and above the difference the guard reaches."""
    (x_good, x_n), (y_good, y_n) = x, y
    pairs = np.minimum(x_n, y_n)
    gap = x_good / np.maximum(x_n, 1e-300) - y_good / np.maximum(y_n, 1e-300)
    floor = design_effect_floor(pairs, faded_icc((gap != 0).sum(axis=(-2, -1)), icc))
    effective = np.minimum(pairs.sum(axis=(-2, -1)) / floor, most)
    won, lost = _share(np.maximum(gap, 0.0) * pairs, pairs), _share(np.maximum(-gap, 0.0) * pairs, pairs)
    won_low, won_high = clopper_pearson_real(won, effective, level=level)
    lost_low, lost_high = clopper_pearson_real(lost, effective, level=level)
    return np.hypot(won - won_low, lost_high - lost), np.hypot(won_high - won, lost - lost_low)


def _share(good: Array, n: Array) -> Array:
    return np.asarray(good.sum(axis=(-2, -1)) / n.sum(axis=(-2, -1)))
