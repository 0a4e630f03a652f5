"""Figures seed by seed: how much of a figure is the luck of one seed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_litmus.scoring.classify import OutcomeTuple
from agent_litmus.scoring.counts import Metric
from agent_litmus.scoring.pool.pool import EpisodePool, OutcomeKey, ProbeKey

Counts = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Spread:
    """How a share differs between seeds, each seed's share taken over its own assessed episodes."""

    seeds: int
    """Seeds with an assessed episode; at least 2."""
    low: float
    """Share of the worst seed, in [0, 1]."""
    high: float
    """Share of the best one."""
    deviation: float
    """Sample standard deviation over seeds (divisor: seeds less one)."""


@dataclass(frozen=True, slots=True, eq=False)
class SeedView:
    """Episodes by group of probes, seed and outcome."""

    groups: tuple[ProbeKey, ...]
    """Probes without host task, injection, carrier and id."""
    outcomes: tuple[OutcomeKey, ...]
    counts: Counts
    """Shape (groups, seeds, outcomes)."""

    @classmethod
    def of(cls, pool: EpisodePool) -> "SeedView":
        """All of a pool; nothing if it has more seeds than it keeps apart."""
        counts = pool.by_seed.counts
        groups = pool.by_seed.groups.keys if counts.size else ()
        return cls(tuple(groups), tuple(pool.outcomes.keys[: counts.shape[2]]), counts[: len(groups)])

    def where(self, wanted: Callable[[ProbeKey], bool]) -> "SeedView":
        """The groups for which ``wanted`` holds; it must not look at what groups lack."""
        keep = np.array([wanted(group) for group in self.groups], dtype=np.bool_)
        groups = tuple(group for group, kept in zip(self.groups, keep.tolist(), strict=True) if kept)
        return SeedView(groups, self.outcomes, self.counts[keep])

    def spread(self, metric: Metric) -> Spread | None:
        """Spread of a metric over seeds; ``None`` where fewer than two have an assessed episode."""
        good, bad = (self._per_seed(metric, kind) for kind in (True, False))
        n = good + bad
        shares = good[n > 0] / n[n > 0]
        if len(shares) < 2:
            return None
        return Spread(len(shares), float(shares.min()), float(shares.max()), float(shares.std(ddof=1)))

    def _per_seed(self, metric: Metric, kind: bool) -> NDArray[np.float64]:  # noqa: FBT001 - a kind of mark
        marks = np.array(
            [
                [
                    _is(metric, OutcomeTuple(g.condition, k.delivery, k.host, k.injected), kind)
                    for k in self.outcomes
                ]
                for g in self.groups
            ],
            dtype=np.bool_,
        ).reshape(len(self.groups), 1, len(self.outcomes))
        return np.asarray((self.counts * marks).sum(axis=(0, 2)), dtype=np.float64)


def _is(metric: Metric, outcome: OutcomeTuple, kind: bool) -> bool:  # noqa: FBT001 - a kind of mark
    return metric.eligible(outcome) and metric.good(outcome) is kind
