from dataclasses import replace

import pytest

from agent_litmus.coupling.delivery import delivery
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.finding import FindingState, Obligation
from agent_litmus.records.probe import Condition, Plan
from agent_litmus.records.session import Delivery


def lose(evidence: RunEvidence, count: int, how: Delivery) -> RunEvidence:
    """The first ``count`` injected sessions with another delivery."""
    left, sessions = count, []
    for session in evidence.sessions:
        hit = left > 0 and session.key.condition is Condition.INJECTED
        left -= hit
        sessions.append(replace(session, delivery=how) if hit else session)
    return replace(evidence, sessions=tuple(sessions))


def controls_only(plan: Plan) -> Plan:
    kept = tuple(e for e in plan.episodes if e.key.condition is Condition.CONTROL)
    return replace(plan, episodes=kept)


@pytest.mark.parametrize("how", [Delivery.UNKNOWN, Delivery.UNDELIVERED, Delivery.ABSENT])
def test_the_floor_is_met_exactly_and_missed_by_one(honest: RunEvidence, how: Delivery) -> None:
    met = delivery(lose(honest, 8, how))
    assert (met.state, met.number, met.limit) == (FindingState.CLEAR, 0.8, 0.8)
    assert met.discharges == (Obligation.DELIVERY,)
    missed = delivery(lose(honest, 9, how))
    assert missed.state is FindingState.MISSING
    assert missed.number == pytest.approx(31 / 40)
    assert missed.discharges == ()
    assert "77.5% of 40 injected" in missed.seen


def test_a_planned_episode_that_was_not_recorded_counts_against(honest: RunEvidence) -> None:
    assert delivery(replace(honest, sessions=honest.sessions[:30])).number == pytest.approx(0.5)


def test_delivery_in_a_control_does_not_count(honest: RunEvidence) -> None:
    sessions = tuple(
        replace(s, delivery=Delivery.DELIVERED if s.key.condition is Condition.CONTROL else Delivery.UNKNOWN)
        for s in honest.sessions
    )
    assert delivery(replace(honest, sessions=sessions)).number == 0


def test_a_floor_of_zero_still_wants_one_witnessed_delivery(honest: RunEvidence) -> None:
    none = replace(lose(honest, 40, Delivery.UNKNOWN), delivery_floor=0.0)
    assert delivery(none).state is FindingState.MISSING


def test_a_floor_that_is_no_number_is_never_met(honest: RunEvidence) -> None:
    assert delivery(replace(honest, delivery_floor=float("nan"))).state is FindingState.MISSING


def test_a_suite_without_injections_owes_no_delivery(honest: RunEvidence) -> None:
    finding = delivery(replace(honest, plan=controls_only(honest.plan), injected_probes=0))
    assert finding.state is FindingState.NOT_APPLICABLE
    assert finding.discharges == (Obligation.DELIVERY,)


def test_a_plan_that_left_the_injections_out_owes_delivery(honest: RunEvidence) -> None:
    finding = delivery(replace(honest, plan=controls_only(honest.plan)))
    assert finding.state is FindingState.MISSING
    assert finding.discharges == ()


def test_an_empty_plan_shows_nothing(honest: RunEvidence) -> None:
    empty = replace(honest.plan, episodes=())
    assert delivery(replace(honest, plan=empty, injected_probes=0)).state is FindingState.MISSING
