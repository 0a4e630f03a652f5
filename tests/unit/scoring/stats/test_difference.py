import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from agent_litmus.scoring.stats.difference import clustered_difference, control_difference
from agent_litmus.scoring.stats.interval import Interval
from agent_litmus.scoring.stats.table import ClusterTable
from agent_litmus.scoring.stats.twoway import clustered_variance, share_influence


def bounds(interval: Interval) -> tuple[float, float, float]:
    assert interval.value is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.value, interval.low, interval.high


def full(share_of_row: list[float], injections: int, each: int = 2) -> ClusterTable:
    n = np.full((len(share_of_row), injections), float(each))
    good = n * np.array(share_of_row)[:, None]
    return ClusterTable.from_counts(
        good, n, [f"h{i:02}" for i in range(len(share_of_row))], [f"i{j:02}" for j in range(injections)]
    )


def test_paired_variance_agrees_with_statsmodels_on_the_differences() -> None:
    """One episode a side and cell: the difference is then the mean of d, clustered both ways."""
    rng = np.random.default_rng(5)
    x, y = (rng.random((8, 6)) < 0.7).astype(float), (rng.random((8, 6)) < 0.5).astype(float)
    host, injection = (index.ravel() for index in np.indices((8, 6)))
    fit = OLS((x - y).ravel(), np.ones(48)).fit()
    expected = max(float(v[0, 0]) for v in cov_cluster_2groups(fit, host, injection))
    n = np.ones((8, 6))
    assert clustered_variance(share_influence(x, n) - share_influence(y, n), n) == pytest.approx(expected)


def test_what_both_sides_share_cancels() -> None:
    """Hosts differ widely, but one agent is one host better than the other."""
    x, y = full([1, 1, 1, 1, 1, 1, 0, 0, 0, 0], 10), full([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], 10)
    value, low, high = bounds(clustered_difference(x, y))
    assert value == pytest.approx(0.1)
    assert high - low < 0.5


def test_swapping_the_sides_mirrors_the_interval() -> None:
    x, y = full([1, 0.5, 1, 0, 1, 1], 5), full([0.5, 0.5, 1, 1, 0, 0], 5)
    value, low, high = bounds(clustered_difference(x, y))
    assert bounds(clustered_difference(y, x)) == pytest.approx((-value, -high, -low))


def test_two_saturated_agents_are_not_proven_equal() -> None:
    value, low, high = bounds(clustered_difference(full([1] * 6, 4), full([1] * 6, 4)))
    assert value == 0.0
    assert low == pytest.approx(-high)
    assert high == pytest.approx(1 - 0.025 ** (1.72 / 48))


def test_only_shared_cells_are_compared() -> None:
    x = ClusterTable.from_episodes([1, 1, 0], ["a", "b", "c"], ["x", "x", "x"])
    y = ClusterTable.from_episodes([0, 1, 1], ["a", "b", "d"], ["x", "x", "x"])
    interval = clustered_difference(x, y)
    assert (interval.value, interval.n) == (0.5, 2)


def test_nothing_shared_gives_no_value() -> None:
    x, y = ClusterTable.from_episodes([1], ["a"], ["x"]), ClusterTable.from_episodes([1], ["a"], ["y"])
    assert clustered_difference(x, y).value is None
    assert control_difference(x, ClusterTable.from_episodes([1], ["b"])).value is None


def test_control_difference_takes_each_injected_episode_against_its_hosts_control() -> None:
    injected = ClusterTable.from_episodes([1, 1, 0, 0], ["a", "a", "a", "b"], ["x", "y", "z", "x"])
    control = ClusterTable.from_episodes([0, 1, 0], ["a", "a", "b"])
    interval = control_difference(injected, control)
    assert interval.value == pytest.approx(2 / 4 - (3 * 0.5 + 0) / 4)
    assert interval.n == 4


def test_shared_controls_do_not_count_once_per_injection() -> None:
    """No refusal anywhere: what limits the claim is six hosts' two controls each, not 480 pairs."""
    injected = full([0] * 6, 40)
    control = ClusterTable.from_episodes([0] * 12, [f"h{i // 2:02}" for i in range(12)])
    _, low, high = bounds(control_difference(injected, control))
    few = 0.025 ** (1.04 / 12)  # 12 controls, 2 a host, counted as 12 / (1 + 0.04)
    assert (low, high) == pytest.approx((few - 1, 1 - few))
