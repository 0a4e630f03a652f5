"""Holm and Clopper-Pearson against independent implementations, and exit codes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from agent_litmus.records.verdict import Verdict, VerdictKind
from agent_litmus.verdict.bounds import best_lower, clopper_pearson_lower, trials_needed
from agent_litmus.verdict.exit import exit_code
from agent_litmus.verdict.holm import holm_rejects

CALM = settings(deadline=None)
"""No clock: the machine may be busy."""

levels = st.floats(0.001, 0.5)
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.parametrize("seed", range(12))
def test_holm_agrees_with_an_independent_implementation(seed: int) -> None:
    """A dozen draws, because the other implementation takes a tenth of a second each."""
    draw = random.Random(seed)
    values = [draw.random() ** 4 for _ in range(1 + seed % 6)]
    expected = multipletests(values, alpha=0.05, method="holm")[0]
    assert holm_rejects(values, 0.05, len(values)) == tuple(expected)


@CALM
@given(p_values, st.floats(0, 1), levels)
def test_one_test_more_takes_no_rejection_away(values: list[float], extra: float, alpha: float) -> None:
    before = holm_rejects(values, alpha, 5)
    after = holm_rejects([*values, extra], alpha, 5)
    assert all(later or not earlier for earlier, later in zip(before, after, strict=False))


@CALM
@given(p_values, st.integers(0, 7), st.floats(0, 1), levels)
def test_a_smaller_p_value_takes_no_rejection_away(
    values: list[float], index: int, factor: float, alpha: float
) -> None:
    smaller = list(values)
    smaller[index % len(values)] *= factor
    pairs = zip(holm_rejects(values, alpha, 5), holm_rejects(smaller, alpha, 5), strict=True)
    assert all(later or not earlier for earlier, later in pairs)


def test_holm_stops_at_the_first_that_fails() -> None:
    assert holm_rejects([0.012, 0.03, 0.004], 0.05, 3) == (True, True, True)
    assert holm_rejects([0.04, 0.03, 0.004], 0.05, 3) == (False, False, True)
    assert holm_rejects([], 0.05, 3) == ()


def test_a_test_that_is_no_number_is_rejected() -> None:
    assert holm_rejects([float("nan"), 1.0], 0.01, 5) == (True, False)


@CALM
@given(st.integers(1, 200), st.data(), st.sampled_from([0.6, 0.9, 0.95, 0.99]))
def test_the_lower_bound_agrees_with_an_independent_implementation(
    total: int, data: st.DataObject, confidence: float
) -> None:
    good = data.draw(st.integers(1, total))
    expected, _ = proportion_confint(good, total, alpha=2 * (1 - confidence), method="beta")
    assert clopper_pearson_lower(good, total, confidence) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("good", "total"), [(0, 10), (0, 0), (-1, 10)])
def test_the_lower_bound_of_no_success_is_zero(good: int, total: int) -> None:
    assert clopper_pearson_lower(good, total, 0.95) == 0.0


@CALM
@given(st.integers(1, 500), st.sampled_from([0.6, 0.9, 0.95, 0.99]))
def test_the_best_bound_is_that_of_a_perfect_result(total: int, confidence: float) -> None:
    assert best_lower(total, confidence) == pytest.approx(clopper_pearson_lower(total, total, confidence))


@CALM
@given(st.floats(0.01, 0.999), st.sampled_from([0.6, 0.9, 0.95, 0.99]))
def test_the_number_needed_is_the_least_that_is_enough(floor: float, confidence: float) -> None:
    needed = trials_needed(floor, confidence)
    assert needed is not None
    assert best_lower(needed, confidence) >= floor - 1e-9
    assert best_lower(needed - 1, confidence) < floor + 1e-9


def test_the_number_needed_at_the_ends() -> None:
    assert trials_needed(1.0, 0.95) is None
    assert trials_needed(0.0, 0.95) == 1
    assert trials_needed(0.95, 0.95) == 59
    assert best_lower(0, 0.95) == 0.0


@pytest.mark.parametrize(
    ("kind", "code"), [(VerdictKind.PASS, 0), (VerdictKind.FAIL, 1), (VerdictKind.INDETERMINATE, 75)]
)
def test_exit_codes(kind: VerdictKind, code: int) -> None:
    assert exit_code(Verdict(kind, ())) == code
