from math import comb, inf, log

import numpy as np
import pytest
from scipy.integrate import quad

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.evalues import RateMartingale, merge_dependent, merge_independent


def test_e_value_is_the_integral_it_claims_to_be() -> None:
    def density(rate: float) -> float:
        return float(rate**-0.5 * (1 - rate) ** -0.5)

    ratio = (
        quad(lambda p: density(p) * p**7 * (1 - p) ** 3 / (0.2**7 * 0.8**3), 0.2, 1)[0] / quad(density, 0.2, 1)[0]
    )
    assert RateMartingale(0.2).observe(7, 10).e_value == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_expectation_under_the_null_is_at_most_one_by_enumeration(rate: float) -> None:
    """All outcomes of 30 trials; at the boundary of the null the expectation is exactly one."""
    expectation = sum(
        comb(30, k) * rate**k * (1 - rate) ** (30 - k) * RateMartingale(0.2).observe(k, 30).e_value
        for k in range(31)
    )
    assert expectation == pytest.approx(1.0) if rate == 0.2 else expectation < 1.0


def test_it_is_a_martingale_step_by_step() -> None:
    """At the null rate the next value is the present one on average, whatever was seen so far."""
    now = RateMartingale(0.3).observe(4, 9)
    after = 0.3 * now.observe(1, 1).e_value + 0.7 * now.observe(0, 1).e_value
    assert after == pytest.approx(now.e_value)


def test_looking_after_every_commit_seldom_raises_a_false_alarm() -> None:
    """2,000 honest histories of 60 commits: at most 1 in 20 may ever cross 20."""
    events = np.random.default_rng(8).binomial(1, 0.1, (2000, 60)).cumsum(axis=1)
    crossed = 0
    for history in events:
        values = (RateMartingale(0.1, int(k), t + 1).log_e for t, k in enumerate(history) if k > 0.2 * t)
        crossed += any(value >= log(20) for value in values)
    assert 0 < crossed <= 100


def test_repeated_coincidence_is_found() -> None:
    martingale = RateMartingale(0.05)
    for _ in range(3):
        martingale = martingale.observe(1, 1)
    assert martingale.e_value > 20
    assert martingale.p_value == pytest.approx(1 / martingale.e_value)


def test_the_anytime_p_value_never_rises() -> None:
    martingale = RateMartingale(0.1).observe(5, 5)
    found = martingale.p_value
    later = martingale.observe(0, 200)
    assert later.e_value < 1
    assert later.p_value == pytest.approx(found)


def test_overwhelming_evidence_is_infinite_not_an_error() -> None:
    assert RateMartingale(0.01).observe(5000, 5000).e_value == inf
    assert RateMartingale(0.5).observe(0, 10**6).e_value == 0.0


def test_independent_evidence_multiplies_and_dependent_evidence_averages() -> None:
    assert merge_independent([2.0, 3.0, 4.0]) == pytest.approx(24.0)
    assert merge_dependent([2.0, 3.0, 4.0]) == pytest.approx(3.0)
    assert merge_independent([0.0, inf]) == 0.0
    assert merge_independent([1e200, 1e200]) == inf


@pytest.mark.parametrize("values", [[], [-1.0], [float("nan")]])
def test_missing_evidence_is_refused(values: list[float]) -> None:
    with pytest.raises(LitmusScoringError, match="e-values must be"):
        merge_independent(values)
    with pytest.raises(LitmusScoringError, match="e-values must be"):
        merge_dependent(values)


def test_impossible_martingales_are_refused() -> None:
    with pytest.raises(LitmusScoringError, match="no martingale"):
        RateMartingale(1.0)
    with pytest.raises(LitmusScoringError, match="no martingale"):
        RateMartingale(0.1, 3, 2)
    with pytest.raises(LitmusScoringError, match="is not a count"):
        RateMartingale(0.1).observe(2, 1)
