from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.binomial import wilson
from agent_litmus.scoring.stats.table import ClusterTable
from agent_litmus.scoring.stats.twoway import (
    ICC_FLOOR,
    clustered_share,
    clustered_variance,
    degrees_of_freedom,
    design_effect_floor,
    faded_icc,
    host_clustered_share,
    rarer_outcome_cells,
    share_bounds,
    share_influence,
)


def crossed(hosts: int, injections: int, bad: int = 0, each: int = 2) -> ClusterTable:
    good = np.full((hosts, injections), float(each))
    good.flat[:bad] -= 1
    names = [f"h{i:02}" for i in range(hosts)], [f"i{j:02}" for j in range(injections)]
    return ClusterTable.from_counts(good, np.full((hosts, injections), float(each)), *names)


def ragged(seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Outcome, host and injection of episodes on an unbalanced crossed design with real clustering."""
    rng = np.random.default_rng(seed)
    host, injection = rng.integers(0, 9, 150), rng.integers(0, 7, 150)
    lean = rng.normal(0, 1, 9)[host] + rng.normal(0, 1, 7)[injection]
    return (rng.random(150) < 1 / (1 + np.exp(-lean - 0.5))).astype(np.int64), host, injection


@pytest.mark.parametrize("seed", range(4))
def test_variance_agrees_with_statsmodels_two_way_cluster_covariance(seed: int) -> None:
    good, host, injection = ragged(seed)
    fit = OLS(good, np.ones(len(good))).fit()
    table = ClusterTable.from_episodes(good.tolist(), host.astype(str).tolist(), injection.astype(str).tolist())
    influence = share_influence(table.good, table.n)
    # statsmodels' small-sample factor is G/(G-1) * (n-1)/(n-k), and k = 1 here
    v_both, v_host, v_inj = (float(v[0, 0]) for v in cov_cluster_2groups(fit, host, injection))
    expected = max(v_both, v_host, v_inj)
    assert clustered_variance(influence, table.n) == pytest.approx(expected, rel=1e-9)


def test_one_way_variance_agrees_with_statsmodels() -> None:
    good, host, _ = ragged(9)
    fit = OLS(good, np.ones(len(good))).fit()
    table = ClusterTable.from_episodes(good.tolist(), host.astype(str).tolist())
    expected = float(cov_cluster(fit, host)[0, 0])
    assert clustered_variance(share_influence(table.good, table.n), table.n) == pytest.approx(expected, rel=1e-9)


def test_variance_of_a_two_by_two_table_worked_by_hand() -> None:
    """Cells 1 1 / 0 1, share 3/4: influences 1/16 1/16 / -3/16 1/16.

    Host totals 2/16 and -2/16: V_host = 2 * 8/256. Injection totals the same. Cells: V_cell = 4/3 * 12/256.
    """
    good, n = np.array([[1.0, 1.0], [0.0, 1.0]]), np.ones((2, 2))
    assert clustered_variance(share_influence(good, n), n) == pytest.approx(16 / 256 + 16 / 256 - 16 / 256)


def test_saturated_table_does_not_collapse_to_certainty() -> None:
    interval = clustered_share(crossed(6, 4))
    assert interval.value == 1.0
    assert interval.high == 1.0
    # 48 episodes count as 48 / (1 + 0.04 * (7 + 11)); their lower Clopper-Pearson bound has a closed form
    assert interval.low == pytest.approx(0.025 ** (1.72 / 48))


def test_the_same_holds_where_every_episode_is_bad() -> None:
    table = crossed(6, 4)
    none_good = ClusterTable.from_counts(table.good * 0, table.n, table.hosts, table.injections)
    interval = clustered_share(none_good)
    assert (interval.value, interval.low) == (0.0, 0.0)
    assert interval.high == pytest.approx(1 - 0.025 ** (1.72 / 48))


def test_interval_of_clustered_episodes_is_wider_than_that_of_independent_ones() -> None:
    whole_hosts = crossed(10, 8)
    good = whole_hosts.good.copy()
    good[:3] = 0
    table = ClusterTable.from_counts(good, whole_hosts.n, whole_hosts.hosts, whole_hosts.injections)
    ours, plain = clustered_share(table), wilson(112, 160)
    assert None not in {ours.low, ours.high, plain.low, plain.high}
    assert ours.high - ours.low > 2 * (plain.high - plain.low)  # type: ignore[operator]


def test_empty_table_has_no_value() -> None:
    interval = clustered_share(ClusterTable.from_episodes([], [], []))
    assert (interval.value, interval.low, interval.high, interval.n) == (None, None, None, 0)


@pytest.mark.parametrize(("hosts", "injections", "weak"), [(4, 9, True), (9, 4, True), (5, 5, False)])
def test_fewer_than_five_clusters_is_underpowered(hosts: int, injections: int, weak: bool) -> None:
    interval = clustered_share(crossed(hosts, injections, 3))
    assert interval.method.endswith("; underpowered") is weak
    assert interval.underpowered is weak


@pytest.mark.parametrize(
    ("hosts", "injections", "method"),
    [
        (6, 1, "one-way clustered t (hosts) + effective-n Clopper-Pearson; within one injection; underpowered"),
        (1, 6, "one-way clustered t (injections) + effective-n Clopper-Pearson; within one host; underpowered"),
        (1, 1, "unclustered + effective-n Clopper-Pearson; within one host; within one injection; underpowered"),
    ],
)
def test_a_single_cluster_is_named_as_the_limit_of_the_claim(hosts: int, injections: int, method: str) -> None:
    interval = clustered_share(crossed(hosts, injections, 1))
    assert interval.method == method
    assert interval.low is not None
    assert interval.value is not None
    assert interval.low < interval.value


def test_control_episodes_are_clustered_by_host_only() -> None:
    table = ClusterTable.from_episodes([1, 1, 0, 1, 1, 1], ["a", "b", "c", "d", "e", "e"])
    interval = host_clustered_share(table)
    assert interval.method == "one-way clustered t (hosts) + effective-n Clopper-Pearson"
    assert interval.n == 6


def test_degrees_of_freedom_come_from_the_smaller_direction_that_varies() -> None:
    sizes = {(6, 4): 3.0, (4, 6): 3.0, (6, 1): 5.0, (1, 4): 3.0, (1, 1): 0.0}
    assert {size: float(degrees_of_freedom(crossed(*size).n)) for size in sizes} == sizes


def test_floor_of_the_design_effect_on_a_balanced_table() -> None:
    assert design_effect_floor(crossed(6, 4).n) == pytest.approx(1 + ICC_FLOOR * (8 - 1 + 12 - 1))


def test_floor_fades_once_the_rarer_outcome_was_seen_in_many_cells() -> None:
    few, many = crossed(40, 20, bad=100), crossed(40, 20, bad=400)
    seen = [rarer_outcome_cells(table.good, table.n) for table in (few, many)]
    assert faded_icc(np.array(seen)).tolist() == pytest.approx([ICC_FLOOR, ICC_FLOOR / 4])


def test_kernel_gives_each_table_of_a_stack_its_own_bounds() -> None:
    tables = [crossed(6, 5, bad) for bad in (0, 3, 20)]
    low, high = share_bounds(np.stack([t.good for t in tables]), np.stack([t.n for t in tables]))
    alone = [clustered_share(table) for table in tables]
    assert low.tolist() == pytest.approx([interval.low for interval in alone])
    assert high.tolist() == pytest.approx([interval.high for interval in alone])


def test_exact_coverage_by_enumeration_of_a_small_unclustered_design() -> None:
    """All 2^9 outcomes of a 3 x 3 design, weighted by their probability: at least nominal for every rate tried."""
    outcomes = np.array(list(product([0.0, 1.0], repeat=9))).reshape(-1, 3, 3)
    low, high = share_bounds(outcomes, np.ones_like(outcomes))
    good = outcomes.sum(axis=(1, 2))
    for p in (0.05, 0.3, 0.5, 0.8, 0.95):
        weight = p**good * (1 - p) ** (9 - good)
        assert weight[(low <= p) & (p <= high)].sum() >= 0.95


def test_impossible_level_is_refused() -> None:
    with pytest.raises(LitmusScoringError, match="confidence level"):
        clustered_share(crossed(2, 2), level=95)
