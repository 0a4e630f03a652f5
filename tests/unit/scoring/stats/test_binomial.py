import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.binomial import clopper_pearson, clopper_pearson_real, wilson

COUNTS = [(0, 1), (1, 1), (0, 48), (48, 48), (47, 48), (7, 20), (300, 629), (1, 3000)]


@pytest.mark.parametrize(("good", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(good: int, n: int, level: float) -> None:
    interval = wilson(good, n, level=level)
    assert (interval.low, interval.high) == pytest.approx(
        proportion_confint(good, n, alpha=1 - level, method="wilson"), abs=1e-12
    )


@pytest.mark.parametrize(("good", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_clopper_pearson_agrees_with_statsmodels(good: int, n: int, level: float) -> None:
    expected = proportion_confint(good, n, alpha=1 - level, method="beta")
    interval = clopper_pearson(good, n, level=level)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    assert clopper_pearson_real(good / n, n, level=level) == pytest.approx(expected, abs=1e-9)


def test_clopper_pearson_covers_at_least_nominally_by_enumeration() -> None:
    """Every outcome of 12 trials, weighted by its exact probability, for a grid of true rates."""
    n = 12
    lows, highs = clopper_pearson_real(np.arange(n + 1) / n, np.full(n + 1, float(n)))
    pascal = np.array([np.prod(np.arange(n - k + 1, n + 1)) / np.prod(np.arange(1, k + 1)) for k in range(n + 1)])
    for p in np.linspace(0.01, 0.99, 50):
        weight = pascal * p ** np.arange(n + 1) * (1 - p) ** np.arange(n, -1, -1)
        assert weight[(lows <= p) & (p <= highs)].sum() >= 0.95


def test_real_valued_trials_lie_between_the_whole_numbers_around_them() -> None:
    lows, _ = clopper_pearson_real(np.full(3, 0.8), np.array([10.0, 12.5, 15.0]))
    assert lows[0] < lows[1] < lows[2]


def test_no_trials_give_no_interval() -> None:
    assert (wilson(0, 0).value, wilson(0, 0).low, clopper_pearson(0, 0).high) == (None, None, None)


@pytest.mark.parametrize(("good", "n"), [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(good: int, n: int) -> None:
    with pytest.raises(LitmusScoringError, match="is not a count"):
        wilson(good, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, float("nan")])
def test_impossible_levels_are_refused(level: float) -> None:
    with pytest.raises(LitmusScoringError, match="confidence level"):
        clopper_pearson(1, 2, level=level)
