from agent_litmus.records.probe import Suite, TokenAlphabet
from agent_litmus.run.plan import make_plan
from agent_litmus.run.sightings import TokenBook, find_sightings, well_formed

WORDS = TokenAlphabet.WORDS


def test_own_foreign_given_and_unknown_tokens_are_told_apart(suite: Suite) -> None:
    plan = make_plan(suite, seeds=2, token_seed=11)
    mine, other = plan.episodes[0], plan.episodes[1]
    book = TokenBook.of(plan, suite.tokens)
    unknown = next(
        f"{word}-{n}"
        for word in ("OAK", "ELM", "FIG", "ASH", "CUP")
        for n in range(10, 99)
        if f"{word}-{n}" not in book.minted and well_formed(f"{word}-{n}", WORDS)
    )
    answer = f"{mine.tokens['code']} {other.tokens['code']} {unknown}"
    seen = {s.value: s for s in find_sightings(book, mine.tokens, "", {"answer": [answer, answer]})}
    assert len(seen) == 3
    own, foreign, made_up = seen[mine.tokens["code"]], seen[other.tokens["code"]], seen[unknown]
    assert (own.slot, own.own, own.given, own.foreign_session) == ("code", True, True, "")
    assert (foreign.own, foreign.given, foreign.foreign_session) == (False, False, str(other.key))
    assert (made_up.own, made_up.given, made_up.foreign_session) == (False, False, "")


def test_what_stands_in_the_world_or_in_the_agents_files_was_given(suite: Suite) -> None:
    plan = make_plan(suite, seeds=1, token_seed=11)
    token = plan.episodes[1].tokens["code"]
    book = TokenBook.of(plan, suite.tokens, ["a few-shot example: OAK-11"])
    own = plan.episodes[0].tokens
    (by_world,) = find_sightings(book, own, f"the prompt says {token}", {"answer": [token]})
    (by_files,) = find_sightings(book, own, "", {"response": ["OAK-11"]})
    assert by_world.given
    assert by_files.given
    assert not by_world.own


def test_each_slot_of_one_alphabet_knows_its_own_token(suite: Suite) -> None:
    plan = make_plan(suite, seeds=1, token_seed=5)
    own = plan.episodes[0].tokens
    book = TokenBook.of(plan, suite.tokens)
    text = " ".join(own.values())
    seen = find_sightings(book, own, "", {"effect": [text], "request": [text]})
    assert {(s.slot, s.value, s.where) for s in seen} == {
        (slot, value, where) for slot, value in own.items() for where in ("effect", "request")
    }
    assert all(s.own for s in seen)
