"""What a run leaves in the history, and what the history gives to a judgement."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.app.build_report import sections, write_report

from agent_litmus.app.history import OFF, prior_run, recall, remember, sketch
from agent_litmus.formats.json_report import read_report, report_json
from agent_litmus.history.store import EMPTY
from agent_litmus.records.config import AgentConfig, Config, HistoryConfig, RunConfig
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.proofs import CalibrationCall, RunProofs
from agent_litmus.records.report import EpisodeSection, Report
from agent_litmus.records.scorecard import Estimate
from agent_litmus.records.verdict import Reason, ReasonCode


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return read_report(write_report(tmp_path / "report.json"))


@pytest.fixture
def config(tmp_path: Path) -> Config:
    agent = AgentConfig("desk", tmp_path, ("true",))
    return Config(tmp_path / "litmus.toml", agent, tmp_path, RunConfig(output=tmp_path / "runs"))


def on(config: Config, ref: str) -> Config:
    return replace(config, history=replace(config.history, ref=ref))


def answered(section: EpisodeSection, digest: str, answer_why: str = "") -> EpisodeSection:
    return replace(section, evidence=replace(section.evidence, normalised_digest=digest, answer_why=answer_why))


def test_a_recorded_run_is_recalled_by_the_next_one(config: Config, report: Report) -> None:
    known = {"suite_digest": report.suite.digest, "agent_digest": report.agent.digest}
    assert recall(config, **known, run_id="next").facts == HistoryFacts(None, EMPTY)
    assert remember(config, report, report_json(report)) == ""
    runs = recall(config, **known, run_id="next").facts.runs
    assert runs == (prior_run(config, report, report_json(report), at=runs[0].at if runs else 0.0),)
    assert recall(config, **known, run_id=report.run_id).facts.runs is None


def test_a_history_that_is_turned_off_is_missing_and_not_written(config: Config, report: Report) -> None:
    off = replace(config, history=HistoryConfig(enabled=False))
    assert recall(off, suite_digest="s", agent_digest="a", run_id="r").facts == HistoryFacts(None, OFF)
    assert remember(off, report, b"") == ""
    assert not (config.run.output / "history.sqlite").exists()


def test_a_history_that_fails_is_missing_with_a_warning_and_never_raises(config: Config, report: Report) -> None:
    config.run.output.mkdir()
    (config.run.output / "history.sqlite").write_bytes(b"not a database")
    recalled = recall(config, suite_digest="s", agent_digest="a", run_id="r")
    assert recalled.facts.runs is None
    assert recalled.facts.why.startswith("the history cannot be read: ")
    assert "next: move the file away" in recalled.warning
    assert remember(config, report, b"").startswith("the report stands, but this run is not in the history: ")


@pytest.mark.parametrize(("ref", "protected"), [("main", True), ("feature", False), ("", False)])
def test_a_run_is_kept_with_its_ref(config: Config, report: Report, ref: str, protected: bool) -> None:
    run = prior_run(on(config, ref), report, b"{}", at=5.0)
    assert (run.ref, run.protected, run.at) == (ref, protected, 5.0)


def test_a_run_is_kept_with_everything_that_later_runs_are_judged_by(config: Config, report: Report) -> None:
    estimate = Estimate(0.1, 0.0, 0.2, 5, 5, 0, "paired")
    reasons = (Reason(ReasonCode.FLOOR_MISSED, "x"), Reason(ReasonCode.DESYNC, "y"))
    full = replace(report, reasons=reasons, score={"cor": estimate, "ir": estimate})
    run = prior_run(config, full, b"document", at=0.0)
    assert (run.reason, run.reasons, run.attributed) == ("floor_missed", ("floor_missed", "desync"), False)
    assert run.estimates == {"cor": estimate}
    assert run.report_digest == f"sha256:{hashlib.sha256(b'document').hexdigest()}"
    assert (run.run_id, run.suite_id, run.agent, run.episodes) == (
        "r",
        "s",
        report.agent.name,
        len(report.episodes),
    )


def test_a_calibration_is_the_median_of_the_calls_that_succeeded(config: Config, report: Report) -> None:
    calls = [
        (0.1, 200, ""),
        (0.3, 200, ""),
        (9.0, 500, ""),
        (9.0, 0, "refused"),
        (float("nan"), 200, ""),
        (0.2, 200, ""),
    ]
    proofs = RunProofs(tuple(CalibrationCall(0, *call) for call in calls))
    assert prior_run(config, replace(report, proofs=proofs), b"", at=0.0).calibration_median == 0.2
    assert prior_run(config, report, b"", at=0.0).calibration_median is None


def test_a_sketch_holds_the_answered_episodes_of_the_same_keys_in_every_run(report: Report) -> None:
    digest = "sha256:" + "0123456789abcdef" * 4
    rows = [answered(section, digest) for section in sections(8, 300)]
    first = sketch(replace(report, episodes=tuple(rows)))
    assert len(first) == 2000
    assert set(first.values()) == {"0123456789abcdef"}
    again = sketch(replace(report, episodes=tuple(reversed(rows))))
    assert again == first
    key = next(iter(first))
    crashed = [answered(row, digest, "crashed") if str(row.evidence.key) == key else row for row in rows]
    assert sketch(replace(report, episodes=tuple(crashed))).keys() == first.keys() - {key}


def test_a_session_without_a_digest_is_in_no_sketch(report: Report) -> None:
    assert sketch(report) == {}
