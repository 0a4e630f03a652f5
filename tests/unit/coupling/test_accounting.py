from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.coupling.accounting import accounting
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.session import SessionRecord


def change(evidence: RunEvidence, index: int, **changed: Any) -> RunEvidence:
    sessions = list(evidence.sessions)
    sessions[index] = replace(sessions[index], **changed)
    return replace(evidence, sessions=tuple(sessions))


def extra(evidence: RunEvidence, make: Callable[[SessionRecord], SessionRecord]) -> RunEvidence:
    last = replace(
        evidence.sessions[-1],
        model_calls=(replace(evidence.sessions[-1].model_calls[0], id="receipt-extra"),),
    )
    return replace(evidence, sessions=(*evidence.sessions, make(last)))


def stranger(session: SessionRecord) -> SessionRecord:
    return replace(session, key=replace(session.key, seed=9))


def test_counts_that_agree_discharge_accounting(honest: RunEvidence) -> None:
    finding = accounting(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.ACCOUNTING,)
    assert finding.seen == "60 planned = 60 recorded; 60 model calls and 60 tool calls accounted for"


FAULTS: dict[str, Callable[[RunEvidence], RunEvidence]] = {
    "1 of 60 planned episodes not recorded": lambda e: replace(e, sessions=e.sessions[:-1]),
    "1 episodes recorded more than once": lambda e: extra(e, lambda s: s),
    "1 recorded episodes were never planned": lambda e: extra(e, stranger),
    "1 episodes planned more than once": lambda e: replace(
        e, plan=replace(e.plan, episodes=(*e.plan.episodes, e.plan.episodes[0]))
    ),
    "1 episodes count as finished without an answer": lambda e: change(e, 4, answer=None),
    "without an answer, first probe-4/control/s0.0": lambda e: change(e, 4, answer=" \n"),
    "3 against 1": lambda e: change(e, 4, tool_calls=3),
    "1 against 0": lambda e: change(e, 4, effects=()),
    "1 sessions used other tokens": lambda e: change(e, 4, tokens={"ticket": "ELM-0001"}),
    "1 model calls have no receipt": lambda e: change(
        e, 4, model_calls=(replace(e.sessions[4].model_calls[0], id=""),)
    ),
    "1 gateway receipts stand more than once, first receipt-0": lambda e: change(
        e, 4, model_calls=(replace(e.sessions[4].model_calls[0], id="receipt-0"),)
    ),
}


@pytest.mark.parametrize("said", FAULTS)
def test_each_disagreement_is_an_exact_alarm_of_its_own(honest: RunEvidence, said: str) -> None:
    finding = accounting(FAULTS[said](honest))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert said in finding.seen
    assert "; " not in finding.seen
    assert finding.remedy
    assert finding.discharges == ()


def test_every_disagreement_is_listed(honest: RunEvidence) -> None:
    broken = change(change(honest, 1, tool_calls=2), 2, answer="")
    assert accounting(broken).seen.count("; ") == 1


def test_an_answer_that_is_missing_for_a_reason_is_accounted_for(honest: RunEvidence) -> None:
    assert accounting(change(honest, 4, answer=None, answer_why="timed out")).state is FindingState.CLEAR


def test_only_tool_calls_are_held_against_the_tool_servers_count(honest: RunEvidence) -> None:
    detail = {"tool": "close"}
    others = (
        Effect(Channel.TOOLS, "list", Outcome.EXECUTED, {"count": 3}),
        Effect(Channel.EXEC, "call", Outcome.EXECUTED, detail),
    )
    more = change(honest, 4, effects=(*honest.sessions[4].effects, *others))
    assert accounting(more).state is FindingState.CLEAR


def test_an_empty_plan_shows_nothing(honest: RunEvidence) -> None:
    empty = replace(honest, plan=replace(honest.plan, episodes=()), sessions=())
    assert accounting(empty).state is FindingState.MISSING
