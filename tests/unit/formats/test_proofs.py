"""The lines about proofs say what was planned, made and found, and nothing where nothing was asked for."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.app.build_report import write_report

from agent_litmus.formats.json_report import read_report
from agent_litmus.formats.proofs import proof_lines
from agent_litmus.records.probe import Condition, EpisodeKey
from agent_litmus.records.proofs import CalibrationCall, LeakPair, RunProofs
from agent_litmus.records.report import Report
from agent_litmus.records.session import ExitKind, ProcessExit, TokenSighting

KEY = EpisodeKey("p\x1b", Condition.CONTROL, 0)


def pair(*, leaked: bool = False, why: str = "") -> LeakPair:
    seen = (TokenSighting("x", "OAK-11", "answer", own=False, given=False),) if leaked else ()
    return LeakPair(KEY, "s", ProcessExit(ExitKind.EXITED, 0), None if why else "no", why, {"x": "OAK-11"}, seen)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return read_report(write_report(tmp_path / "report.json"))


def lines(report: Report, proofs: RunProofs, pooled: tuple[str, ...] = ()) -> list[str]:
    return [text.plain for text in proof_lines(replace(report, proofs=proofs, pooled=pooled))]


def test_a_run_without_proofs_has_no_lines(report: Report) -> None:
    assert lines(report, RunProofs()) == []


def test_leak_pairs_are_counted_and_a_leak_is_named_safely(report: Report) -> None:
    proofs = RunProofs(leak_pairs=(pair(), pair(leaked=True), pair(why="crashed")), leak_pairs_planned=4)
    assert lines(report, proofs) == [
        "leak pairs: 2 of 4 planned were asked, 1 gave another session's token away",
        "  p\\x1b/control/s0.0",
    ]


def test_calibration_tells_median_and_failures(report: Report) -> None:
    calls = (CalibrationCall(0, 0.1, 200), CalibrationCall(1, 0.3, 200), CalibrationCall(2, 9.0, 0, "refused"))
    assert lines(report, RunProofs(calibration=calls)) == [
        "calibration: 3 model calls past the gateway, 1 failed, median 200 ms"
    ]
    assert lines(report, RunProofs(calibration=calls[2:])) == [
        "calibration: 1 model calls past the gateway, 1 failed"
    ]


def test_earlier_tries_are_named(report: Report) -> None:
    assert lines(report, RunProofs(), ("r1", "r2")) == ["earlier tries of this build counted in: r1, r2"]
