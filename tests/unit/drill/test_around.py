import random

from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.drill.around import Touch, without_tokens
from agent_litmus.drill.caches import Kept, ResponseStore

ANSWER = Kept(200, (), b"one", 0.1)
OTHER = Kept(200, (), b"two", 0.2)


@given(st.floats(0.01, 1.0), st.text())
def test_the_dice_are_thrown_once_for_a_session(share: float, session: str) -> None:
    touch = Touch(share, random.Random(0))
    first = touch.chosen(session)
    assert {touch.chosen(session) for _ in range(20)} == {first}


def test_a_whole_share_chooses_every_session_and_marks_none_by_itself() -> None:
    touch = Touch()
    assert all(touch.chosen(str(number)) for number in range(100))
    assert touch.sessions == set()


def test_prompts_that_differ_by_their_tokens_alone_are_one_spot() -> None:
    assert without_tokens("code 12345678, word OAK-11.") == without_tokens("code 87654321, word ELM-42.")
    assert without_tokens("code 12345678") != without_tokens("other 12345678")


def test_a_store_that_ignores_seeds_gives_the_first_answer_to_all() -> None:
    store = ResponseStore()
    store.keep(("spot", 0), 0, ANSWER)
    store.keep(("spot", 0), 1, OTHER)
    assert store.find(("spot", 0), None) == ANSWER
    assert (store.find(("spot", 0), 0), store.find(("spot", 0), 1)) == (ANSWER, OTHER)


def test_a_store_knows_places_apart_and_keeps_what_it_had_first() -> None:
    store = ResponseStore()
    store.keep(("spot", 0), 0, ANSWER)
    store.keep(("spot", 0), 0, OTHER)
    assert store.find(("spot", 0), 0) == ANSWER
    assert store.find(("spot", 1), None) is None
    assert store.find(("elsewhere", 0), None) is None
    assert store.find(("spot", 0), 7) is None
