"""Laws of borrowed tokens: what a copy is, which tokens met a check, and how the doubt grows."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.coupling.borrowing import NOISY, Desk, live, replayed

from agent_litmus.coupling.borrowed_tokens import borrowed_tokens
from agent_litmus.records.finding import FindingState
from agent_litmus.records.probe import TokenAlphabet
from agent_litmus.run.check_tokens import resembles

CALM = settings(deadline=None, max_examples=60)
HEX = st.text("0123456789abcdef", min_size=32, max_size=32)
DESK = Desk()


@CALM
@given(HEX, st.data())
def test_a_copy_with_fewer_than_half_of_its_digits_wrong_is_near(token: str, data: st.DataObject) -> None:
    wrong = data.draw(st.sets(st.integers(0, 31), max_size=16))
    copy = "".join("f" if n in wrong and c != "f" else "0" if n in wrong else c for n, c in enumerate(token))
    assert resembles(copy, [token])


@CALM
@given(HEX, HEX)
def test_resemblance_is_mutual_and_everything_resembles_itself(one: str, other: str) -> None:
    assert resembles(one, [other]) == resembles(other, [one])
    assert resembles(one, [one])
    assert not resembles(one, [])


def test_unrelated_tokens_seldom_resemble_each_other() -> None:
    draw = random.Random(1)
    pairs = 4000
    for alphabet, digits, most in (("0123456789abcdef", 32, 0.004), ("0123456789", 8, 0.02)):
        hits = sum(
            resembles("".join(draw.choices(alphabet, k=digits)), ["".join(draw.choices(alphabet, k=digits))])
            for _ in range(pairs)
        )
        assert hits <= most * pairs


@CALM
@given(HEX, st.lists(HEX, max_size=4), st.text(max_size=40))
def test_the_tokens_of_a_check_are_those_in_the_answer(own: str, others: list[str], noise: str) -> None:
    answer = f"{noise} {' '.join([own, *others])} {noise}"
    (check,) = DESK.met(own, answer).host_checks
    assert {own, *others} <= {token.value for token in check.tokens}
    assert all(token.value in answer for token in check.tokens)
    assert [token.value for token in check.tokens if token.own] == [own]


@CALM
@given(st.text(max_size=200))
def test_no_answer_breaks_it_and_a_lead_is_short(answer: str) -> None:
    for token in DESK.met("0" * 31 + "1", f"{answer}{'a' * 32} {'b' * 32} {answer}").host_checks[0].tokens:
        assert len(token.lead) <= 60
        assert "\n" not in token.lead


@CALM
@given(st.integers(0, 19), st.sampled_from([TokenAlphabet.HEX, TokenAlphabet.DIGITS]), st.integers(0, 2**30))
def test_a_borrowed_answer_more_never_lessens_the_doubt(count: int, alphabet: TokenAlphabet, seed: int) -> None:
    desk = Desk(alphabet)
    both = [desk.run([replayed(alphabet)] * k + [live] * (24 - k), random.Random(seed)) for k in (count, count + 1)]
    fewer, more = (1.0 if (p := borrowed_tokens(run).p_value) is None else p for run in both)
    assert more <= fewer


@CALM
@given(st.lists(st.sampled_from(sorted(NOISY)), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_sessions_does_not_matter(names: list[str], draw: random.Random) -> None:
    run = DESK.run([NOISY[name] for name in names], random.Random(7))
    shuffled = list(run.sessions)
    draw.shuffle(shuffled)
    one, other = borrowed_tokens(run), borrowed_tokens(replace(run, sessions=tuple(shuffled)))
    assert (one.state, one.p_value, one.number) == (other.state, other.p_value, other.number)


@CALM
@given(st.lists(st.sampled_from(sorted(set(NOISY) - {"stubborn"})), min_size=1, max_size=30))
def test_no_mixture_of_honest_agents_is_alarmed(names: list[str]) -> None:
    assert borrowed_tokens(DESK.run([NOISY[n] for n in names], random.Random(3))).state is not FindingState.ALARM
