"""What a result file may be that it should not: one clear line each, exit code 2 or 1, nothing half-written."""

import dataclasses
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.app.build_archive import shop, write_archive, write_tree
from tests.unit.app.build_report import sections, write_report
from tests.unit.app.test_score import agent, write

from agent_litmus.cli.main import invoke
from agent_litmus.formats.episodes.document import head
from agent_litmus.records.probe import Condition

TWO_GB = 2 << 30


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message, which is one line and its remedy; nothing stands on standard output."""
    assert invoke(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("litmus: error [")
    assert printed.err.count("\n") == 2
    return printed.err.splitlines()[0]


REPORTS: dict[str, tuple[Callable[[str], str], str]] = {
    "truncated": (lambda text: text[: len(text) // 2], "not a valid report"),
    "wrong type": (lambda text: text.replace('"proven": false', '"proven": "maybe"'), "$.proven: "),
    "NaN": (
        lambda text: text.replace('"duration": 0.0', '"duration": NaN', 1),
        "$.episodes[0].evidence.duration: ",
    ),
    "infinite": (lambda text: text.replace('"duration": 0.0', '"duration": 1e999', 1), "duration: not a finite"),
    "infinite word": (lambda text: text.replace('"duration": 0.0', '"duration": "inf"', 1), "not a finite"),
    "newer version": (
        lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
        "$.schema_version: 2",
    ),
    "missing field": (lambda text: text.replace('"run_id"', '"id"'), "$.run_id: "),
}


@pytest.mark.parametrize("fault", REPORTS)
@pytest.mark.parametrize("verb", [["score"], ["report", "show"]])
def test_a_faulty_report_is_refused_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, verb: list[str]
) -> None:
    change, message = REPORTS[fault]
    path = write_report(tmp_path / "report.json")
    path.write_text(change(path.read_text()))
    assert message in refused(capsys, *verb, str(path))


def test_a_report_under_two_names_is_a_duplicate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write_report(tmp_path / "one.json")
    two = tmp_path / "two.json"
    two.write_bytes(one.read_bytes())
    assert "it is there twice" in refused(capsys, "score", str(one), str(two))


def test_two_digests_in_one_file_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed = [dataclasses.replace(row, agent_digest=f"sha256:{n % 2}") for n, row in enumerate(agent("a"))]
    assert "two build digests" in refused(capsys, "score", str(write(tmp_path / "a.jsonl", mixed)))
    assert "two build digests" in refused(capsys, "score", str(write(tmp_path / "a.parquet", mixed)))
    found = sections()
    other = dataclasses.replace(found[-1], episode=dataclasses.replace(found[-1].episode, agent_digest="other"))
    report = write_report(tmp_path / "report.json", [*found[:-1], other])
    assert "two build digests" in refused(capsys, "score", str(report))


def test_a_missing_control_is_a_figure_that_rests_on_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for row in agent("a") if row.condition is Condition.INJECTED or row.host != "h0"]
    path = str(write(tmp_path / "a.jsonl", rows))
    assert invoke(["score", path, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["complete"] is False
    assert document["warnings"] == ["a: 1 attacked host tasks have no control"]
    (row,) = [row for row in document["rows"] if row["suite"] == "all"]
    assert (row["ledger"]["pairs"], row["ledger"]["unknown_pairs"]) == (56, 8)


def test_a_directory_is_no_result_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(tmp_path / "a.jsonl", agent("a")))
    assert "is a directory" in refused(capsys, "score", str(tmp_path))
    assert "is a directory" in refused(capsys, "compare", path, str(tmp_path))


@pytest.mark.parametrize("name", ["a b.jsonl", "größe 花.parquet", "-dash.jsonl", "quote'\"$(x).jsonl"])
def test_odd_names_are_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(name), agent("a"))
    assert invoke(["score", "--json", "--", name]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 72
    (tmp_path / "ö ä").mkdir()
    source = write_tree(tmp_path / "ö ä", dict(shop()))
    assert invoke(["import", "agentdojo", str(source), "-o", f"out {name}"]) == 0
    capsys.readouterr()


def test_a_name_that_is_no_text_is_named_in_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    assert "no such file" in refused(capsys, "score", path)


def sparse(path: Path, start: bytes) -> Path:
    with path.open("wb") as file:
        file.write(start)
        file.truncate(TWO_GB)
    return path


STARTS = {
    "nothing": b"",
    "a report": b'{"verdict": "PASS",\n',
    "episodes": json.dumps(head()).encode() + b"\n",
    "parquet": b"PAR1",
}


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("verb", [["score"], ["report", "show"], ["score", "--judge"]])
def test_two_gigabytes_are_never_read_into_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, verb: list[str]
) -> None:
    path = str(sparse(tmp_path / "huge", STARTS[kind]))
    arguments = [*verb, path, str(write(tmp_path / "a.jsonl", agent("a")))] if "--judge" in verb else [*verb, path]
    tracemalloc.start()
    try:
        message = refused(capsys, *arguments)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "huge" in message
    assert peak < 200 << 20


def test_a_run_file_of_two_gigabytes_is_rejected_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = write_tree(tmp_path / "tree", dict(shop()))
    sparse(root / "gardener/flowers/user_task_5/none/none.json", b"{")
    target = tmp_path / "e.jsonl"
    tracemalloc.start()
    try:
        assert invoke(["import", "agentdojo", str(root), "-o", str(target)]) == 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    out = capsys.readouterr().out
    assert "rejected 1 files" in out
    assert "larger than 64 MiB" in out
    assert peak < 400 << 20


def test_security_on_clean_runs_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = []
    for security in (b"true", b"false"):
        files = {
            name: data.replace(b'"security": true', b'"security": ' + security) if "/none/" in name else data
            for name, data in shop()
        }
        target = tmp_path / f"{security.decode()}.jsonl"
        assert (
            invoke(["import", "agentdojo", str(write_archive(tmp_path / "a.tar", files)), "-o", str(target)]) == 0
        )
        capsys.readouterr()
        assert invoke(["score", str(target), "--json"]) == 0
        figures.append(json.loads(capsys.readouterr().out)["rows"])
    assert figures[0] == figures[1]


@pytest.mark.parametrize("verb", ["gate", "audit"])
def test_a_report_that_is_not_there_is_not_a_matter_of_permissions(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "litmus.toml"
    settings.write_text('[agent]\nname = "a"\ncommand = ["{python}"]\n[suite]\nbuiltin = "office"\n')
    said = refused(capsys, verb, str(tmp_path / "gone"), "-c", str(settings))
    assert "there is no such file" in said
    assert "permissions" not in said
