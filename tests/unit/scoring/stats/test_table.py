import numpy as np
import pytest

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.table import HOSTS_ONLY, ClusterTable, merge_all

HOSTS = ["b", "a", "b", "a", "a"]
INJECTIONS = ["x", "x", "y", "y", "y"]


def test_episodes_are_counted_per_cell_under_sorted_labels() -> None:
    table = ClusterTable.from_episodes([1, 0, 1, 1, 0], HOSTS, INJECTIONS)
    assert (table.hosts, table.injections) == (("a", "b"), ("x", "y"))
    assert table.n.tolist() == [[1, 2], [1, 1]]
    assert table.good.tolist() == [[0, 1], [1, 1]]
    assert (table.episodes, table.share) == (5, 0.6)


def test_empty_table_has_no_share() -> None:
    empty = ClusterTable.from_episodes([], [], [])
    assert (empty.episodes, empty.share, empty.hosts) == (0, None, ())
    assert merge_all([]).share is None


def test_merging_a_table_with_the_empty_one_changes_nothing() -> None:
    table = ClusterTable.from_episodes([1, 0, 1, 1, 0], HOSTS, INJECTIONS)
    merged = merge_all([table])
    assert (merged.hosts, merged.injections) == (table.hosts, table.injections)
    assert np.array_equal(merged.good, table.good)


def test_control_episodes_have_a_single_nameless_column() -> None:
    table = ClusterTable.from_episodes([1, 0, 1], ["a", "a", "b"])
    assert table.injections == (HOSTS_ONLY,)
    assert table.hosts_only


def test_control_is_spread_over_the_cells_that_lean_on_it() -> None:
    injected = ClusterTable.from_episodes([1, 0, 1, 1, 0], HOSTS, INJECTIONS)
    control = ClusterTable.from_episodes([1, 0, 1], ["a", "a", "c"])
    spread = control.spread_like(injected)
    assert (spread.hosts, spread.injections) == (("a",), ("x", "y"))
    assert spread.n.tolist() == [[1, 2]]
    assert spread.good.tolist() == [[0.5, 1]]


def test_empty_control_spreads_to_nothing() -> None:
    injected = ClusterTable.from_episodes([1], ["a"], ["x"])
    assert ClusterTable.from_episodes([], []).spread_like(injected).share is None


def test_restriction_keeps_shared_cells_only() -> None:
    one = ClusterTable.from_episodes([1, 1, 0], ["a", "a", "b"], ["x", "y", "y"])
    two = ClusterTable.from_episodes([0, 0], ["a", "c"], ["y", "x"])
    kept = one.restricted(two)
    assert (kept.hosts, kept.injections, kept.n.tolist()) == (("a",), ("y",), [[1]])


@pytest.mark.parametrize("value", [2, -1, float("nan"), 0.5])
def test_an_outcome_that_is_neither_good_nor_bad_is_refused(value: float) -> None:
    with pytest.raises(LitmusScoringError, match="episode 1 has the outcome"):
        ClusterTable.from_episodes([1, value], ["a", "b"], ["x", "x"])  # type: ignore[list-item]


def test_ragged_columns_are_refused() -> None:
    with pytest.raises(LitmusScoringError, match="differ in length"):
        ClusterTable.from_episodes([1, 0], ["a"], ["x"])


def test_an_index_without_a_label_is_refused() -> None:
    with pytest.raises(LitmusScoringError, match="host index"):
        ClusterTable.from_codes([1], [3], [0], ["a"], ["x"])
    with pytest.raises(LitmusScoringError, match="injection index"):
        ClusterTable.from_codes([1], [0], [-1], ["a"], ["x"])


@pytest.mark.parametrize(
    ("good", "n", "hosts", "problem"),
    [
        ([[1.0]], [[1.0]], ["a", "b"], "labels say"),
        ([[1.0], [1.0]], [[1.0], [1.0]], ["a", "a"], "occurs twice"),
        ([[float("nan")]], [[1.0]], ["a"], "not finite"),
        ([[2.0]], [[1.0]], ["a"], "more good episodes"),
        ([[-1.0]], [[1.0]], ["a"], "negative"),
    ],
)
def test_impossible_counts_are_refused(
    good: list[list[float]], n: list[list[float]], hosts: list[str], problem: str
) -> None:
    with pytest.raises(LitmusScoringError, match=problem):
        ClusterTable.from_counts(np.array(good), np.array(n), hosts, ["x"])
