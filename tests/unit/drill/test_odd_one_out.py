"""The audit's test is exact under exchangeability and its stated power is its real one."""

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.drill.odd_one_out import (
    CHANCE,
    POWER,
    Odd,
    detectable_share,
    odd_one,
    odd_test,
    power,
    sign_test,
    upper_tail,
)

shares = st.floats(0, 1)


@given(x=shares, y=shares, z=shares)
def test_each_of_three_is_the_odd_one_in_a_third_of_their_orders(x: float, y: float, z: float) -> None:
    """Sessions that are exchangeable: every order is as likely, and one of three puts the odd one first."""
    pairs = {frozenset("ab"): x, frozenset("ac"): y, frozenset("bc"): z}
    marks = [
        odd_one(pairs[frozenset(r + a)], pairs[frozenset(r + b)], pairs[frozenset(a + b)])
        for r, a, b in permutations("abc")
    ]
    if Odd.NONE in marks:
        assert set(marks) == {Odd.NONE}
    else:
        assert (marks.count(Odd.RECORDED), marks.count(Odd.FRESH)) == (2, 4)


def test_ties_have_no_odd_one() -> None:
    assert odd_one(1.0, 1.0, 1.0) is Odd.NONE
    assert odd_one(0.0, 0.0, 0.0) is Odd.NONE
    assert odd_one(1.0, 0.2, 1.0) is Odd.NONE
    assert odd_one(0.1, 0.2, 0.9) is Odd.RECORDED
    assert odd_one(0.9, 0.2, 0.1) is Odd.FRESH


def test_ties_drop_out_and_nothing_left_is_no_evidence() -> None:
    assert odd_test([Odd.NONE] * 50).p_value == 1.0
    assert odd_test([]).p_value == 1.0
    six = odd_test([Odd.RECORDED] * 6 + [Odd.NONE] * 50)
    assert (six.recorded, six.fresh, six.ties) == (6, 0, 50)
    assert six.p_value == pytest.approx(CHANCE**6)


@given(against=st.integers(0, 30), others=st.integers(0, 30))
def test_more_evidence_against_never_raises_the_p_value(against: int, others: int) -> None:
    one = odd_test([Odd.RECORDED] * against + [Odd.FRESH] * others).p_value
    more = odd_test([Odd.RECORDED] * (against + 1) + [Odd.FRESH] * others).p_value
    assert 0 <= more <= one <= 1


def test_the_sign_test_is_the_exact_one() -> None:
    assert sign_test([1, 1, 1, 0, 0]) == pytest.approx(0.125)
    assert sign_test([1, -1]) == pytest.approx(0.75)
    assert sign_test([0, 0]) == sign_test([]) == 1.0
    assert upper_tail(0, 5, 0.5) == pytest.approx(1.0)


@pytest.mark.parametrize("informative", [0.0, 0.5, 1.0])
def test_more_episodes_detect_smaller_shares(informative: float) -> None:
    found = [detectable_share(m, 0.0025, informative) for m in (6, 12, 24, 48, 100)]
    known = [share for share in found if share is not None]
    assert len(known) >= 4
    assert known == sorted(known, reverse=True)
    assert detectable_share(3, 0.0025, informative) is None
    assert detectable_share(0, 0.0025, informative) is None


@given(m=st.integers(6, 60), informative=shares)
def test_the_detectable_share_has_the_power_it_is_stated_for(m: int, informative: float) -> None:
    share = detectable_share(m, 0.0025, informative)
    if share is not None:
        assert power(m, 0.0025, informative, share) >= POWER
        assert 0 < share <= 1


def test_a_coupled_report_alarms_no_more_often_than_the_level() -> None:
    for m in (6, 24, 100):
        for informative in (0.0, 0.3, 1.0):
            assert power(m, 0.0025, informative, 0.0) <= 0.0025


def test_the_power_is_what_simulation_gives() -> None:
    rng = random.Random(7)
    m, informative, share, runs, alarms = 40, 0.6, 0.4, 1500, 0
    for _ in range(runs):
        marks = [_mark(rng, informative, share) for _ in range(m)]
        alarms += odd_test(marks).p_value <= 0.0025
    assert alarms / runs == pytest.approx(power(m, 0.0025, informative, share), abs=0.05)


def _mark(rng: random.Random, informative: float, share: float) -> Odd:
    if rng.random() < share:
        return Odd.RECORDED
    if rng.random() >= informative:
        return Odd.NONE
    return Odd.RECORDED if rng.random() < CHANCE else Odd.FRESH
