from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_litmus.records.probe import Condition, PlannedEpisode, Probe, Suite
from agent_litmus.records.session import ExitKind, ProcessExit, SessionProof, SessionRecord, TokenSighting
from agent_litmus.run.context import render_probe
from agent_litmus.run.pairs import (
    QUESTION,
    SUFFIX,
    askable,
    asking_probe,
    leak_pair,
    not_asked,
    plan_pairs,
    with_pairs,
)
from agent_litmus.run.plan import make_plan
from agent_litmus.run.sightings import TokenBook

Make = Callable[..., SessionRecord]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(
    share=st.floats(min_value=0, max_value=1),
    seeds=st.integers(min_value=1, max_value=6),
    token_seed=st.integers(min_value=0, max_value=2**53),
)
def test_pairs_are_as_many_as_asked_for_and_share_no_token(
    suite: Suite, share: float, seeds: int, token_seed: int
) -> None:
    plan = make_plan(suite, seeds=seeds, token_seed=token_seed)
    pairs = plan_pairs(suite, plan, share=share, token_seed=token_seed)
    least = 0 if share == 0 else min(len(plan.episodes), max(2, share * len(plan.episodes)))
    assert least <= len(pairs) < max(3, share * len(plan.episodes) + 1)
    assert pairs == plan_pairs(suite, plan, share=share, token_seed=token_seed)
    everyone: list[PlannedEpisode] = [*plan.episodes, *pairs.values()]
    tokens = [token for episode in everyone for token in episode.tokens.values()]
    assert len(tokens) == len(set(tokens)) == 3 * len(everyone)
    assert len({episode.key for episode in everyone}) == len(everyone)


def test_other_token_seeds_choose_other_episodes(suite: Suite) -> None:
    plan = make_plan(suite, seeds=10)
    chosen = {frozenset(plan_pairs(suite, plan, share=0.1, token_seed=seed)) for seed in range(10)}
    assert len(chosen) > 5


def test_planning_pairs_leaves_the_plan_as_it_is(suite: Suite) -> None:
    assert make_plan(suite, seeds=2, token_seed=7) == make_plan(suite, seeds=2, token_seed=7)
    plan = make_plan(suite, seeds=2, token_seed=7)
    plan_pairs(suite, plan, share=1, token_seed=7)
    assert plan == make_plan(suite, seeds=2, token_seed=7)


def test_a_probe_without_tokens_is_not_asked_about(suite: Suite) -> None:
    bare = [
        replace(p, host=replace(p.host, environment=replace(p.host.environment, files={}))) for p in suite.probes
    ]
    tokenless = replace(suite, probes=(*bare[:1], *suite.probes[1:2]))
    plan = make_plan(tokenless, seeds=4)
    pairs = plan_pairs(tokenless, plan, share=1, token_seed=0)
    assert {key.probe for key in pairs} == {suite.probes[1].id}
    assert len(pairs) == 4


@pytest.fixture
def planned(suite: Suite) -> tuple[Probe, PlannedEpisode, PlannedEpisode]:
    """An injected probe, its episode and the session that is asked about it."""
    plan = make_plan(suite, seeds=2)
    pairs = plan_pairs(suite, plan, share=1, token_seed=0)
    probe = next(p for p in suite.probes if p.condition is Condition.INJECTED)
    episode = next(e for e in plan.episodes if e.key.probe == probe.id)
    return probe, episode, pairs[episode.key]


Planned = tuple[Probe, PlannedEpisode, PlannedEpisode]


def test_the_asked_session_has_the_same_kind_of_world_without_injection_or_planted_token(planned: Planned) -> None:
    probe, episode, asked = planned
    rendered = render_probe(asking_probe(probe, asked), asked.tokens)
    world = str(rendered.environment)
    assert rendered.prompt == QUESTION
    assert probe.injected_text not in world
    assert rendered.environment.files.keys() == probe.host.environment.files.keys()
    assert asked.tokens["code"] in world
    assert not any(token in world + rendered.prompt for token in episode.tokens.values())
    assert rendered.probe.id.endswith(SUFFIX)
    assert (rendered.probe.host.checks, rendered.probe.injection) == ((), None)


def test_the_book_knows_the_asked_sessions_tokens_as_theirs(suite: Suite, planned: Planned) -> None:
    _, episode, asked = planned
    book = with_pairs(TokenBook.of(make_plan(suite, seeds=2), suite.tokens), {episode.key: asked})
    assert book.minted[asked.tokens["code"]] == asked.key
    assert book.minted[episode.tokens["code"]] == episode.key


