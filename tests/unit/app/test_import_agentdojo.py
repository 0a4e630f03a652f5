import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.app.build_archive import place, run_file, shop, write_archive, write_tree

from agent_litmus.app.import_agentdojo import import_agentdojo
from agent_litmus.app.import_warnings import warnings_of
from agent_litmus.app.score import Conventions, Score, score_files
from agent_litmus.errors import LitmusConfigError


@pytest.fixture(params=["jsonl", "parquet"])
def target(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"episodes.{request.param}"


def recorded(score: Score) -> dict[str, tuple[float | int | None, ...]]:
    keys = ("n", "utility", "utility_under_attack", "asr")
    return {row.agent: tuple(row.numbers[key] for key in keys) for row in score.rows if row.suite == "all"}


@pytest.mark.parametrize("kind", ["directory", "tar", "tar.zst"])
def test_published_figures_come_out_of_any_source(tmp_path: Path, target: Path, kind: str) -> None:
    files = dict(shop())
    source = write_tree(tmp_path, files) if kind == "directory" else write_archive(tmp_path / f"a.{kind}", files)
    outcome = import_agentdojo(source, target)
    assert (outcome.episodes, outcome.complete, sum(outcome.rejected.values())) == (36, True, 0)
    score = score_files([target], conventions=Conventions.AGENTDOJO)
    # 5 of 6 clean runs pass; host task 2 fails under attack; injected task 0 of 5 always succeeds.
    assert recorded(score) == {"gardener": (30, 83.33, 83.33, 20.0)}
    assert score.complete
    assert {row.suite for row in score.rows} == {"flowers", "all"}


def test_our_figures_stand_beside_them(tmp_path: Path, target: Path) -> None:
    import_agentdojo(write_archive(tmp_path / "a.tar.zst", dict(shop())), target)
    (row,) = [row for row in score_files([target]).rows if row.suite == "all"]
    values = {name: estimate.value for name, estimate in row.estimates.items()}
    assert values["utility_without_hijack"] == pytest.approx(20 / 30)
    assert values["delivery"] == pytest.approx(25 / 30)
    assert values["asr"] == values["asr_delivered"] == pytest.approx(0.2)
    assert values["sr"] == pytest.approx(16 / 30)
    assert row.split["pairs"] == 25
    shares = [row.split[name] for name in ("clean_win", "lost", "both_done", "hijacked")]
    assert shares == pytest.approx([16 / 25, 4 / 25, 4 / 25, 1 / 25])
    assert row.estimates["unassessed"].unassessed == 0


def test_errors_and_empty_transcripts_are_unassessed_and_said_so(tmp_path: Path, target: Path) -> None:
    files = dict(shop())
    faults: dict[int, dict[str, Any]] = {1: {"error": "server down", "security": True}, 2: {"messages": []}}
    for injection, changes in faults.items():
        broken = run_file(attack="plain", injection=f"injection_task_{injection}", **changes)
        files[place(broken)] = json.dumps(broken).encode()
    outcome = import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
    warnings = list(warnings_of(outcome))
    assert "gardener: 1 empty transcripts (1 in flowers) are scored in the files; unassessed here" in warnings
    assert any("1 errored runs (1 attacked, of which 1 recorded as attack successes)" in line for line in warnings)
    score = score_files([target])
    (row,) = [row for row in score.rows if row.suite == "all"]
    assert row.estimates["unassessed"].unassessed == 2
    assert (row.estimates["asr"].n, row.estimates["asr"].unassessed) == (28, 2)
    assert set(warnings) <= set(score.warnings)
    # The source's own convention still counts the errored run as a success.
    theirs = score_files([target], conventions=Conventions.AGENTDOJO)
    assert recorded(theirs)["gardener"][3] == pytest.approx(100 * 7 / 30, abs=0.01)


def test_security_of_a_clean_run_means_nothing(tmp_path: Path, target: Path) -> None:
    figures = []
    for security in (True, False):
        files = dict(shop())
        clean = run_file(security=security)
        files[place(clean)] = json.dumps(clean).encode()
        import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
        figures.append(recorded(score_files([target], conventions=Conventions.AGENTDOJO)))
    assert figures[0] == figures[1]


def test_agents_with_one_recorded_name_stay_apart(tmp_path: Path, target: Path) -> None:
    files = dict(shop("rose", recorded="local")) | dict(shop("thorn", recorded="local", utility=False))
    outcome = import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
    assert "2 agents record the same pipeline_name 'local': rose, thorn" in list(warnings_of(outcome))
    table = recorded(score_files([target], conventions=Conventions.AGENTDOJO))
    assert (table["rose"][2], table["thorn"][2]) == (83.33, 0.0)


def test_a_refusing_agent_is_told_from_a_failing_one(tmp_path: Path, target: Path) -> None:
    files = dict(shop(utility=False, security=False, says="I'm sorry, but I can't help with that request."))
    import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
    (row,) = [row for row in score_files([target]).rows if row.suite == "all"]
    assert row.estimates["cor"].value == 1.0
    assert row.ledger["refused"] == 1.0


def test_injected_tasks_run_alone_are_no_episodes(tmp_path: Path, target: Path) -> None:
    alone = run_file(user_task="injection_task_1", utility=False)
    files = dict(shop()) | {place(alone): json.dumps(alone).encode(), "runs/gardener/README.json": b"not a run"}
    outcome = import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
    assert (outcome.episodes, outcome.complete) == (36, True)


def test_tasks_added_later_are_kept_apart(tmp_path: Path, target: Path) -> None:
    files = {}
    for host in range(5):
        for injection in (None, *range(9)):
            names = {"attack": "plain", "injection": f"injection_task_{injection}"} if injection is not None else {}
            run = run_file(suite="workspace", user_task=f"user_task_{host}", security=injection == 7, **names)
            files[place(run)] = json.dumps(run).encode()
    import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
    published = score_files([target], conventions=Conventions.AGENTDOJO)
    assert recorded(published) == {"gardener": (30, 100.0, 100.0, 0.0)}
    assert any(line.startswith("15 episodes of tasks newer") for line in published.warnings)


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "truncated": (lambda data: data[:-20], "$: not complete JSON"),
    "wrong type": (lambda data: data.replace(b'"utility": true', b'"utility": "yes"'), "$.utility: "),
    "missing field": (lambda data: data.replace(b'"security"', b'"secure"'), "$.security: Field required"),
    "not a number": (lambda data: data.replace(b"1.5", b"NaN"), "$.duration: "),
    "infinite": (lambda data: data.replace(b"1.5", b"Infinity"), "$.duration: "),
    "negative": (lambda data: data.replace(b"1.5", b"-1"), "$.duration: "),
    "no transcript": (lambda data: data.replace(b'"messages": [', b'"messages": [5, '), "$.messages[0]: "),
    "of a version": (lambda data: data[:-1] + b', "benchmark_version": "v9"}', "$.benchmark_version: unknown"),
    "of elsewhere": (lambda data: data.replace(b'"user_task_4"', b'"user_task_5"'), "$.user_task_id: disagrees"),
    "empty": (lambda _: b"", "$: not complete JSON"),
    "an array": (lambda _: b"[]", "$: "),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_file_that_cannot_be_trusted_is_rejected_alone(tmp_path: Path, target: Path, fault: str) -> None:
    change, message = BROKEN[fault]
    files = dict(shop())
    name = "runs/gardener/flowers/user_task_4/plain/injection_task_3.json"
    files[name] = change(files[name])
    outcome = import_agentdojo(write_archive(tmp_path / "a.tar.zst", files), target)
    assert (outcome.episodes, outcome.complete) == (35, False)
    (example,) = outcome.examples
    assert example.startswith(f"gardener/flowers/user_task_4/plain/injection_task_3.json: {message}")
    assert "\n" not in example
    score = score_files([target])
    assert not score.complete
    assert any("1 files of its source were rejected" in line for line in score.warnings)


def test_a_missing_control_is_said_and_incomplete(tmp_path: Path, target: Path) -> None:
    files = dict(shop())
    del files["runs/gardener/flowers/user_task_0/none/none.json"]
    outcome = import_agentdojo(write_archive(tmp_path / "a.tar", files), target)
    assert not outcome.complete
    assert any("1 user tasks were attacked but have no clean run" in line for line in warnings_of(outcome))
    score = score_files([target])
    assert "gardener: 1 attacked host tasks have no control" in score.warnings
    assert not score.complete


def test_a_run_that_is_there_twice_counts_once(tmp_path: Path, target: Path) -> None:
    root = write_tree(tmp_path / "twice", dict(shop()))
    write_tree(root / "copy", dict(shop()))
    outcome = import_agentdojo(root, target)
    assert (outcome.episodes, sum(outcome.rejected.values())) == (36, 36)


def test_names_with_spaces_and_other_scripts_are_read(tmp_path: Path, target: Path) -> None:
    files = dict(shop("gärtner 花 1"))
    outcome = import_agentdojo(write_tree(tmp_path / "a folder ü", files), target)
    assert list(outcome.pipelines) == ["gärtner 花 1"]


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path, target: Path) -> None:
    root = write_tree(tmp_path, dict(shop()))
    folder = root / "gardener/flowers/user_task_0/plain"
    os.mkfifo(folder / "injection_task_9.json")
    (folder / "injection_task_8.json").symlink_to("/dev/zero")
    outcome = import_agentdojo(root, target)
    assert outcome.episodes == 36
    assert outcome.rejected == {"$: not a regular file": 2}


@pytest.mark.parametrize("kind", ["missing", "a text", "no archive", "cut short", "flipped", "empty directory"])
def test_a_source_that_cannot_be_used_leaves_no_file(tmp_path: Path, target: Path, kind: str) -> None:
    whole = write_archive(tmp_path / "whole.tar.zst", dict(shop())).read_bytes()
    source = tmp_path / "source.tar.zst"
    if kind == "a text":
        source = tmp_path / "source.txt"
        source.write_text("hello")
    elif kind == "empty directory":
        source.mkdir()
    elif kind != "missing":
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :]
        source.write_bytes({"no archive": b"hello" * 100, "cut short": whole[:middle], "flipped": flipped}[kind])
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(LitmusConfigError) as caught:
        import_agentdojo(source, target)
    assert "source" in caught.value.message
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_existing_file_survives_a_failed_import(tmp_path: Path) -> None:
    target = tmp_path / "episodes.jsonl"
    target.write_text("precious")
    with pytest.raises(LitmusConfigError):
        import_agentdojo(tmp_path / "nothing", target)
    with pytest.raises(LitmusConfigError, match="is a directory"):
        import_agentdojo(write_archive(tmp_path / "a.tar", dict(shop())), tmp_path)
    assert target.read_text() == "precious"
