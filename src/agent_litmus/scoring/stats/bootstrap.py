"""Crossed (pigeonhole) bootstrap on H x J tables: hosts and injections are drawn again, independently.

A replicate gives every host and every injection a multinomial count and every cell the product of the two; the cost
is two matrix products, whatever the number of episodes. One set of weights serves every agent, so that differences
keep what agents share. Percentile intervals; the percentile interval of a saturated table is a point, which is why
the clustered intervals, not these, are reported. Slightly conservative when cells, not clusters, vary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.interval import Interval, check_level
from agent_litmus.scoring.stats.table import ClusterTable
from agent_litmus.scoring.stats.twoway import Array, method_name

DEFAULT_REPLICATES = 4000
"""Bootstrap replicates unless asked for otherwise."""

_BLOCK = 2**22  # floats held at once by a matrix product


@dataclass(frozen=True, slots=True, eq=False)
class CrossedWeights:
    """How often each replicate drew each host and each injection."""

    hosts: Array
    """Shape (replicates, H); rows sum to H."""
    injections: Array
    """Shape (replicates, J); rows sum to J."""


def crossed_weights(hosts: int, injections: int, *, replicates: int, seed: int) -> CrossedWeights:
    """Draw the weights of every replicate.

    Args:
        hosts: Number of hosts, >= 1.
        injections: Number of injections, >= 1. A single one is kept fixed, as nothing else can be done with it.
        replicates: Number of replicates, >= 1.
        seed: Seed of the generator; the same seed gives the same weights.

    Raises:
        LitmusScoringError: A size is below 1.
    """
    if min(hosts, injections, replicates) < 1:
        raise LitmusScoringError(
            f"cannot resample {hosts} hosts x {injections} injections {replicates} times",
            hint="resample a table with at least one episode, at least once",
            slug="nothing-to-resample",
        )
    rng = np.random.default_rng(seed)
    drawn = [
        rng.multinomial(k, np.full(k, 1.0 / k), size=replicates).astype(np.float64) for k in (hosts, injections)
    ]
    return CrossedWeights(*drawn)


def resampled_shares(good: Array, n: Array, weights: CrossedWeights) -> Array:
    """Share in every replicate.

    Args:
        good: Good episodes per cell, shape (..., H, J).
        n: All episodes per cell, same shape.
        weights: Weights made for H hosts and J injections.

    Returns:
        Shape (..., replicates); NaN where a replicate drew no episode at all (possible only with empty cells).
    """
    top, bottom = _weighted_sum(good, weights), _weighted_sum(n, weights)
    return np.asarray(np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0))


def _weighted_sum(values: Array, weights: CrossedWeights) -> Array:
    shape, replicates = values.shape, len(weights.hosts)
    flat = values.reshape(-1, *shape[-2:])
    out = np.empty((len(flat), replicates))
    step = max(1, _BLOCK // (replicates * shape[-1]))
    for start in range(0, len(flat), step):
        by_injection = weights.hosts @ flat[start : start + step]
        out[start : start + step] = np.einsum("rbj,bj->rb", by_injection, weights.injections)
    return out.reshape(*shape[:-2], replicates)


def share_draws(tables: Sequence[ClusterTable], *, replicates: int = DEFAULT_REPLICATES, seed: int = 0) -> Array:
    """Bootstrap draws of the share of several tables under shared weights, shape (tables, replicates).

    Tables are laid out on the union of their hosts and injections first. NaN marks a replicate without episodes.

    Raises:
        LitmusScoringError: No table holds an episode.
    """
    hosts = sorted({host for table in tables for host in table.hosts})
    injections = sorted({injection for table in tables for injection in table.injections})
    weights = crossed_weights(len(hosts), len(injections), replicates=replicates, seed=seed)
    laid_out = [table.aligned(hosts, injections) for table in tables]
    return np.stack([resampled_shares(table.good, table.n, weights) for table in laid_out])


def bootstrap_share(
    cells: ClusterTable, *, level: float = 0.95, replicates: int = DEFAULT_REPLICATES, seed: int = 0
) -> Interval:
    """Percentile interval of a share; all ``None`` for an empty table.

    Args:
        cells: Counts per host and injection.
        level: Two-sided confidence, in (0, 1).
        replicates: Number of replicates, >= 1.
        seed: Seed of the generator.

    Raises:
        LitmusScoringError: The level or the number of replicates is out of range.
    """
    return _percentile(cells.share, (cells,), level, replicates, seed)


def bootstrap_difference(
    x: ClusterTable, y: ClusterTable, *, level: float = 0.95, replicates: int = DEFAULT_REPLICATES, seed: int = 0
) -> Interval:
    """Percentile interval of share(x) - share(y) under shared weights, over the cells both have.

    Arguments and errors as in `bootstrap_share`.
    """
    x, y = x.restricted(y), y.restricted(x)
    value = None if x.share is None or y.share is None else x.share - y.share
    return _percentile(value, (x, y), level, replicates, seed)


def _percentile(
    value: float | None, tables: tuple[ClusterTable, ...], level: float, replicates: int, seed: int
) -> Interval:
    check_level(level)
    method = method_name(tables[0], "percentiles").replace("clustered t +", "crossed bootstrap")
    if value is None:
        return Interval(None, None, None, 0, method)
    draws = share_draws(tables, replicates=replicates, seed=seed)
    statistic = draws[0] - draws[1] if len(tables) > 1 else draws[0]
    low, high = np.nanquantile(statistic, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), tables[0].episodes, method)


def one_sided_p(draws: Array, threshold: float) -> float:
    """Bootstrap p-value against "the statistic is at most ``threshold``": (1 + draws at or below) / (1 + draws).

    A NaN draw counts against the claim.
    """
    return float(1 + np.count_nonzero(~(draws > threshold))) / (1 + draws.size)


def dominates(x: Array, y: Array, margin: float) -> NDArray[np.bool_]:
    """Where ``x`` dominates ``y``, elementwise over the last dimensions.

    Args:
        x: Figures per axis, larger better, shape (axes, ...). Improvement is sought on the first two axes only; the
            others must not be worse.
        y: The same for the other agent.
        margin: How much worse still counts as not worse, >= 0.

    Returns:
        True where ``x`` is not worse than ``y`` by ``margin`` or more on any axis, and better on one of the
        first two. NaN is never true.
    """
    gap = x - y
    return np.asarray((gap > -margin).all(axis=0) & (gap[:2] > 0).any(axis=0))
