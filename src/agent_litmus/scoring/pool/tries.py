"""pass^k of a part of a pool: a task is a probe, its tries are its seeds and repeats."""

import numpy as np

from agent_litmus.records.scorecard import Estimate
from agent_litmus.scoring.counts import METRICS, PAIRED
from agent_litmus.scoring.pool.view import PoolView
from agent_litmus.scoring.stats.passk import pass_hat_k
from agent_litmus.scoring.stats.twoway import clustered_share


def pass_k_of(view: PoolView, k: int) -> dict[str, Estimate]:
    """Chance that k tries of a probe are all good, for ``u0``, ``u1``, ``ir`` and ``sr``.

    ``n`` counts probes with at least k assessed tries, over which the mean is taken; ``unassessed`` counts those
    with fewer. The interval is the two-way clustered one of a mean over probes.

    Raises:
        LitmusScoringError: k is below 1.
    """
    return {name: _estimate(view, name, k) for name in PAIRED}


def _estimate(view: PoolView, name: str, k: int) -> Estimate:
    metric = METRICS[name]
    good, tries, asked = view.tries(metric)
    found = pass_hat_k(zip(good.tolist(), tries.tolist(), strict=True), k)
    tried = tries >= max(k, 1)
    chance = np.ones(len(tries))
    for step in range(min(k, int(tries.max(initial=0)))):  # C(good, k) / C(tries, k), factor by factor
        chance *= np.where(tried, np.maximum(good - step, 0) / np.maximum(tries - step, 1), 0.0)
    interval = clustered_share(view.cluster(chance * tried, tried.astype(np.int64), hosts_only=metric.hosts_only))
    eligible = int(asked.sum())
    return Estimate(
        found.value, interval.low, interval.high, found.tasks, eligible, eligible - found.tasks, interval.method
    )
