import re
from dataclasses import replace
from pathlib import Path

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import SIGNALS, all_findings, certified_share
from agent_litmus.coupling.obligations import obligations
from agent_litmus.records.finding import FindingState
from agent_litmus.verdict.trust import FAMILIES, STRONG_FAMILY, STRONG_TESTS


def test_an_honest_run_raises_no_doubt_and_proves_every_obligation(honest: RunEvidence) -> None:
    findings = all_findings(honest)
    assert {f.signal: f.state for f in findings if f.state is not FindingState.CLEAR} == {
        "stale_report": FindingState.MISSING,
        "borrowed_tokens": FindingState.MISSING,
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


def test_families_and_strong_tests_name_signals_that_exist() -> None:
    names = {signal.__name__ for signal in SIGNALS}
    assert set(STRONG_TESTS) <= names
    assert set(FAMILIES) <= names
    assert len(set(STRONG_TESTS)) == STRONG_FAMILY


def test_every_signal_that_can_be_strong_is_one_of_the_family() -> None:
    """What the reference calls strong or exact is a strong test, or it contradicts itself and needs no p-value."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "findings.md").read_text(encoding="utf-8")
    can_alarm = set(re.findall(r"^\| `(\w+)` \| [^|]* \| (?:strong|exact) \|", page, re.MULTILINE))
    assert can_alarm - set(STRONG_TESTS) == {"binding", "stale_report", "isolation", "accounting"}
    assert set(STRONG_TESTS) <= can_alarm


def test_a_run_without_sessions_clears_nothing(honest: RunEvidence) -> None:
    empty = replace(honest, sessions=())
    assert FindingState.CLEAR not in {f.state for f in all_findings(empty)}
    assert not any(status.discharged for status in obligations(all_findings(empty), empty))
    assert certified_share(empty) == 0.0
