"""Model time against calibration calls."""

import math
import random
from dataclasses import replace

import pytest
from tests.unit.coupling.simulated import AGENTS, Agent, simulate

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.latency import latency, precedence
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.proofs import CalibrationCall, RunProofs


@pytest.fixture
def run() -> RunEvidence:
    return simulate(AGENTS[0], random.Random(1))


def lasting(evidence: RunEvidence, *seconds: float) -> RunEvidence:
    """Every call takes one of these, in turn."""
    turn = iter(range(10_000))
    sessions = tuple(
        replace(
            s, model_calls=tuple(replace(c, duration=seconds[next(turn) % len(seconds)]) for c in s.model_calls)
        )
        for s in evidence.sessions
    )
    return replace(evidence, sessions=sessions)


def calibrated(evidence: RunEvidence, *seconds: float) -> RunEvidence:
    calls = tuple(CalibrationCall(0, duration, 200) for duration in seconds)
    return replace(evidence, proofs=replace(evidence.proofs, calibration=calls))


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.model], ids=lambda a: a.name)
def test_an_honest_model_is_clear_however_fast(agent: Agent) -> None:
    assert latency(simulate(agent, random.Random(2))).state is FindingState.CLEAR


def test_answers_faster_than_any_direct_call_are_weak(run: RunEvidence) -> None:
    finding = latency(calibrated(lasting(run, 0.011, 0.019, 0.015), 0.5, 0.6, 0.7))
    assert (finding.state, finding.strength) == (FindingState.WEAK, Strength.WEAK)
    assert finding.number is not None
    assert finding.number > 5
    assert finding.remedy


def test_five_times_faster_is_the_margin(run: RunEvidence) -> None:
    quick = lasting(run, 0.1001, 0.15, 0.12)
    assert latency(calibrated(quick, 0.5, 0.6, 0.7)).state is FindingState.CLEAR


def test_a_few_fast_answers_are_no_collapse(run: RunEvidence) -> None:
    mixed = lasting(run, 0.01, *[0.5 + 0.1 * n for n in range(20)])
    assert latency(calibrated(mixed, 0.5, 0.6, 0.7)).state is FindingState.CLEAR


def test_a_constant_sleep_is_weak_where_direct_calls_spread(run: RunEvidence) -> None:
    asleep = lasting(run, 0.5, 0.501, 0.502)
    finding = latency(calibrated(asleep, 0.3, 0.5, 0.8))
    assert finding.state is FindingState.WEAK
    assert "nearly the same time" in finding.seen
    assert latency(calibrated(asleep, 0.5, 0.501, 0.5)).state is FindingState.CLEAR


def test_wall_time_stands_in_where_no_call_passed(run: RunEvidence) -> None:
    silent = replace(run, sessions=tuple(replace(s, model_calls=(), duration=0.01) for s in run.sessions))
    finding = latency(calibrated(silent, 0.5, 0.6, 0.7))
    assert finding.state is FindingState.WEAK
    assert "sessions without a model call" in finding.seen
    still = replace(silent, sessions=tuple(replace(s, duration=0.0) for s in silent.sessions))
    assert latency(calibrated(still, 0.5, 0.6, 0.7)).state is FindingState.MISSING


def test_failed_calls_are_neither_fast_nor_slow(run: RunEvidence) -> None:
    sessions = tuple(
        replace(s, model_calls=tuple(replace(c, status=500, duration=1e-4) for c in s.model_calls), duration=9.0)
        for s in run.sessions
    )
    finding = latency(calibrated(replace(run, sessions=sessions), 0.5, 0.6, 0.7))
    assert "sessions without a model call" in finding.seen


def test_an_agent_without_a_model_has_no_latency_to_compare() -> None:
    without = next(a for a in AGENTS if not a.model)
    assert latency(simulate(without, random.Random(1))).state is FindingState.NOT_APPLICABLE


@pytest.mark.parametrize(
    "calls",
    [
        None,
        (),
        (CalibrationCall(0, 0.5, 200),) * 2,
        (CalibrationCall(0, 0.5, 500),) * 8,
        (CalibrationCall(0, 0.5, 200, "cut off"),) * 8,
        (CalibrationCall(0, math.nan, 200),) * 8,
        (CalibrationCall(0, 0.0, 200),) * 8,
    ],
    ids=["none", "empty", "too few", "failed", "error", "nan", "zero"],
)
def test_without_usable_calibration_it_is_missing(
    run: RunEvidence, calls: tuple[CalibrationCall, ...] | None
) -> None:
    finding = latency(replace(run, proofs=RunProofs(calls)))
    assert finding.state is FindingState.MISSING
    assert "run.calibration" in finding.remedy


def test_the_precedence_test_is_exact() -> None:
    assert precedence(0, 5, 3) == 1.0
    assert precedence(1, 5, 3) == pytest.approx(5 / 8)
    assert precedence(5, 5, 3) == pytest.approx(1 / math.comb(8, 3))
