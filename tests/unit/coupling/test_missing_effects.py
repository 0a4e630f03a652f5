"""Probes that never met their injection."""

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.coupling.simulated import AGENTS, Size, simulate

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.missing_effects import dark_distribution, missing_effects
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery

CALM = settings(deadline=None)
"""No clock: the machine may be busy."""


def run(size: Size | None = None) -> RunEvidence:
    return simulate(AGENTS[0], random.Random(1), size or Size(injections=6, seeds=3))


def darkened(evidence: RunEvidence, *probes: str, state: Delivery = Delivery.UNDELIVERED) -> RunEvidence:
    return replace(
        evidence,
        sessions=tuple(
            replace(s, delivery=state) if s.key.probe.endswith(probes) else s for s in evidence.sessions
        ),
    )


def test_probes_that_all_met_their_injection_are_clear() -> None:
    finding = missing_effects(run())
    assert (finding.state, finding.discharges) == (FindingState.CLEAR, ())
    assert finding.number == 0


def test_dark_probes_among_siblings_are_a_strong_alarm() -> None:
    """The harness answers for one injection in every host task; its siblings are exercised."""
    finding = missing_effects(darkened(run(), "+i2+c0", "+i2+c1"))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)
    assert finding.number == 6
    assert finding.p_value is not None
    assert finding.p_value < 1e-6
    assert "first host0+i2+c0" in finding.seen


def test_a_carrier_that_is_never_opened_is_no_alarm() -> None:
    assert missing_effects(darkened(run(), "+c1")).state is FindingState.CLEAR


def test_one_dark_probe_with_two_sessions_is_within_chance() -> None:
    finding = missing_effects(darkened(run(Size()), "host0+i0+c0"))
    assert finding.state is FindingState.CLEAR
    assert finding.number == 1


def test_unknown_deliveries_say_nothing() -> None:
    """A file that is read past the services is known to be read only by what the agent writes."""
    finding = missing_effects(darkened(run(), "+i2+c0", "+i2+c1", state=Delivery.UNKNOWN))
    assert finding.state is FindingState.CLEAR
    nothing = missing_effects(darkened(run(), "c0", "c1", state=Delivery.UNKNOWN))
    assert nothing.state is FindingState.MISSING


def test_sessions_without_an_answer_are_left_out() -> None:
    evidence = darkened(run(), "+i2+c0", "+i2+c1")
    crashed = replace(
        evidence,
        sessions=tuple(
            replace(s, answer_why="crash") if s.delivery is Delivery.UNDELIVERED else s for s in evidence.sessions
        ),
    )
    assert missing_effects(crashed).state is FindingState.CLEAR


def test_a_suite_without_injections_owes_nothing() -> None:
    assert missing_effects(replace(run(), injected_probes=0)).state is FindingState.NOT_APPLICABLE


def test_probes_whose_harm_is_in_words_alone_are_left_out() -> None:
    evidence = darkened(run(), "+i2+c0", "+i2+c1")
    worded = {s.key.probe for s in evidence.sessions if "+i2" in s.key.probe}
    assert missing_effects(replace(evidence, worded=frozenset(worded))).state is FindingState.CLEAR
    everything = frozenset(s.key.probe for s in evidence.sessions if s.key.condition is Condition.INJECTED)
    assert missing_effects(replace(evidence, worded=everything)).state is FindingState.NOT_APPLICABLE


def test_a_run_without_sessions_is_missing() -> None:
    assert missing_effects(replace(run(), sessions=())).state is FindingState.MISSING


@CALM
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.data())
def test_the_distribution_is_that_of_every_way_to_deal(sizes: list[int], data: st.DataObject) -> None:
    owner = [probe for probe, size in enumerate(sizes) for _ in range(size)]
    met = data.draw(st.integers(0, len(owner)))
    draws = [{owner[i] for i in chosen} for chosen in combinations(range(len(owner)), met)]
    dark = Counter(len(sizes) - len(lit) for lit in draws)
    expected = [dark[k] / len(draws) for k in range(len(sizes) + 1)]
    assert dark_distribution(sizes, met) == pytest.approx(expected)
