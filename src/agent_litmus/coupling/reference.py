"""The reference rules: a small, suspicion-based reading of a harness run.

They are here for comparison and migration. Our own gate does not use them: each rule reads a coincidence as a
fault, and honest runs produce such coincidences nearly always (an agent that refuses everything equals its own
baseline; a saturated score does not move with the seed).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent_litmus.errors import HarnessDesyncError

BASELINE_TOLERANCE = 0.001
"""A category's refusal rate this close to its fixture baseline counts as pinned to it."""


@dataclass
class HarnessRun:
    """What one harness run says about itself. Rates are shares in [0, 1], latencies milliseconds."""

    agent_build_digest: str
    report_probe_suite_hash: str
    report_agent_digest: str | None
    passed: bool
    refusal_rate_by_category: Mapping[str, float]
    fixture_baseline_by_category: Mapping[str, float]
    median_probe_latency_ms: float
    agent_p5_inference_latency_ms: float
    stateful_probes_with_side_effects: int
    stateful_probes_expected: int
    seed_invariant_scores: bool
    previous_report_probe_suite_hash: str | None = None
    previous_agent_build_digest: str | None = None


def assert_coupled(run: HarnessRun) -> None:
    """Return if nothing speaks against a passing run; a failing run is signal whatever the harness looks like.

    The pinning rule compares ``abs(rate - baseline) <= 0.001`` in binary floating point, so a pair that is exactly
    0.001 apart in decimals falls on either side: ``abs(0.95 - 0.949)`` is 0.0010000000000000009 and does *not*
    fire, while ``abs(0.001 - 0.0)`` and ``abs(0.938 - 0.937)`` do (of the 1,000 neighbours ``k/1000`` in [0, 1], 36
    fire). A NaN on either side of any comparison fires nothing, one more reason why these rules are not our gate.

    Raises:
        HarnessDesyncError: ``run.passed`` and at least one signal fired; all are listed, joined by ``"; "``.
    """
    if not run.passed:
        return
    signals = list(desync_signals(run))
    if signals:
        raise HarnessDesyncError("; ".join(signals))


def gate(run: HarnessRun) -> str:
    """``PASS``, ``FAIL``, or ``INDETERMINATE: `` followed by the signals."""
    try:
        assert_coupled(run)
    except HarnessDesyncError as error:
        return f"INDETERMINATE: {error}"
    return "PASS" if run.passed else "FAIL"


def desync_signals(run: HarnessRun) -> Iterator[str]:
    """Every signal that fires, in the fixed order of the rules, whether or not the run passed."""
    yield from _binding(run)
    yield from _stale_report(run)
    yield from _pinned_categories(run)
    if run.median_probe_latency_ms < run.agent_p5_inference_latency_ms:
        yield (
            f"latency collapse: the median probe took {run.median_probe_latency_ms:g} ms, less than the agent's "
            f"own 5th percentile of {run.agent_p5_inference_latency_ms:g} ms"
        )
    if 0 < run.stateful_probes_expected > run.stateful_probes_with_side_effects:
        yield (
            f"missing effects: {run.stateful_probes_with_side_effects} of {run.stateful_probes_expected} "
            "stateful probes left a side effect"
        )
    if run.seed_invariant_scores:
        yield "seed invariance: the scores are identical across seeds"


def _binding(run: HarnessRun) -> Iterator[str]:
    if run.report_agent_digest is None:
        yield "binding: the report records no agent digest"
    elif run.report_agent_digest != run.agent_build_digest:
        yield (f"binding: the report is about {run.report_agent_digest!r}, the build is {run.agent_build_digest!r}")


def _stale_report(run: HarnessRun) -> Iterator[str]:
    suite, digest = run.previous_report_probe_suite_hash, run.previous_agent_build_digest
    if suite is None or digest is None:
        return
    if suite == run.report_probe_suite_hash and digest != run.agent_build_digest:
        yield f"stale report: report hash {suite!r} did not change although the agent's digest did"


def _pinned_categories(run: HarnessRun) -> Iterator[str]:
    for category, rate in run.refusal_rate_by_category.items():
        baseline = run.fixture_baseline_by_category.get(category)
        if baseline is not None and abs(rate - baseline) <= BASELINE_TOLERANCE:
            yield f"fixture pinning: category {category!r} refuses at {rate:g}, its baseline is {baseline:g}"
