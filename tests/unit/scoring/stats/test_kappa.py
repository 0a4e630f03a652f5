import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.kappa import cohen_kappa, kappa_interval


def columns(table: list[list[int]]) -> tuple[list[bool], list[bool]]:
    pairs = [(bool(i), bool(j)) for i in (0, 1) for j in (0, 1) for _ in range(table[i][j])]
    return [one for one, _ in pairs], [other for _, other in pairs]


def test_a_worked_example() -> None:
    """Two readers of 50 proposals: 20 both yes, 15 both no, the rest split: agreement 0.7, chance 0.5."""
    one, other = columns([[15, 10], [5, 20]])
    found = kappa_interval(one, other, [str(i) for i in range(50)])
    assert found.value == pytest.approx(0.4)
    assert found.n == 50


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4))
def test_the_value_is_that_of_statsmodels(cells: list[int]) -> None:
    table = np.array(cells, dtype=np.float64).reshape(2, 2)
    mine = float(cohen_kappa(table))
    if np.isnan(mine):
        assert table.sum() == 0 or (table.sum(axis=0) * table.sum(axis=1)).sum() == table.sum() ** 2
    else:
        assert mine == pytest.approx(cohens_kappa(table, return_results=False))


def test_with_independent_items_the_interval_is_like_the_asymptotic_one() -> None:
    one, other = columns([[150, 40], [30, 180]])
    found = kappa_interval(one, other, [str(i) for i in range(400)])
    theirs = cohens_kappa(np.array([[150, 40], [30, 180]]))
    assert found.low == pytest.approx(theirs.kappa_low, abs=0.02)
    assert found.high == pytest.approx(theirs.kappa_upp, abs=0.02)


def test_alike_items_of_one_group_count_for_less() -> None:
    one, other = columns([[40, 10], [10, 40]])
    order = np.random.default_rng(1).permutation(100)
    alone = kappa_interval(one, other, [str(i) for i in range(100)])
    grouped = kappa_interval(one, other, [str(i // 10) for i in range(100)])
    assert alone.low is not None
    assert grouped.low is not None
    assert grouped.low < alone.low
    mine, theirs = ([column[i] for i in order] for column in (one, other))
    assert kappa_interval(mine, theirs, [str(i) for i in order]).value == alone.value


def test_full_agreement_still_has_a_lower_bound() -> None:
    one, _ = columns([[10, 0], [0, 10]])
    found = kappa_interval(one, one, [str(i // 2) for i in range(20)])
    assert found.value == found.high == 1.0
    assert found.low is not None
    assert 0.5 < found.low < 0.9


@pytest.mark.parametrize("verdict", [True, False])
def test_where_both_always_say_the_same_there_is_no_kappa(verdict: bool) -> None:
    found = kappa_interval([verdict] * 5, [verdict] * 5, list("abcde"))
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 5)
    assert kappa_interval([], [], []).value is None


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(LitmusScoringError, match="differ in length"):
        kappa_interval([True], [True, False], ["a"])
