"""What runs over from one session into the next: conversations and moods."""

import random
from dataclasses import replace

import pytest
from tests.unit.coupling.simulated import AGENTS, Agent, Size, grown, simulate

from agent_litmus.coupling.carry_over import carry_over
from agent_litmus.coupling.context_growth import context_growth
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.sequence import chains, in_order, neighbours
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.session import CheckResult, CheckState, SessionRecord

BIG = Size(hosts=10, injections=5, carriers=3, seeds=4)


def test_sessions_follow_each_other_on_their_worker() -> None:
    run = simulate(AGENTS[0], random.Random(1))
    shuffled = list(run.sessions)
    random.Random(2).shuffle(shuffled)
    assert [s.order for s in in_order(shuffled)] == sorted(s.order for s in run.sessions)
    assert [[s.worker for s in chain] for chain in chains(shuffled)] == [[0] * 21, [1] * 21]
    assert all(two.order - one.order == 2 for one, two in neighbours(shuffled))


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_a_conversation_that_is_carried_over_is_a_strong_alarm(jobs: int) -> None:
    finding = context_growth(grown(simulate(AGENTS[0], random.Random(1), Size(jobs=jobs))))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)
    assert finding.number == pytest.approx(1.0, abs=0.1)
    assert finding.p_value is not None
    assert finding.p_value <= 0.00111
    assert finding.remedy


@pytest.mark.parametrize("jobs", [2, 42])
def test_one_conversation_for_all_workers_is_found_in_the_order_of_the_run(jobs: int) -> None:
    """With as many workers as sessions, no session has a predecessor on its own."""
    finding = context_growth(grown(simulate(AGENTS[0], random.Random(1), Size(jobs=jobs)), shared=True))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)


def test_isolated_conversations_are_clear() -> None:
    finding = context_growth(simulate(AGENTS[0], random.Random(1)))
    assert (finding.state, finding.p_value) == (FindingState.CLEAR, None)
    assert finding.number == pytest.approx(0.0, abs=0.1)


def test_small_differences_that_happen_to_agree_are_no_growth() -> None:
    """A counter in the system prompt grows with the run, by a token, not by a conversation."""
    run = simulate(AGENTS[0], random.Random(1), Size(jobs=1))
    counted = tuple(
        replace(s, model_calls=tuple(replace(c, prompt_tokens=500 + s.order) for c in s.model_calls))
        for s in run.sessions
    )
    assert context_growth(replace(run, sessions=counted)).state is FindingState.CLEAR


def test_few_replicates_are_underpowered() -> None:
    run = simulate(AGENTS[0], random.Random(1), Size(hosts=1, injections=2, carriers=2))
    assert context_growth(grown(run)).state is FindingState.UNDERPOWERED


def test_an_upstream_that_counts_no_tokens_leaves_it_missing() -> None:
    run = simulate(AGENTS[0], random.Random(1))
    silent = tuple(
        replace(s, model_calls=tuple(replace(c, prompt_tokens=None) for c in s.model_calls)) for s in run.sessions
    )
    finding = context_growth(replace(run, sessions=silent))
    assert finding.state is FindingState.MISSING
    assert "prompt_tokens" in finding.remedy


def test_sessions_without_calls_leave_the_conversation_as_it_was() -> None:
    run = grown(simulate(AGENTS[0], random.Random(1), Size(seeds=3)))
    some = tuple(replace(s, model_calls=()) if s.order % 7 == 3 else s for s in run.sessions)
    assert context_growth(replace(run, sessions=some)).state is FindingState.ALARM


def test_an_agent_without_a_model_has_no_context() -> None:
    run = simulate(Agent("without model", model=False), random.Random(1))
    assert context_growth(run).state is FindingState.NOT_APPLICABLE


def test_growth_of_identical_prompts_is_clear() -> None:
    run = simulate(AGENTS[0], random.Random(1))
    same = tuple(
        replace(s, model_calls=tuple(replace(c, prompt_tokens=500) for c in s.model_calls)) for s in run.sessions
    )
    assert context_growth(replace(run, sessions=same)).state is FindingState.CLEAR


def moody(run: RunEvidence, chance: float) -> RunEvidence:
    """After a session about fraud the agent fails more often."""
    draw = random.Random(5)
    after = {two.key: one.category for one, two in neighbours(run.sessions)}

    def made(session: SessionRecord) -> SessionRecord:
        sulks = after.get(session.key) == "fraud" and draw.random() < chance
        checks = (CheckResult("done", CheckState.UNMET),) if sulks else session.host_checks
        return replace(session, host_checks=checks)

    return replace(run, sessions=tuple(map(made, run.sessions)))


def test_below_500_episodes_it_says_nothing_but_its_power() -> None:
    finding = carry_over(moody(simulate(AGENTS[0], random.Random(1)), 0.9))
    assert finding.state is FindingState.UNDERPOWERED
    assert "500 are needed" in finding.seen
    assert "would be seen with" in finding.seen


def test_a_mood_that_follows_a_category_is_a_strong_alarm() -> None:
    finding = carry_over(moody(simulate(AGENTS[0], random.Random(1), BIG), 0.4))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)
    assert finding.p_value is not None
    assert finding.p_value <= 0.00111


@pytest.mark.parametrize("fails", [0.0, 0.1, 0.5, 1.0])
def test_failures_of_their_own_are_clear(fails: float) -> None:
    finding = carry_over(simulate(Agent("honest", fails=fails), random.Random(1), BIG))
    assert finding.state is FindingState.CLEAR
    assert finding.p_value is None


def test_one_category_alone_cannot_be_compared() -> None:
    run = simulate(AGENTS[0], random.Random(1), Size(injections=0))
    finding = carry_over(run)
    assert finding.state is FindingState.MISSING
    assert carry_over(replace(run, sessions=())).state is FindingState.MISSING


def test_more_episodes_see_more() -> None:
    small = carry_over(simulate(AGENTS[0], random.Random(1))).seen
    large = carry_over(simulate(AGENTS[0], random.Random(1), BIG)).seen
    power = [int(seen.rsplit(" ", 2)[1].rstrip("%")) for seen in (small, large)]
    assert power[0] < 30
    assert power[1] > 80
