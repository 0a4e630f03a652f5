"""What the reference rules are told about a report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from tests.unit.app.build_report import section
from tests.unit.scoring.build_episodes import control, injected

from agent_litmus.coupling.reference import desync_signals, gate
from agent_litmus.drill.reference_view import reference_view
from agent_litmus.records.effect import Channel, Effect, Outcome, ProviderReport
from agent_litmus.records.episode import Episode, HostOutcome, InjectedOutcome
from agent_litmus.records.proofs import CalibrationCall, RunProofs
from agent_litmus.records.report import AgentSection, Counts, EpisodeSection, PlanSection, Report, SuiteSection
from agent_litmus.records.scorecard import Tally
from agent_litmus.records.session import ModelCall
from agent_litmus.records.verdict import Policy, VerdictKind

BUILD, SUITE = "b" * 64, "5" * 64
TOOL_CALL = Effect(Channel.TOOLS, "call", Outcome.EXECUTED)
STARTED = Effect(Channel.EXEC, "exec", Outcome.EXECUTED)


def lived(
    episode: Episode, *, wall: float = 1.0, calls: Sequence[float] = (), effects: Sequence[Effect] = (TOOL_CALL,)
) -> EpisodeSection:
    found = section(episode, "done")
    made = tuple(ModelCall(str(n), "m", 200, "", "", duration=seconds) for n, seconds in enumerate(calls))
    return replace(found, evidence=replace(found.evidence, duration=wall, model_calls=made, effects=tuple(effects)))


def report(
    rows: Sequence[EpisodeSection] = (),
    *,
    tallies: Mapping[str, Tally] | None = None,
    verdict: VerdictKind = VerdictKind.PASS,
    digest: str = BUILD,
    proofs: RunProofs | None = None,
) -> Report:
    by_category = {name: {"ir": tally} for name, tally in (tallies or {}).items()}
    return Report(
        verdict=verdict,
        reason="",
        reasons=(),
        certified=None,
        proven=False,
        warnings=(),
        agent=AgentSection("a", digest, {}, {}, "stochastic"),
        suite=SuiteSection("s", "1", SUITE, "live"),
        plan=PlanSection("d", len(rows), len(rows), 0, 1, 1, partial=False),
        provider=ProviderReport("process", "1", (), ()),
        policy=Policy(),
        score={},
        counts=Counts(len(rows), 0, {}, {}, by_category, {}, {}, {}, ()),
        findings=(),
        obligations=(),
        results_digest="",
        normalised_results_digest="",
        run_id="r",
        tool_version="0",
        episodes=tuple(rows),
        proofs=proofs or RunProofs(),
    )


NOTHING = report()


def test_digests_are_those_of_the_report_the_earlier_run_and_the_build_that_ships() -> None:
    run = reference_view(report(digest="c" * 64), report(digest="e" * 64), BUILD)
    assert (run.agent_build_digest, run.report_agent_digest) == (BUILD, "c" * 64)
    assert run.report_probe_suite_hash == run.previous_report_probe_suite_hash == SUITE
    assert run.previous_agent_build_digest == "e" * 64


def test_an_empty_digest_is_none() -> None:
    assert reference_view(report(digest=""), NOTHING, BUILD).report_agent_digest is None


@pytest.mark.parametrize("verdict", list(VerdictKind), ids=str)
def test_a_score_passed_unless_the_verdict_is_fail(verdict: VerdictKind) -> None:
    assert reference_view(report(verdict=verdict), NOTHING, BUILD).passed == (verdict is not VerdictKind.FAIL)


def test_rates_are_shares_of_assessed_episodes_and_a_category_without_any_is_left_out() -> None:
    now = report(tallies={"fraud": Tally(3, 1, 4), "theft": Tally(0, 0, 2)})
    run = reference_view(now, report(tallies={"fraud": Tally(1, 1, 0)}), BUILD)
    assert run.refusal_rate_by_category == {"fraud": 0.75}
    assert run.fixture_baseline_by_category == {"fraud": 0.5}


def test_an_honest_agent_that_always_refuses_is_pinned_to_its_own_earlier_run() -> None:
    safe = report(tallies={"fraud": Tally(8, 0, 0)})
    assert gate(reference_view(safe, safe, BUILD)).startswith("INDETERMINATE: fixture pinning")


def test_without_model_calls_wall_times_of_both_runs_are_compared() -> None:
    now = report([lived(control(seed=n), wall=0.1) for n in range(3)])
    earlier = report([lived(control(seed=n), wall=wall) for n, wall in enumerate([2.0, 3.0])])
    run = reference_view(now, earlier, BUILD)
    assert run.median_probe_latency_ms == pytest.approx(100)
    assert run.agent_p5_inference_latency_ms == pytest.approx(2050)
    assert any(text.startswith("latency collapse") for text in desync_signals(run))


def test_model_calls_are_compared_with_calibration_calls_that_succeeded() -> None:
    proofs = RunProofs(calibration=tuple(CalibrationCall(0, s, 200) for s in (0.4, 0.4)))
    failed = RunProofs(calibration=(CalibrationCall(0, 9.0, 0, "refused"),))
    rows = [lived(control(), wall=9.0, calls=[0.2, 0.3])]
    earlier = report([lived(control(), calls=[0.6, 0.6])])
    with_calibration = reference_view(report(rows, proofs=proofs), earlier, BUILD)
    without = reference_view(report(rows, proofs=failed), earlier, BUILD)
    assert with_calibration.median_probe_latency_ms == without.median_probe_latency_ms == pytest.approx(250)
    assert with_calibration.agent_p5_inference_latency_ms == pytest.approx(400)
    assert without.agent_p5_inference_latency_ms == pytest.approx(600)


def test_what_has_no_duration_has_no_latency() -> None:
    run = reference_view(NOTHING, report([lived(control())]), BUILD)
    assert math.isnan(run.median_probe_latency_ms)
    assert math.isnan(run.agent_p5_inference_latency_ms)


def test_a_probe_has_a_side_effect_if_one_of_its_sessions_has_and_starting_is_none() -> None:
    rows = [
        lived(injected(injection_id="i1", seed=0), effects=[]),
        lived(injected(injection_id="i1", seed=1)),
        lived(injected(injection_id="i2"), effects=[STARTED]),
        lived(injected(injection_id="i3", has_physical_check=False)),
        lived(control()),
    ]
    run = reference_view(report(rows), NOTHING, BUILD)
    assert (run.stateful_probes_with_side_effects, run.stateful_probes_expected) == (1, 2)


def twice(first: Episode, second: Episode) -> bool:
    run = reference_view(report([lived(first), lived(second)]), NOTHING, BUILD)
    return run.seed_invariant_scores


def test_scores_that_are_the_same_under_each_of_two_seeds_are_invariant() -> None:
    assert twice(injected(seed=0), injected(seed=1))
    assert not twice(injected(seed=0), injected(seed=0, injection_id="i2"))


@pytest.mark.parametrize(
    "other",
    [
        injected(HostOutcome.REFUSED, seed=1),
        injected(HostOutcome.COMPLETED, InjectedOutcome.EXECUTED, seed=1),
        injected(HostOutcome.COMPLETED, InjectedOutcome.UNASSESSED, seed=1),
    ],
    ids=["host", "harm", "unassessed"],
)
def test_a_difference_on_either_axis_is_no_invariance(other: Episode) -> None:
    assert not twice(injected(seed=0), other)
