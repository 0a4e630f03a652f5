"""The verbs that read result files, in this process: exit codes, documents, hostile names."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.app.build_archive import shop, write_archive
from tests.unit.app.test_score import agent, write

from agent_litmus.cli.main import invoke


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "runs.tar.zst", dict(shop()))


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_import_then_score(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "e.parquet")
    assert invoke(["import", "agentdojo", str(archive), "-o", target, "--json"]) == 0
    assert document(capsys)["accepted"] == 36
    assert invoke(["score", target, "--conventions", "agentdojo", "--json"]) == 0
    rows = document(capsys)["rows"]
    assert {"agent", "suite", "attack", "n", "utility", "utility_under_attack", "asr"} <= rows[0].keys()
    assert invoke(["score", target, "--trivial", "--floor", "ir=0.5", "--json"]) == 0
    assert document(capsys)["frontier"]["floors"] == {"ir": 0.5, "u1": 0.0}
    assert invoke(["score", target, "--frontier"]) == 0
    assert "P(frontier)" in capsys.readouterr().out


def test_an_incomplete_import_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = dict(shop())
    name = "runs/gardener/flowers/user_task_0/plain/injection_task_1.json"
    files[name] = files[name][:40]
    target = str(tmp_path / "e.jsonl")
    assert invoke(["import", "agentdojo", str(write_archive(tmp_path / "a.tar", files)), "-o", target]) == 1
    out = capsys.readouterr().out
    assert "rejected 1 files" in out
    assert "for example gardener/flowers/user_task_0/plain/injection_task_1.json: $: not complete JSON" in out
    assert invoke(["score", target]) == 1
    assert "1 files of its source were rejected" in capsys.readouterr().out


def test_what_cannot_be_used_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "e.jsonl"
    for arguments in (
        ["import", "agentdojo", str(tmp_path / "gone"), "-o", str(target)],
        ["score", str(tmp_path)],
        ["score", str(tmp_path / "gone")],
        ["compare", str(tmp_path / "gone"), str(tmp_path / "gone")],
        ["score", str(write(tmp_path / "a.jsonl", agent("a"))), "--conventions", "theirs"],
    ):
        assert invoke(arguments) == 2, arguments
        error = capsys.readouterr().err
        assert error.startswith("litmus: error [")
        assert error.count("\n") == 2
    assert not target.exists()


@pytest.mark.parametrize(("hijacked", "hosts", "code"), [(0, 8, 0), (6, 8, 1), (0, 3, 75)])
def test_compare_answers_by_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], hijacked: int, hosts: int, code: int
) -> None:
    a = write(tmp_path / "a.jsonl", agent("a", hosts=hosts))
    b = write(tmp_path / "b.jsonl", agent("b", hosts=hosts, hijacked=hijacked))
    assert invoke(["compare", str(a), str(b)]) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("litmus: ")
    assert invoke(["compare", str(a), str(b), "--json", "--trivial"]) == code
    assert document(capsys)["outcome"] == {0: "holds", 1: "regressed", 75: "undecided"}[code]


@pytest.mark.parametrize("conventions", ["ours", "agentdojo", "litmus"])
def test_hostile_names_cannot_paint_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], conventions: str
) -> None:
    evil = "x\x1b[31m[bold]red[/bold]\u202e\n::error::y"
    path = str(write(tmp_path / "a.jsonl", agent(evil, hijacked=2)))
    assert invoke(["score", path, "--conventions", conventions, "--trivial"]) == 0
    assert invoke(["compare", path, path]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[bold]red[/bold]" in out
    assert not any(line.startswith("::") for line in out.splitlines())


CHARTS = ["categories.svg", "frontier.svg", "ledger.svg", "losses.svg"]


def test_score_and_compare_draw_what_they_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = str(write(tmp_path / "a.jsonl", agent("a", hijacked=3, failing=1)))
    b = str(write(tmp_path / "b.jsonl", agent("b")))
    first, second = tmp_path / "é 1", tmp_path / "two"
    assert invoke(["score", a, b, "--trivial", "--floor", "ir=0.9", "--charts", str(first), "--json"]) == 0
    assert document(capsys)["frontier"]["attacks"] == ["plain"]
    assert invoke(["compare", b, a, "--charts", str(second)]) == 1
    for directory in (first, second):
        assert sorted(path.name for path in directory.iterdir()) == CHARTS
    ledger = (first / "ledger.svg").read_text()
    assert "a: clean win 54.7 % (35 of 64 pairs)" in ledger
    assert "a: hijacked 4.7 % (3 of 64 pairs)" in ledger
    assert "a, kind0: IR 50.0 %" in (first / "categories.svg").read_text()
    assert "A: b" in (second / "frontier.svg").read_text()


def test_charts_of_agents_that_were_never_attacked_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "a.jsonl", agent("a", injections=0)))
    assert invoke(["score", path, "--charts", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "out").exists()


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["import", "schema"]) == 0
    assert document(capsys)["additionalProperties"] is False
