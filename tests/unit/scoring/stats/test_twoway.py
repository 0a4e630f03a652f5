import numpy as np
import pytest

from agent_litmus.scoring.stats.table import ClusterTable
from agent_litmus.scoring.stats.twoway import clustered_share, host_clustered_share


def crossed(hosts: int, injections: int, bad: int = 0) -> ClusterTable:
    good = np.full((hosts, injections), 2.0)
    good.flat[:bad] -= 1
    names = [f"h{i:02}" for i in range(hosts)], [f"i{j:02}" for j in range(injections)]
    return ClusterTable.from_counts(good, np.full((hosts, injections), 2.0), *names)


def test_saturated_table_does_not_collapse_to_certainty() -> None:
    interval = clustered_share(crossed(6, 4))
    assert interval.value == 1.0
    assert interval.high == 1.0
    assert interval.low is not None
    assert 0.8 < interval.low < 0.93


def test_empty_table_has_no_value() -> None:
    interval = clustered_share(ClusterTable.from_episodes([], [], []))
    assert (interval.value, interval.low, interval.high, interval.n) == (None, None, None, 0)


@pytest.mark.parametrize(("hosts", "injections", "weak"), [(4, 9, True), (9, 4, True), (5, 5, False)])
def test_fewer_than_five_clusters_is_underpowered(hosts: int, injections: int, weak: bool) -> None:
    assert clustered_share(crossed(hosts, injections, 3)).method.endswith("; underpowered") is weak


def test_control_episodes_are_clustered_by_host_only() -> None:
    table = ClusterTable.from_episodes([1, 1, 0, 1, 1, 1], ["a", "b", "c", "d", "e", "e"])
    interval = host_clustered_share(table)
    assert interval.method == "one-way clustered t (hosts) + effective-n Clopper-Pearson"
    assert interval.n == 6
