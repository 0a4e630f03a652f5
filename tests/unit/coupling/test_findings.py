from dataclasses import replace

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import SIGNALS, all_findings, certified_share
from agent_litmus.coupling.obligations import obligations
from agent_litmus.records.finding import FindingState


def test_an_honest_run_raises_no_doubt_and_proves_every_obligation(honest: RunEvidence) -> None:
    findings = all_findings(honest)
    assert {f.signal: f.state for f in findings if f.state is not FindingState.CLEAR} == {
        "stale_report": FindingState.MISSING,
        "fixture_pinning": FindingState.MISSING,
        "latency": FindingState.MISSING,
        "leak_pairs": FindingState.MISSING,
        "context_growth": FindingState.MISSING,
        "carry_over": FindingState.MISSING,
        "watermarks": FindingState.MISSING,
        "repeats": FindingState.NOT_APPLICABLE,
    }
    assert all(status.discharged for status in obligations(findings, honest))
    assert certified_share(honest) == 1.0


def test_each_signal_is_named_after_its_function(honest: RunEvidence) -> None:
    assert [f.signal for f in all_findings(honest)] == [signal.__name__ for signal in SIGNALS]


def test_a_run_without_sessions_clears_nothing(honest: RunEvidence) -> None:
    empty = replace(honest, sessions=())
    assert FindingState.CLEAR not in {f.state for f in all_findings(empty)}
    assert not any(status.discharged for status in obligations(all_findings(empty), empty))
    assert certified_share(empty) == 0.0
