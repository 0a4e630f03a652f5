"""What several tries of one probe say: pass^k, and spread over seeds."""

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from tests.unit.scoring.pool.test_pool import control, injected

from agent_litmus.records.columns import columns_of
from agent_litmus.records.episode import HostOutcome
from agent_litmus.records.stored import StoredEpisode
from agent_litmus.scoring.counts import METRICS
from agent_litmus.scoring.pool import by_seed
from agent_litmus.scoring.pool.pool import EpisodePool, pool_of
from agent_litmus.scoring.pool.seeds import SeedView, Spread
from agent_litmus.scoring.pool.tries import pass_k_of
from agent_litmus.scoring.pool.view import PoolView

DONE, FAILED, OPEN = HostOutcome.COMPLETED, HostOutcome.FAILED, HostOutcome.UNASSESSED
TRIES = {("h1", "i1"): "110", ("h1", "i2"): "111", ("h2", "i1"): "10?", ("h2", "i2"): "0??"}


def episodes() -> Iterable[StoredEpisode]:
    outcome = {"1": DONE, "0": FAILED, "?": OPEN}
    for (host, injection), marks in TRIES.items():
        for seed, mark in enumerate(marks):
            yield injected(host, injection, seed=seed, host_outcome=outcome[mark])
    for host in ("h1", "h2"):
        for seed in range(3):
            yield control(host, seed=seed)


def pool() -> EpisodePool:
    return pool_of([columns_of(episodes())])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_pass_k_is_the_share_of_k_subsets_in_which_every_try_is_good(k: int) -> None:
    known = [marks.replace("?", "") for marks in TRIES.values()]
    terms = [np.mean([set(chosen) == {"1"} for chosen in combinations(m, k)]) for m in known if len(m) >= k]
    found = pass_k_of(PoolView.of(pool()), k)["u1"]
    assert found.value == pytest.approx(np.mean(terms))
    assert (found.n, found.eligible, found.unassessed) == (len(terms), 4, 4 - len(terms))
    assert found.low is not None
    assert found.high is not None
    assert found.low <= float(found.value or 0) <= found.high


def test_probes_tried_too_seldom_say_nothing() -> None:
    found = pass_k_of(PoolView.of(pool()), 10**6)["u1"]
    assert (found.value, found.low, found.n, found.unassessed) == (None, None, 0, 4)


def test_repeats_of_one_seed_are_tries_too() -> None:
    rows = [control(), *(injected(repeat=r, host_outcome=DONE if r else FAILED) for r in range(3))]
    found = pass_k_of(PoolView.of(pool_of([columns_of(rows)])), 2)["u1"]
    assert found.value == pytest.approx(1 / 3)


def test_spread_is_between_the_shares_of_seeds() -> None:
    view = SeedView.of(pool())
    shares = [3 / 4, 2 / 3, 1 / 2]  # of seed 0: 1, 1, 1, 0; of seed 1: 1, 1, 0; of seed 2: 0, 1
    spread = view.spread(METRICS["u1"])
    assert spread is not None
    assert (spread.seeds, spread.low, spread.high) == (3, min(shares), max(shares))
    assert spread.deviation == pytest.approx(float(np.std(shares, ddof=1)))
    assert view.spread(METRICS["u0"]) == Spread(3, 1.0, 1.0, 0.0)
    assert view.where(lambda group: group.attack == "other").spread(METRICS["u1"]) is None


def test_one_seed_has_no_spread() -> None:
    view = SeedView.of(pool_of([columns_of([control(), injected()])]))
    assert view.spread(METRICS["u1"]) is None


def test_batches_change_nothing() -> None:
    rows = list(episodes())
    one_by_one = SeedView.of(pool_of(columns_of([row]) for row in reversed(rows)))
    found, whole = (view.spread(METRICS["u1"]) for view in (one_by_one, SeedView.of(pool())))
    assert found is not None
    assert whole is not None
    assert (found.seeds, found.low, found.high) == (whole.seeds, whole.low, whole.high)
    assert math.isclose(found.deviation, whole.deviation)


def test_too_many_seeds_are_not_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_seed, "_MOST", 4)
    view = SeedView.of(pool())
    assert view.spread(METRICS["u1"]) is None
    assert view.counts.size == 0
