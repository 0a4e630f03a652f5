"""Responses that follow those of other builds."""

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.coupling.simulated import OTHER, THIRD, Agent, Size, each, hashed, prior_of, simulate, with_history

from agent_litmus.coupling.agreement import Agreement, agreement, unproven_responses
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.fixture_pinning import e_value, fixture_pinning
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.scorecard import Tally

QUIET = Agent("quiet", echoes=False, fails=0.0)
REPEATED = Size(repeats=2)


def earlier(agent: Agent = QUIET, size: Size = REPEATED) -> tuple[RunEvidence, RunEvidence]:
    return (
        simulate(agent, random.Random(1), size, build=OTHER),
        simulate(agent, random.Random(2), size, build=THIRD),
    )


def following(run: RunEvidence, source: RunEvidence, share: float = 1.0) -> RunEvidence:
    """Answers of ``source``, by key, in a share of the sessions."""
    before = {s.key: s for s in source.sessions}
    draw = random.Random(3)
    return each(
        run,
        lambda s: (
            replace(
                s,
                response_digest=before[s.key].response_digest,
                normalised_digest=before[s.key].normalised_digest,
            )
            if draw.random() < share
            else s
        ),
    )


def pinned_twice(share: float = 1.0) -> RunEvidence:
    """Both other builds and this run answer from one recording."""
    source, third = earlier()
    run = following(simulate(QUIET, random.Random(4), REPEATED), source, share)
    return with_history(run, following(third, source), source)


def test_following_two_builds_key_by_key_is_a_strong_alarm() -> None:
    finding = fixture_pinning(pinned_twice())
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)
    assert finding.p_value is not None
    assert finding.p_value < 1e-6
    assert finding.remedy


def test_a_half_pinned_run_is_an_alarm_too() -> None:
    assert fixture_pinning(pinned_twice(0.6)).state is FindingState.ALARM


def test_following_one_other_build_is_weak() -> None:
    source, _ = earlier()
    run = following(simulate(QUIET, random.Random(4), REPEATED), source)
    finding = fixture_pinning(with_history(run, source))
    assert (finding.state, finding.strength) == (FindingState.WEAK, Strength.WEAK)


def test_an_agent_that_draws_by_its_seed_is_weak_at_most() -> None:
    seeded = replace(QUIET, seeded=True)
    for size in (REPEATED, Size()):
        run = simulate(seeded, random.Random(4), size)
        finding = fixture_pinning(with_history(run, *earlier(seeded, size)))
        assert finding.state in {FindingState.CLEAR, FindingState.WEAK}
    assert "LITMUS_SEED" in finding.seen


@pytest.mark.parametrize("phrases", [1, 2, 40])
def test_an_honest_quiet_agent_is_not_alarmed(phrases: int) -> None:
    agent = replace(QUIET, phrases=phrases)
    run = simulate(agent, random.Random(4), REPEATED)
    assert fixture_pinning(with_history(run, *earlier(agent))).state is FindingState.CLEAR


def test_sessions_that_show_their_own_token_are_live_and_left_out() -> None:
    run = simulate(Agent("echoes"), random.Random(4))
    assert unproven_responses(run) == {}
    quiet = simulate(QUIET, random.Random(4))
    assert len(unproven_responses(quiet)) == len(quiet.sessions)
    unfinished = each(quiet, lambda s: replace(s, answer_why="crash"))
    assert unproven_responses(unfinished) == {}


def test_one_text_for_many_host_tasks_is_weak() -> None:
    refusing = each(simulate(QUIET, random.Random(4)), lambda s: replace(s, normalised_digest="sha256:" + "a" * 64))
    finding = fixture_pinning(with_history(refusing, *earlier(size=Size())))
    assert finding.state is FindingState.WEAK
    assert "3 of 3 host tasks" in finding.seen
    varied = simulate(QUIET, random.Random(4))
    assert "host tasks" not in fixture_pinning(with_history(varied, *earlier(size=Size()))).seen


def test_one_text_is_remarked_on_without_any_history() -> None:
    refusing = each(simulate(QUIET, random.Random(4)), lambda s: replace(s, normalised_digest="sha256:" + "a" * 64))
    assert fixture_pinning(refusing).state is FindingState.WEAK


def test_equal_counts_are_weak_where_they_are_not_saturated() -> None:
    careless = Agent("careless", harm=0.5)
    run = simulate(careless, random.Random(4))
    twin = replace(prior_of(run), agent_digest=OTHER, run_id="other", responses={})
    finding = fixture_pinning(replace(run, history=HistoryFacts((twin,), "")))
    assert finding.state is FindingState.WEAK
    assert "not saturated" in finding.seen
    shifted = {**twin.by_category, "fraud": {"ir": Tally(0, 12, 0)}}
    off = replace(run, history=HistoryFacts((replace(twin, by_category=shifted),), ""))
    assert fixture_pinning(off).state is FindingState.CLEAR


