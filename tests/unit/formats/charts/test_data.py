from math import inf, nan

import pytest

from agent_litmus.errors import LitmusError
from agent_litmus.formats.charts import OutcomeSplit, Share, UtilityLoss


@pytest.mark.parametrize("number", [nan, inf, -0.01, 1.01])
def test_what_is_no_share_is_refused_wherever_it_stands(number: float) -> None:
    for numbers in ((number, None, None), (0.5, number, None), (0.5, None, number)):
        with pytest.raises(LitmusError, match="not a share") as caught:
            Share(*numbers)
        assert caught.value.slug == "bad-chart"
        assert caught.value.hint


def test_bounds_around_nothing_are_refused() -> None:
    with pytest.raises(LitmusError, match="no value"):
        Share(None, 0.0, 1.0)


@pytest.mark.parametrize("counts", [(-1, 0, 0, 0, 0), (0, 0, 0, -1, 0), (0, 0, 0, 0, -1)])
def test_negative_counts_are_refused(counts: tuple[int, int, int, int, int]) -> None:
    with pytest.raises(LitmusError, match="negative"):
        OutcomeSplit("a", *counts)


@pytest.mark.parametrize("numbers", [(0, 0, 0, -1), (5, 0, 0, 4), (0, -5, 0, 4)])
def test_differences_that_do_not_fit_their_pairs_are_refused(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(LitmusError, match="do not fit"):
        UtilityLoss("a", *numbers)
