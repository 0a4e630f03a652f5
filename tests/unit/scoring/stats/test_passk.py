from itertools import combinations

import pytest

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.passk import pass_hat_k


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_one_task_agrees_with_listing_every_subset_of_its_tries(k: int) -> None:
    tries = [1, 1, 0, 1, 1, 1, 0]
    subsets = list(combinations(tries, k))
    assert pass_hat_k([(5, 7)], k).value == pytest.approx(sum(all(s) for s in subsets) / len(subsets))


def test_estimate_is_unbiased_by_enumeration_over_outcomes() -> None:
    """E[C(c, 3) / C(5, 3)] = p^3 for c ~ Binomial(5, p), summed over all 2^5 outcomes."""
    p, expectation = 0.7, 0.0
    for outcome in range(2**5):
        c = outcome.bit_count()
        expectation += p**c * (1 - p) ** (5 - c) * (pass_hat_k([(c, 5)], 3).value or 0.0)
    assert expectation == pytest.approx(p**3)


def test_tasks_tried_too_seldom_are_counted_and_left_out() -> None:
    result = pass_hat_k([(2, 2), (1, 2), (1, 1), (0, 0)], 2)
    assert (result.value, result.tasks, result.skipped) == (0.5, 2, 2)


def test_no_task_tried_often_enough_gives_no_value() -> None:
    assert pass_hat_k([(1, 1)], 2).value is None


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(LitmusScoringError, match="k >= 1"):
        pass_hat_k([(1, 1)], 0)
    with pytest.raises(LitmusScoringError, match="is not a count"):
        pass_hat_k([(3, 2)], 1)
