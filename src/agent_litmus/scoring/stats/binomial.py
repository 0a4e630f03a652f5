"""Intervals for independent 0/1 outcomes, and their form for a real-valued effective sample size."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.interval import Interval, check_level


def wilson(good: int, n: int, *, level: float = 0.95) -> Interval:
    """Wilson score interval. Right for independent episodes only; crossed suites are not.

    Args:
        good: Successes, 0 to ``n``.
        n: Trials; 0 gives an interval of ``None``.
        level: Two-sided confidence, in (0, 1).

    Raises:
        LitmusScoringError: The counts or the level make no sense.
    """
    return _independent(good, n, level, "wilson", "Wilson")


def clopper_pearson(good: int, n: int, *, level: float = 0.95) -> Interval:
    """Clopper-Pearson ("exact") interval for independent episodes; arguments as in `wilson`."""
    return _independent(good, n, level, "exact", "Clopper-Pearson")


def _independent(good: int, n: int, level: float, scipy_name: str, name: str) -> Interval:
    check_level(level)
    if not 0 <= good <= n:
        raise LitmusScoringError(
            f"{good} successes out of {n} trials is not a count",
            hint="successes must lie between 0 and the number of trials",
            slug="bad-count",
        )
    if n == 0:
        return Interval(None, None, None, 0, name)
    from scipy.stats import binomtest  # noqa: PLC0415 - importing it takes about a second

    ci = binomtest(good, n).proportion_ci(confidence_level=level, method=scipy_name)
    return Interval(good / n, float(ci.low), float(ci.high), n, name)


def clopper_pearson_real(
    share: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clopper-Pearson bounds for a real-valued number of trials, elementwise over arrays.

    The beta-quantile form of the interval, low = B(a/2; x, n-x+1) and high = B(1-a/2; x+1, n-x) with
    x = share * n, needs no whole numbers, so it can be used at an effective sample size. For whole x and n it is
    the usual interval.

    Args:
        share: Observed share, in [0, 1].
        n: Trials, > 0; need not be whole.
        level: Two-sided confidence, in (0, 1).

    Returns:
        Lower and upper bounds, in [0, 1].
    """
    check_level(level)
    trials = np.asarray(n, dtype=np.float64)
    x = np.asarray(share, dtype=np.float64) * trials
    tail = (1.0 - level) / 2.0
    misses = np.maximum(trials - x, 0.0)
    low = np.where(x > 0, special.betaincinv(np.maximum(x, 1e-300), misses + 1.0, tail), 0.0)
    high = np.where(misses > 0, special.betainccinv(x + 1.0, np.maximum(misses, 1e-300), tail), 1.0)
    return low, high