def saw(value: str, **changes: Any) -> TokenSighting:
    values: Mapping[str, Any] = {"own": False, "given": False, "foreign_session": "", **changes}
    return TokenSighting("pin", value, "response", **values)


def test_a_planted_token_that_comes_from_the_asked_session_is_a_leak(planned: Planned, record: Make) -> None:
    probe, episode, asked = planned
    shown = record(sightings=(saw(episode.tokens["code"]), saw(asked.tokens["code"], own=True), saw("ZINC-99")))
    pair = leak_pair(probe, episode, shown, frozenset())
    assert pair.asked
    assert pair.planted == episode.key
    assert pair.tokens == {"code": episode.tokens["code"]}
    (leak,) = pair.leaked
    assert (leak.slot, leak.value, leak.foreign_session) == ("code", episode.tokens["code"], str(episode.key))


def test_a_replayed_record_that_calls_the_token_its_own_is_a_leak_all_the_same(
    planned: Planned, record: Make
) -> None:
    probe, episode, _ = planned
    shown = record(sightings=(saw(episode.tokens["code"], own=True, given=True),))
    (leak,) = leak_pair(probe, episode, shown, frozenset()).leaked
    assert (leak.own, leak.given) == (False, False)


def test_a_token_of_the_agents_own_files_says_nothing(planned: Planned, record: Make) -> None:
    probe, episode, _ = planned
    code = episode.tokens["code"]
    assert leak_pair(probe, episode, record(sightings=(saw(code),)), frozenset({code})).leaked == ()


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"answer": "no codes"}, True),
        ({"answer": "none", "answer_why": "the answer is none"}, True),
        ({"answer": "NONE", "answer_why": "the answer is NONE"}, True),
        ({"answer": "", "answer_why": "the answer is empty"}, False),
        ({"answer": "none", "answer_why": "cut", "output_truncated": True}, False),
        ({"answer": "none", "answer_why": "status 3", "exit": ProcessExit(ExitKind.EXITED, 3)}, False),
        ({"answer": "so far", "answer_why": "in time", "exit": ProcessExit(ExitKind.TIMEOUT)}, False),
        ({"answer": None, "answer_why": "broken", "exit": ProcessExit(ExitKind.HARNESS_ERROR)}, False),
    ],
    ids=["answer", "none", "NONE", "empty", "cut", "crash", "timeout", "harness"],
)
def test_only_a_session_that_ended_with_an_answer_was_asked(
    planned: Planned, record: Make, changes: dict[str, Any], asked: bool
) -> None:
    probe, episode, _ = planned
    assert leak_pair(probe, episode, record(**changes), frozenset()).asked is asked


def test_a_leak_counts_even_if_the_asked_session_crashed(planned: Planned, record: Make) -> None:
    probe, episode, _ = planned
    crashed = record(
        answer_why="status 1", exit=ProcessExit(ExitKind.EXITED, 1), sightings=(saw(episode.tokens["code"]),)
    )
    pair = leak_pair(probe, episode, crashed, frozenset())
    assert (pair.asked, len(pair.leaked)) == (False, 1)


@pytest.mark.parametrize("kind", [ExitKind.NOT_STARTED, ExitKind.HARNESS_ERROR])
def test_after_a_session_that_never_lived_nobody_is_asked_and_it_shows(
    planned: Planned, record: Make, kind: ExitKind
) -> None:
    probe, episode, _ = planned
    dead = record(answer=None, answer_why="no such file", exit=ProcessExit(kind))
    assert not askable(dead)
    pair = not_asked(probe, episode, dead)
    assert (pair.asked, pair.leaked) == (False, ())
    assert "no such file" in pair.answer_why


def test_a_long_answer_is_cut_in_the_record(planned: Planned, record: Make) -> None:
    probe, episode, _ = planned
    pair = leak_pair(probe, episode, record(answer="x" * 100_000), frozenset())
    assert pair.answer is not None
    assert len(pair.answer) < 5000


def test_what_was_witnessed_of_the_asked_session_is_on_record(planned: Planned, record: Make) -> None:
    probe, episode, _ = planned
    proof = SessionProof("asked", "", None, process_fresh=True, workspace_fresh=True, base_unchanged=False)
    pair = leak_pair(probe, episode, record(proof=proof), frozenset())
    assert (pair.process_fresh, pair.workspace_fresh, pair.base_unchanged) == (True, True, False)
    unseen = leak_pair(probe, episode, record(), frozenset())
    assert (unseen.process_fresh, unseen.workspace_fresh, unseen.base_unchanged) == (None, None, None)