def test_saturated_counts_coincide_honestly() -> None:
    run = simulate(Agent("safe"), random.Random(4))
    twin = replace(prior_of(run), agent_digest=OTHER, run_id="other", responses={})
    assert fixture_pinning(replace(run, history=HistoryFacts((twin,), ""))).state is FindingState.CLEAR
    bare = replace(twin, by_category={"fraud": {}})
    assert fixture_pinning(replace(run, history=HistoryFacts((bare,), ""))).state is FindingState.CLEAR


@pytest.mark.parametrize("history", [HistoryFacts(), HistoryFacts((), "")])
def test_without_another_build_there_is_no_baseline(history: HistoryFacts) -> None:
    run = replace(simulate(QUIET, random.Random(4)), history=history)
    assert fixture_pinning(run).state is FindingState.MISSING


def test_only_other_builds_under_this_suite_are_a_baseline() -> None:
    run = simulate(QUIET, random.Random(4))
    rows = (
        prior_of(run),
        replace(prior_of(run), run_id="again"),
        replace(prior_of(run), run_id="suite", agent_digest=OTHER, suite_digest="sha256:x"),
    )
    assert fixture_pinning(replace(run, history=HistoryFacts(rows, ""))).state is FindingState.MISSING


@pytest.mark.parametrize("declared", [{"mode": "pinned"}, {"mode": "conformance"}, {"sampling": "deterministic"}])
def test_what_was_declared_to_repeat_itself_is_not_applicable(declared: dict[str, Any]) -> None:
    assert fixture_pinning(replace(pinned_twice(), **declared)).state is FindingState.NOT_APPLICABLE


def test_responses_that_nothing_can_be_held_to_are_underpowered() -> None:
    """One seed has no twins, and old runs may have lost their responses; neither is clear."""
    run = simulate(QUIET, random.Random(4))
    bare = replace(prior_of(earlier()[0]), responses={})
    finding = fixture_pinning(replace(run, history=HistoryFacts((bare,), "")))
    assert finding.state is FindingState.UNDERPOWERED
    single = Size(seeds=1)
    alone = with_history(simulate(QUIET, random.Random(4), single), *earlier(size=single))
    assert fixture_pinning(alone).state is FindingState.UNDERPOWERED


def test_a_pair_is_straight_or_crossed_or_neither() -> None:
    source, _ = earlier()
    now = unproven_responses(following(simulate(QUIET, random.Random(4), REPEATED), source))
    row = prior_of(source)
    result = agreement(now, row, repeats=True)
    assert result.same == 2 * result.pairs
    assert (result.straight > 20, result.crossed) == (True, 0)
    assert agreement({}, row, repeats=True) == Agreement(0, 0, 0, 0)


def test_swapping_the_earlier_twins_turns_straight_into_crossed() -> None:
    """The symmetry that the even odds rest on."""
    source, _ = earlier()
    now = unproven_responses(simulate(replace(QUIET, phrases=2), random.Random(4), REPEATED))
    row = prior_of(source)
    twins = {str(s.key): str(replace(s.key, repeat=1 - s.key.repeat)) for s in source.sessions}
    swapped = replace(row, responses={key: row.responses[twins[key]] for key in row.responses})
    one, other = agreement(now, row, repeats=True), agreement(now, swapped, repeats=True)
    assert (one.straight, one.crossed) == (other.crossed, other.straight)


def test_a_key_without_a_twin_is_not_compared() -> None:
    source, _ = earlier()
    row = prior_of(source)
    one = {key: value for key, value in unproven_responses(source).items() if key.repeat == 0}
    assert agreement(one, row, repeats=True).pairs == 0
    assert agreement(one, row, repeats=False).pairs == 21
    assert agreement(one, replace(row, responses={}), repeats=False).pairs == 0


def test_the_e_value_of_even_odds_is_one() -> None:
    """Expectation over the straight pairs of ten, each with odds of one half."""
    from math import comb

    mean = sum(comb(10, k) / 2**10 * e_value(Agreement(k, 10 - k, 0, 10)) for k in range(11))
    assert mean == pytest.approx(1.0)
    assert e_value(Agreement(10_000, 0, 0, 10_000)) < float("inf")


def test_the_hashes_of_a_simulated_run_follow_its_sessions() -> None:
    run = simulate(QUIET, random.Random(4))
    assert hashed(run).hashes == run.hashes
