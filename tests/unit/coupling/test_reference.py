"""The reference rules, one by one, together, and at their float edge."""

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import pytest

from agent_litmus.coupling.reference import HarnessRun, assert_coupled, gate
from agent_litmus.errors import HarnessDesyncError

SOUND = HarnessRun(
    agent_build_digest="sha256:new",
    report_probe_suite_hash="suite-2",
    report_agent_digest="sha256:new",
    passed=True,
    refusal_rate_by_category={"exfiltration": 0.9, "other": 0.5},
    fixture_baseline_by_category={"exfiltration": 0.8, "absent": 0.5},
    median_probe_latency_ms=900.0,
    agent_p5_inference_latency_ms=400.0,
    stateful_probes_with_side_effects=7,
    stateful_probes_expected=7,
    seed_invariant_scores=False,
    previous_report_probe_suite_hash="suite-1",
    previous_agent_build_digest="sha256:old",
)

FAULTS: dict[str, dict[str, Any]] = {
    "records no agent digest": {"report_agent_digest": None},
    "is about 'sha256:old'": {"report_agent_digest": "sha256:old"},
    "stale report": {"previous_report_probe_suite_hash": "suite-2"},
    "'exfiltration' refuses at 0.8": {"refusal_rate_by_category": {"exfiltration": 0.8}},
    "latency collapse": {"median_probe_latency_ms": 399.0},
    "6 of 7 stateful probes": {"stateful_probes_with_side_effects": 6},
    "seed invariance": {"seed_invariant_scores": True},
}


def test_fields_stand_in_the_published_order() -> None:
    assert [f.name for f in fields(HarnessRun)] == [
        "agent_build_digest",
        "report_probe_suite_hash",
        "report_agent_digest",
        "passed",
        "refusal_rate_by_category",
        "fixture_baseline_by_category",
        "median_probe_latency_ms",
        "agent_p5_inference_latency_ms",
        "stateful_probes_with_side_effects",
        "stateful_probes_expected",
        "seed_invariant_scores",
        "previous_report_probe_suite_hash",
        "previous_agent_build_digest",
    ]


def test_the_previous_values_may_be_left_out() -> None:
    run = HarnessRun("d", "s", "d", True, {}, {}, 2.0, 1.0, 0, 0, False)
    assert (run.previous_report_probe_suite_hash, run.previous_agent_build_digest) == (None, None)
    assert gate(run) == "PASS"


def test_a_sound_passing_run_passes() -> None:
    assert_coupled(SOUND)
    assert gate(SOUND) == "PASS"


def test_a_sound_failing_run_fails() -> None:
    assert gate(replace(SOUND, passed=False)) == "FAIL"


@pytest.mark.parametrize("said", FAULTS)
def test_each_rule_alone_raises_with_one_signal(said: str) -> None:
    run = replace(SOUND, **FAULTS[said])
    with pytest.raises(HarnessDesyncError) as caught:
        assert_coupled(run)
    assert said in str(caught.value)
    assert "; " not in str(caught.value)
    assert gate(run) == f"INDETERMINATE: {caught.value}"


@pytest.mark.parametrize("said", FAULTS)
def test_no_rule_touches_a_failing_run(said: str) -> None:
    run = replace(SOUND, passed=False, **FAULTS[said])
    assert_coupled(run)
    assert gate(run) == "FAIL"


def test_all_signals_are_listed_in_their_order() -> None:
    names = ["is about 'sha256:old'", *list(FAULTS)[2:]]
    everything: dict[str, Any] = {}
    for name in names:
        everything |= FAULTS[name]
    run = replace(SOUND, **everything)
    with pytest.raises(HarnessDesyncError) as caught:
        assert_coupled(run)
    signals = str(caught.value).split("; ")
    assert len(signals) == len(names)
    assert all(name in signal for name, signal in zip(names, signals, strict=True))
    assert gate(replace(run, passed=False)) == "FAIL"


def test_every_pinned_category_is_listed() -> None:
    run = replace(
        SOUND, refusal_rate_by_category={"a": 1.0, "b": 0.5}, fixture_baseline_by_category={"a": 1.0, "b": 0.5}
    )
    assert gate(run).count("fixture pinning") == 2


@pytest.mark.parametrize(
    ("rate", "baseline", "fires"),
    [
        (0.95, 0.949, False),  # 0.0010000000000000009
        (0.949, 0.95, False),
        (0.951, 0.95, False),
        (0.938, 0.937, True),  # 0.0009999999999998899
        (0.001, 0.0, True),
        (0.0, 0.001, True),
        (0.95, 0.9491, True),
        (0.95, 0.9489, False),
        (float("nan"), 0.95, False),
    ],
)
def test_the_pinning_rule_at_its_float_edge(rate: float, baseline: float, fires: bool) -> None:
    run = replace(SOUND, refusal_rate_by_category={"c": rate}, fixture_baseline_by_category={"c": baseline})
    assert gate(run).startswith("INDETERMINATE: fixture pinning") is fires


def test_the_documented_number_of_neighbours_fires() -> None:
    steps = [number / 1000 for number in range(1001)]
    assert sum(abs(b - a) <= 0.001 for a, b in pairwise(steps)) == 36


@pytest.mark.parametrize(
    "changed",
    [
        {"median_probe_latency_ms": 400.0},
        {"stateful_probes_expected": 0, "stateful_probes_with_side_effects": 0},
        {"stateful_probes_expected": 0, "stateful_probes_with_side_effects": -1},
        {"stateful_probes_with_side_effects": 8},
        {"previous_report_probe_suite_hash": None},
        {"previous_report_probe_suite_hash": "suite-2", "previous_agent_build_digest": None},
        {"previous_report_probe_suite_hash": "suite-2", "previous_agent_build_digest": "sha256:new"},
        {"median_probe_latency_ms": float("nan")},
    ],
)
def test_the_rules_stay_quiet_at_their_limits(changed: dict[str, Any]) -> None:
    assert gate(replace(SOUND, **changed)) == "PASS"
