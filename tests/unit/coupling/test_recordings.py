"""Tokens of earlier runs that turn up in this one."""

import random
from dataclasses import replace

import pytest
from tests.unit.coupling.simulated import AGENTS, OTHER, Agent, each, prior_of, simulate

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.recordings import recorded
from agent_litmus.coupling.stale_tokens import stale_tokens
from agent_litmus.coupling.tokens import token_views
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.history import HistoryFacts, PriorRun, token_sketch
from agent_litmus.records.session import SessionRecord, TokenSighting

EARLIER = simulate(AGENTS[0], random.Random("earlier"), build=OTHER)


def remembered(evidence: RunEvidence, run_id: str = "recorded-run") -> PriorRun:
    return replace(prior_of(evidence), run_id=run_id)


def answered_from(source: RunEvidence, count: int, *, agent: Agent = AGENTS[0], space: int = 27_090) -> RunEvidence:
    """``count`` sessions of a run are answered from a recording of ``source``, key by key."""
    run = simulate(agent, random.Random("now"))
    before = {s.key: s for s in source.sessions}
    chosen = {s.key for s in run.sessions[:count]}

    def made(session: SessionRecord) -> SessionRecord:
        if session.key not in chosen:
            return session
        token = before[session.key].tokens["ticket"]
        seen = tuple(
            s if s.where == "request" else TokenSighting("ticket", token, s.where, own=False, given=False)
            for s in session.sightings
        )
        return replace(session, sightings=seen)

    rows = (remembered(simulate(AGENTS[0], random.Random("before")), "older"), remembered(source))
    return replace(each(run, made), history=HistoryFacts(rows, ""), token_space={"ticket": space})


def test_one_recorded_answer_with_an_unguessable_token_is_exact() -> None:
    finding = stale_tokens(answered_from(EARLIER, 1, space=2**128))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "1 of them were minted for run 'recorded-run'" in finding.seen
    assert finding.remedy


@pytest.mark.parametrize(
    ("count", "state", "strength"),
    [
        (1, FindingState.ALARM, Strength.STRONG),
        (2, FindingState.ALARM, Strength.STRONG),
        (4, FindingState.ALARM, Strength.EXACT),
    ],
)
def test_short_tokens_need_a_few_answers(count: int, state: FindingState, strength: Strength) -> None:
    finding = stale_tokens(answered_from(EARLIER, count))
    assert (finding.state, finding.strength) == (state, strength)


def test_two_short_tokens_of_one_run_survive_the_correction_for_all_alarms() -> None:
    one, two = (stale_tokens(answered_from(EARLIER, count)).p_value for count in (1, 2))
    assert one is not None
    assert two is not None
    assert two <= 0.00111 < one


def test_honest_miscopies_are_not_taken_for_recordings() -> None:
    miscopying = Agent("small model", miscopies=0.3)
    for number in range(50):
        run = simulate(miscopying, random.Random(number))
        rows = tuple(remembered(simulate(miscopying, random.Random(f"{number} {n}")), f"run-{n}") for n in range(5))
        finding = stale_tokens(replace(run, history=HistoryFacts(rows, "")))
        assert finding.state is not FindingState.ALARM, number


def test_a_history_without_tokens_leaves_the_other_tests_alone() -> None:
    run = answered_from(EARLIER, 4)
    bare = replace(run, history=HistoryFacts((replace(prior_of(EARLIER), tokens=()),), ""))
    assert recorded(bare, token_views(bare)) is None
    assert stale_tokens(bare).state is FindingState.WEAK


def test_the_runs_own_row_is_no_recording_of_it() -> None:
    run = answered_from(EARLIER, 4)
    own = replace(run, history=HistoryFacts((remembered(EARLIER, run.hashes.run_id),), ""))
    assert recorded(own, token_views(own)) is None


def test_only_the_latest_runs_are_looked_through() -> None:
    run = answered_from(EARLIER, 4)
    others = tuple(remembered(simulate(AGENTS[0], random.Random(n)), f"run-{n}") for n in range(20))
    buried = replace(run, history=HistoryFacts((remembered(EARLIER), *others), ""))
    result = recorded(buried, token_views(buried))
    assert result is not None
    assert result.run_id != "recorded-run"


def test_a_sketch_of_tokens_is_short_sorted_and_holds_none_of_them() -> None:
    sketch = token_sketch(["OAK-11", "ELM-22", "OAK-11", "\ud800"])
    assert list(sketch) == sorted(sketch)
    assert {len(digest) for digest in sketch} == {16}
    assert len(sketch) == 3
    assert len(token_sketch(map(str, range(5000)))) == 4000
