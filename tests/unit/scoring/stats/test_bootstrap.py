from itertools import product
from math import sqrt

import numpy as np
import pytest

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.bootstrap import (
    CrossedWeights,
    bootstrap_difference,
    bootstrap_share,
    crossed_weights,
    dominates,
    one_sided_p,
    resampled_shares,
    share_draws,
)
from agent_litmus.scoring.stats.table import ClusterTable


def random_table(seed: int, hosts: int = 8, injections: int = 6) -> ClusterTable:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 4, (hosts, injections)).astype(float)
    good = rng.binomial(n.astype(int), 0.7).astype(float)
    return ClusterTable.from_counts(good, n, [f"h{i}" for i in range(hosts)], [f"i{j}" for j in range(injections)])


def test_every_possible_resample_of_a_small_table_is_weighed_right() -> None:
    """The 3^3 * 2^2 ways to draw hosts and injections, each against drawing rows and columns outright."""
    good, n = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 3.0]])
    for rows, columns in product(product(range(3), repeat=3), product(range(2), repeat=2)):
        weights = CrossedWeights(
            np.bincount(rows, minlength=3)[None].astype(float),
            np.bincount(columns, minlength=2)[None].astype(float),
        )
        picked = np.ix_(rows, columns)
        assert resampled_shares(good, n, weights) == pytest.approx(good[picked].sum() / n[picked].sum())


def test_draws_have_the_mean_and_spread_of_the_exhaustive_bootstrap() -> None:
    good, n = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.ones((3, 2))
    every = [
        good[np.ix_(rows, columns)].mean()
        for rows, columns in product(product(range(3), repeat=3), product(range(2), repeat=2))
    ]
    draws = resampled_shares(good, n, crossed_weights(3, 2, replicates=20_000, seed=1))
    assert draws.mean() == pytest.approx(np.mean(every), abs=5 * np.std(every) / sqrt(20_000))
    assert draws.std() == pytest.approx(np.std(every), rel=0.05)


def test_weights_of_a_replicate_are_whole_draws() -> None:
    weights = crossed_weights(7, 3, replicates=50, seed=3)
    assert (weights.hosts.sum(axis=1) == 7).all()
    assert (weights.injections.sum(axis=1) == 3).all()


def test_the_seed_alone_decides_the_draws() -> None:
    table = random_table(0)
    one, again, other = (share_draws([table], replicates=100, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_agents_share_their_weights() -> None:
    draws = share_draws([random_table(0), random_table(0)], replicates=200, seed=1)
    assert np.array_equal(draws[0], draws[1])


def test_difference_of_an_agent_with_itself_is_exactly_zero() -> None:
    interval = bootstrap_difference(random_table(0), random_table(0), replicates=200)
    assert (interval.value, interval.low, interval.high) == (0.0, 0.0, 0.0)


def test_large_stacks_are_resampled_block_by_block_with_the_same_result() -> None:
    tables = np.stack([random_table(seed).good for seed in range(30)])
    weights = crossed_weights(8, 6, replicates=60_000, seed=2)
    together = resampled_shares(tables, np.full_like(tables, 3.0), weights)
    alone = resampled_shares(tables[17], np.full((8, 6), 3.0), weights)
    assert np.allclose(together[17], alone)


def test_interval_brackets_the_share_and_says_how_it_was_made() -> None:
    interval = bootstrap_share(random_table(3), replicates=500)
    assert interval.low is not None
    assert interval.high is not None
    assert interval.value is not None
    assert interval.low < interval.value < interval.high
    assert interval.method == "two-way crossed bootstrap percentiles"


def test_nothing_to_resample_gives_no_interval() -> None:
    empty = ClusterTable.from_episodes([], [], [])
    assert bootstrap_share(empty).low is None
    assert bootstrap_difference(empty, random_table(0)).value is None
    with pytest.raises(LitmusScoringError, match="cannot resample"):
        share_draws([empty])


def test_a_replicate_without_episodes_is_not_a_share() -> None:
    weights = CrossedWeights(np.array([[2.0, 0.0]]), np.array([[0.0, 2.0]]))
    only_diagonal = np.eye(2)
    assert np.isnan(resampled_shares(only_diagonal, only_diagonal, weights)).all()


def test_one_sided_p_counts_draws_at_or_below_the_threshold_and_missing_ones() -> None:
    assert one_sided_p(np.array([0.1, 0.2, 0.0, np.nan]), 0.0) == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("x", "y", "wins"),
    [
        ([0.9, 0.9, 0.9], [0.8, 0.9, 0.9], True),
        ([0.9, 0.9, 0.9], [0.9, 0.9, 0.9], False),
        ([0.9, 0.89, 0.9], [0.8, 0.9, 0.9], True),
        ([0.9, 0.8, 0.9], [0.8, 0.9, 0.9], False),
        ([0.9, 0.9, 0.5], [0.8, 0.8, 0.9], False),
        ([0.8, 0.8, 0.9], [0.8, 0.8, 0.1], False),
        ([float("nan"), 0.9, 0.9], [0.1, 0.1, 0.1], False),
    ],
)
def test_dominance_needs_a_gain_on_the_first_axes_and_no_real_loss_on_any(
    x: list[float], y: list[float], wins: bool
) -> None:
    assert bool(dominates(np.array(x), np.array(y), 0.02)) is wins
