import numpy as np
import pytest

from agent_litmus.scoring.cor import cor_estimate
from agent_litmus.scoring.stats.table import HOSTS_ONLY, ClusterTable

HOSTS, INJECTIONS = [f"h{h}" for h in range(6)], [f"i{i}" for i in range(5)]


def table(share: float, tries: float = 1.0) -> ClusterTable:
    n = np.full((len(HOSTS), len(INJECTIONS)), tries)
    return ClusterTable.from_counts(n * share, n, HOSTS, INJECTIONS)


def controls(per_host: float, share: float = 0.0) -> ClusterTable:
    n = np.full((len(HOSTS), 1), per_host)
    return ClusterTable.from_counts(n * share, n, HOSTS, [HOSTS_ONLY])


def test_the_value_is_that_of_the_pairs_and_the_rest_is_unassessed() -> None:
    found = cor_estimate(table(1.0), table(0.5), controls(1.0, 0.5), eligible=40)
    assert (found.value, found.n, found.eligible, found.unassessed) == (0.5, 30, 40, 10)


def test_controls_beyond_the_pairs_make_no_interval_tighter() -> None:
    as_many = cor_estimate(table(0.0), table(0.0), controls(5.0), eligible=30)
    more = cor_estimate(table(0.0), table(0.0), controls(500.0), eligible=30)
    assert more == as_many


def test_one_control_for_many_pairs_counts_once() -> None:
    one = cor_estimate(table(0.0), table(0.0), controls(1.0), eligible=30)
    five = cor_estimate(table(0.0), table(0.0), controls(5.0), eligible=30)
    assert one.low is not None
    assert five.low is not None
    assert one.low < five.low < 0.0


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_without_pairs_there_is_no_figure(share: float) -> None:
    none = ClusterTable.from_episodes([], [], [])
    found = cor_estimate(none, none, controls(1.0, share), eligible=3)
    assert (found.value, found.low, found.high, found.n, found.unassessed) == (None, None, None, 0, 3)
