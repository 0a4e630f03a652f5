"""Results of earlier runs never become part of the agent, wherever they were written."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent_litmus.build.files import select
from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.manifest import compute_build
from agent_litmus.build.results import APPLICATION_ID, STORE, holds_results
from agent_litmus.build.snapshot import SnapshotStore
from agent_litmus.records.config import AgentConfig
from agent_litmus.run.journal import JournalHeader, create

from .conftest import config_of, make_venv, site_of, write


def _header(run: str, digest: str) -> JournalHeader:
    return JournalHeader(run, digest, "s", "c", "p", 1, {"sampling": "x" * 100_000})


def _run(agent: AgentConfig, output: str, number: int) -> str:
    """What a run does to the agent's directory; the digest it computes. Its own output alone is excluded."""
    own = replace(agent, exclude=(f"/{output}",))
    found = inspect_interpreter(agent.python)
    build = compute_build(own, found)
    place = agent.root / output
    SnapshotStore(place / STORE).make(own, build, found).release()
    header = _header(f"run-{number}", build.digest)
    create(place / f"run-{number}" / "journal.jsonl", header).close()
    write(place, {f"run-{number}/report.json": f'{{"n": {number}}}', f"run-{number}/charts/f.svg": "<svg/>"})
    return build.digest


OUTPUTS = ("a", "b", "out/deep", "a", "b")


def test_alternating_output_directories_do_not_change_the_build(agent: AgentConfig) -> None:
    first = compute_build(agent).digest
    assert [_run(agent, output, number) for number, output in enumerate(OUTPUTS)] == [first] * len(OUTPUTS)
    assert not [path for path in select(agent.root).entries if "run-" in path.path or STORE in path.path]


@pytest.mark.integration
def test_neither_do_they_through_an_editable_tree(tmp_path: Path) -> None:
    root = tmp_path / "desk"
    write(root, {"agent.py": "", "prompts/system.md": "x", "mylib.py": "V = 1\n"})
    python = make_venv(root / ".venv")
    write(site_of(python), {"_mylib.pth": f"{root}\n"})
    agent = config_of(root, python)
    first = compute_build(agent)
    assert any(name.startswith("editable/") for name in first.components)
    assert {_run(agent, output, number) for number, output in enumerate(OUTPUTS)} == {first.digest}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "{}\n",
        "[1]\n",
        '{"type": "header"}\n',
        '{"type": "session", "run_id": "", "agent_digest": "", "suite_digest": "", "plan_digest": ""}\n',
        '{"type": "header", "run_id": "", "agent_digest": "", "suite_digest"',
        '\n{"type": "header", "run_id": "", "agent_digest": "", "suite_digest": "", "plan_digest": ""}\n',
        "[" * 4000,
        "\x00\xff",
    ],
)
def test_a_journal_of_something_else_belongs_to_the_agent(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"data/journal.jsonl": text, "data/x.py": ""})
    assert [entry.path for entry in select(tmp_path).entries] == ["data/journal.jsonl", "data/x.py"]


def test_a_journal_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "journal.jsonl")
    (tmp_path / "folder" / "journal.jsonl").mkdir(parents=True)
    create(tmp_path / "real" / "journal.jsonl", _header("r", "sha256:0")).close()
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "journal.jsonl").symlink_to("../real/journal.jsonl")
    assert {path.name for path in tmp_path.iterdir() if holds_results(path)} == {"real"}


@pytest.mark.parametrize("name", ["notes.md", "1/snapshot", "tmp-1/x", "A" * 64])
def test_a_directory_of_that_name_that_holds_something_else_belongs_to_the_agent(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"agent.py": "", f"{STORE}/{name}": "x"})
    assert f"{STORE}/{name}" in [entry.path for entry in select(tmp_path).entries]


def _history(place: Path, application_id: int = APPLICATION_ID) -> None:
    place.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(place / "history.sqlite")) as database:
        database.execute(f"PRAGMA application_id = {application_id}")
        database.execute("CREATE TABLE t (x)")
        database.commit()
    for suffix in ("-wal", "-shm", "-journal", ".origin"):
        write(place, {f"history.sqlite{suffix}": "x"})


def test_a_history_and_the_files_beside_it_do_not_belong_to_the_agent(tmp_path: Path) -> None:
    _history(tmp_path / "out")
    write(tmp_path, {"agent.py": "", "out/history.sqlite.bak": "x", "out/other.sqlite": "x"})
    found = [entry.path for entry in select(tmp_path).entries]
    assert found == ["agent.py", "out/history.sqlite.bak", "out/other.sqlite"]


def test_a_database_of_the_agent_belongs_to_it_whatever_its_name(tmp_path: Path) -> None:
    _history(tmp_path, application_id=1)
    assert len(select(tmp_path).entries) == 5


def test_a_history_that_is_no_database_belongs_to_the_agent(tmp_path: Path) -> None:
    write(tmp_path, {"history.sqlite": "x", "history.sqlite-wal": "x"})
    assert [entry.path for entry in select(tmp_path).entries] == ["history.sqlite", "history.sqlite-wal"]
