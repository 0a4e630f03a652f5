"""Seed invariance for stochastic agents, repeats for deterministic ones."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.repeats import repeats
from agent_litmus.coupling.seed_invariance import seed_invariance
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.session import SessionRecord


def each(evidence: RunEvidence, make: Callable[[SessionRecord], SessionRecord]) -> RunEvidence:
    return replace(evidence, sessions=tuple(map(make, evidence.sessions)))


def frozen(evidence: RunEvidence) -> RunEvidence:
    """Every probe behaves identically under both seeds."""
    return each(evidence, lambda s: replace(s, response_digest=s.key.probe))


def test_behaviour_that_varies_over_seeds_proves_replication(honest: RunEvidence) -> None:
    finding = seed_invariance(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.REPLICATION,)
    assert finding.seen == "behaviour varies over seeds in 30 of 30 probes"


def test_one_varying_probe_is_enough(honest: RunEvidence) -> None:
    evidence = frozen(honest)
    varied = (replace(evidence.sessions[0], response_digest="else"), *evidence.sessions[1:])
    assert seed_invariance(replace(evidence, sessions=varied)).state is FindingState.CLEAR


def test_identical_behaviour_everywhere_is_a_strong_alarm(honest: RunEvidence) -> None:
    finding = seed_invariance(frozen(honest))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)
    assert finding.p_value == pytest.approx(0.8**30)
    assert "deterministic" in finding.remedy
    assert finding.discharges == ()


def test_the_alarm_weighs_as_much_as_there_are_probes(honest: RunEvidence) -> None:
    few = tuple(s for s in frozen(honest).sessions if s.key.probe in {"probe-0", "probe-1"})
    assert seed_invariance(replace(honest, sessions=few)).p_value == pytest.approx(0.64)


def test_unfinished_sessions_are_not_compared(honest: RunEvidence) -> None:
    unfinished = each(honest, lambda s: replace(s, answer_why="timed out"))
    finding = seed_invariance(unfinished)
    assert finding.state is FindingState.MISSING
    assert "finished" in finding.seen


def test_a_crash_under_one_seed_is_no_variation(honest: RunEvidence) -> None:
    crashed = each(
        frozen(honest),
        lambda s: replace(s, answer_why="crash", response_digest="crash") if s.key.seed else s,
    )
    assert seed_invariance(crashed).state is FindingState.MISSING


def test_sessions_without_a_behaviour_digest_are_not_compared(honest: RunEvidence) -> None:
    assert seed_invariance(each(honest, lambda s: replace(s, response_digest=""))).state is FindingState.MISSING


def test_one_seed_is_missing(honest: RunEvidence) -> None:
    half = honest.plan.episodes[:30]
    finding = seed_invariance(
        replace(honest, plan=replace(honest.plan, episodes=half), sessions=honest.sessions[:30])
    )
    assert finding.state is FindingState.MISSING
    assert "1 seed planned" in finding.seen
    assert "--seeds 2" in finding.remedy


@pytest.mark.parametrize("declared", [{"sampling": "deterministic"}, {"mode": "conformance"}])
def test_declared_determinism_moves_replication_to_repeats(honest: RunEvidence, declared: dict[str, Any]) -> None:
    evidence = replace(frozen(honest), **declared)
    assert seed_invariance(evidence).state is FindingState.NOT_APPLICABLE
    assert seed_invariance(evidence).discharges == ()
    finding = repeats(evidence)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.REPLICATION,)
    assert finding.number == 1.0


def test_an_undeclared_sampling_counts_as_stochastic(honest: RunEvidence) -> None:
    assert seed_invariance(replace(frozen(honest), sampling="")).state is FindingState.ALARM
    assert repeats(replace(honest, sampling="Deterministic")).state is FindingState.NOT_APPLICABLE


def deterministic(evidence: RunEvidence) -> RunEvidence:
    return replace(evidence, sampling="deterministic")


def test_repeats_without_own_tokens_prove_nothing(honest: RunEvidence) -> None:
    finding = repeats(deterministic(each(honest, lambda s: replace(s, sightings=()))))
    assert finding.state is FindingState.MISSING
    assert "0 of 30" in finding.seen
    assert "--repeats 2" in finding.remedy


def test_one_session_per_probe_is_no_repeat(honest: RunEvidence) -> None:
    finding = repeats(deterministic(replace(honest, sessions=honest.sessions[:30])))
    assert finding.state is FindingState.MISSING
    assert "0 of 0" in finding.seen


def test_own_tokens_in_one_of_two_sessions_are_not_two(honest: RunEvidence) -> None:
    finding = repeats(deterministic(each(honest, lambda s: s if s.key.seed == 0 else replace(s, sightings=()))))
    assert finding.state is FindingState.MISSING


@pytest.mark.parametrize(("silent", "state"), [(15, FindingState.CLEAR), (16, FindingState.MISSING)])
def test_half_of_the_repeated_probes_must_show_their_tokens(
    honest: RunEvidence, silent: int, state: FindingState
) -> None:
    quiet = {f"probe-{number}" for number in range(silent)}
    finding = repeats(
        deterministic(each(honest, lambda s: replace(s, sightings=()) if s.key.probe in quiet else s))
    )
    assert finding.state is state


@pytest.mark.parametrize(
    ("place", "calls_model", "state"),
    [
        ("response", True, FindingState.CLEAR),
        ("request", True, FindingState.CLEAR),
        ("answer", True, FindingState.MISSING),
        ("answer", False, FindingState.CLEAR),
        ("effect", False, FindingState.CLEAR),
    ],
)
def test_the_tokens_must_stand_in_the_receipts_where_a_model_is_called(
    honest: RunEvidence, place: str, calls_model: bool, state: FindingState
) -> None:
    evidence = each(
        honest,
        lambda s: replace(
            s,
            sightings=tuple(t for t in s.sightings if t.where == place),
            model_calls=s.model_calls if calls_model else (),
        ),
    )
    assert repeats(deterministic(evidence)).state is state


def test_a_record_that_stands_twice_is_no_repeat(honest: RunEvidence) -> None:
    first = honest.sessions[:30]
    assert repeats(deterministic(replace(honest, sessions=first + first))).state is FindingState.MISSING


def test_one_session_that_calls_no_model_does_not_lower_the_bar_for_the_others(honest: RunEvidence) -> None:
    copied = each(honest, lambda s: replace(s, sightings=tuple(t for t in s.sightings if t.where == "answer")))
    first, *rest = copied.sessions
    mixed = replace(copied, sessions=(replace(first, model_calls=()), *rest))
    assert repeats(deterministic(mixed)).state is FindingState.MISSING
