import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.history.runs import OTHER_SUITE, a_run

from agent_litmus.app.history_print import print_runs
from agent_litmus.cli.main import invoke
from agent_litmus.history.place import place_of
from agent_litmus.history.store import History
from agent_litmus.records.verdict import VerdictKind


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'history.sqlite'}"
    history = History(place_of(url))
    history.record(a_run("old", at=1.0, protected=False, ref="feature/x", verdict=VerdictKind.FAIL))
    history.record(a_run("new", at=2.0))
    history.record(a_run("other", at=3.0, protected=False, suite_id="desk", suite_digest=OTHER_SUITE))
    return url


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert invoke(["history", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def ids(found: Any) -> list[str]:
    return [run["run_id"] for run in found["runs"]]


def test_list_prints_a_line_per_run_newest_first(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["history", "list", "--url", url]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["run", "when"]
    assert [line.split()[0] for line in lines] == ["other", "new", "old"]
    assert lines[1].split()[3:7] == ["main", "*", "office", "desk"]
    for words in ("FAIL", "floor_missed", "0.975", "0.750", "1970-01-01 00:00:01", "feature/x"):
        assert words in lines[2]


class Terminal(io.StringIO):
    """A terminal, as wide as the environment says."""

    def isatty(self) -> bool:
        return True


def test_a_list_on_a_narrow_terminal_keeps_a_line_per_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    print_runs([a_run("20260101-101500-abcdef", ref="release/2.4"), a_run("20260101-101501-abcdef")], terminal)
    head, *lines = (line.split() for line in terminal.getvalue().splitlines())
    assert head == ["run", "ref", "build", "verdict", "ir", "u1"]
    assert [line[0] for line in lines] == ["20260101-101500-abcdef", "20260101-101501-abcdef"]
    assert lines[0][-3:] == ["PASS", "0.975", "0.750"]


def test_list_as_json_holds_everything_but_responses(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "list", "--url", url)
    assert ids(found) == ["other", "new", "old"]
    run = found["runs"][1]
    assert run["tallies"]["ir"] == {"good": 39, "bad": 1, "unknown": 0}
    assert run["attributed"] is True
    assert "responses" not in run


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--suite", "desk"], ["other"]),
        (["--ref", "feature/*"], ["old"]),
        (["--limit", "1"], ["other"]),
        (["--suite", "none"], []),
    ],
)
def test_list_is_filtered(
    url: str, capsys: pytest.CaptureFixture[str], filters: list[str], expected: list[str]
) -> None:
    assert ids(document(capsys, "list", "--url", url, *filters)) == expected


def test_an_empty_list_says_so(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["history", "list", "--url", url, "--suite", "none"]) == 0
    assert capsys.readouterr().out == "no run\n"


def test_show_prints_what_is_known_of_a_run(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["history", "show", "ol", "--url", url]) == 0
    out = capsys.readouterr().out
    for words in ("old", "feature/x", "floor_missed", "baseline_success 20", "exfiltration", "median 0.25 s"):
        assert words in out
    assert document(capsys, "show", "old", "--url", url)["responses"] == a_run().responses


def test_prune_removes_and_prints_it(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["history", "prune", "--url", url, "--keep", "0", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "old" in out
    assert out.endswith("would remove 2 runs\n")
    assert ids(document(capsys, "list", "--url", url)) == ["other", "new", "old"]
    found = document(capsys, "prune", "--url", url, "--keep", "0", "--suite", "office")
    assert (found["dry_run"], ids(found)) == (False, ["old"])
    assert invoke(["history", "prune", "--url", url, "--older-than", "1"]) == 0
    assert capsys.readouterr().out.endswith("removed 1 run\n")
    assert ids(document(capsys, "list", "--url", url)) == ["new"]
    assert invoke(["history", "prune", "--url", url, "--keep", "0"]) == 0
    assert capsys.readouterr().out == "removed 0 runs\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prune"], ["--keep N", "next:"]),
        (["prune", "--older-than", "nan"], ["--older-than"]),
        (["prune", "--older-than=-1"], ["--older-than"]),
        (["prune", "--keep=-1"], ["keep"]),
        (["list", "--limit", "0"], ["limit"]),
        (["show", "absent"], ["no run is or begins with 'absent'", "litmus history list"]),
        (["list", "-c", "x.toml"], ["--url", "leave out -c"]),
        (["list", "--set", "history.ref=x"], ["--url", "--set"]),
    ],
)
def test_a_usage_error_is_one_clear_message_and_exit_2(
    url: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    assert invoke(["history", *arguments, "--url", url]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    for word in words:
        assert word in captured.err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:////absent/history.sqlite", ["/absent/history.sqlite", "there is no history yet", "litmus run"]),
        ("mysql://u:hunter2@h/x", ["cannot hold a history", "postgresql+psycopg://"]),
        ("hunter2", ["cannot be read", "not shown"]),
        ("sqlite://", ["cannot hold a history"]),
    ],
)
def test_a_history_that_cannot_be_used_is_said_with_a_remedy_and_no_password(
    capsys: pytest.CaptureFixture[str], url: str, words: list[str]
) -> None:
    assert invoke(["history", "list", "--url", url]) == 2
    err = capsys.readouterr().err
    for word in (*words, "next:", "error [history]"):
        assert word in err.replace(": / /", "://")
    assert "hunter2" not in err


def test_hostile_text_is_harmless_in_every_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    evil = "\x1b[31m\r::error::owned ##[error]x\u202e"
    history = History(place_of(url))
    history.record(a_run("r", ref=evil, agent=evil, suite_id=evil, reason=evil, reasons=(evil,), tool_version=evil))
    for arguments in (["list"], ["show", "r"], ["prune", "--keep", "0", "--dry-run"]):
        assert invoke(["history", *arguments, "--url", url]) == 0
        out = capsys.readouterr().out
        assert not {"\x1b", "\r", "\u202e"} & set(out)
        assert "::error" not in out
        assert "##[" not in out
        assert invoke(["history", *arguments, "--url", url, "--json"]) == 0
        assert not {"\x1b", "\r", "\u202e"} & set(capsys.readouterr().out)
