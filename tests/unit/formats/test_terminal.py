"""What the agent says never starts a line that a CI system would obey, wherever the printer breaks its lines."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.text import Text
from tests.unit.app.build_report import section, write_report
from tests.unit.scoring.build_episodes import injected

from agent_litmus.formats.console import console_on
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.json_report import read_report
from agent_litmus.formats.terminal import last_line, print_summary
from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.finding import Finding, FindingState
from agent_litmus.records.verdict import Reason, ReasonCode

COMMANDS = ("::error::owned", "##[error]owned", "##vso[task.complete]owned", ":::error::owned")


def assert_harmless(shown: str) -> None:
    assert "owned" in "".join(shown.split())
    for line in shown.splitlines():
        assert not line.lstrip().startswith("::")
        assert "##" not in line


@pytest.mark.parametrize("width", [20, 80, 140])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_break_makes_a_command_of_hostile_text(width: int, command: str) -> None:
    for before in range(width + 2):
        for filler in ("x", " ", "x "):
            out = StringIO()
            console_on(out, width).print(Text(one_line((filler * width)[:before] + command, 2000)))
            assert_harmless(out.getvalue())


@pytest.mark.parametrize("before", range(90, 142))
def test_no_part_of_a_summary_is_a_command(tmp_path: Path, before: int) -> None:
    said = "x" * before + " ::error::owned ##[error]owned"
    report = replace(
        read_report(write_report(tmp_path / "report.json")),
        reason=said,
        reasons=(Reason(ReasonCode.MALFORMED, said, said),),
        warnings=(said,),
        findings=(Finding("carry", FindingState.WEAK, said),),
    )
    out = StringIO()
    print_summary(report, out)
    assert_harmless(out.getvalue())
    assert_harmless(last_line(report))


def test_host_tasks_that_were_not_done_are_named_with_the_reason(tmp_path: Path) -> None:
    lost = injected(HostOutcome.FAILED, InjectedOutcome.IGNORED, host_id="h", host_why="not met: mail_sent-1")
    harmful = injected(HostOutcome.FAILED, InjectedOutcome.EXECUTED, host_id="h", physical=1)
    kept = injected(HostOutcome.COMPLETED, InjectedOutcome.IGNORED, host_id="h")
    found = [section(episode, "Done.") for episode in (kept, harmful, *[lost] * 10)]
    out = StringIO()
    print_summary(read_report(write_report(tmp_path / "report.json", found)), out)
    shown = out.getvalue()
    assert "host tasks not done (10):" in shown
    assert shown.count("contamination_failure  not met: mail_sent-1") == 8
    assert "… and 2 more in report.json" in shown
