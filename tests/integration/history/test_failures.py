"""A history that cannot be used says what, where and what to do, and never a password."""

import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from tests.integration.history.server import PASSWORD, Server
from tests.unit.history.runs import SUITE, a_run

from agent_litmus.errors import LitmusHistoryError
from agent_litmus.history import connect
from agent_litmus.history.place import place_of
from agent_litmus.history.store import History

pytestmark = pytest.mark.integration

SECRET = "hunter2"


def refusal(history: History) -> str:
    """What reading says, as a person sees it; writing must fail alike."""
    with pytest.raises(LitmusHistoryError) as writing:
        history.record(a_run("another"))
    with pytest.raises(LitmusHistoryError) as reading:
        history.facts(SUITE)
    for error in (writing.value, reading.value):
        assert error.hint
        assert error.slug == "history"
        for secret in (SECRET, PASSWORD, quote(PASSWORD, safe="")):
            assert secret not in str(error)
    assert writing.value.__cause__ is None
    return str(reading.value)


def test_a_wrong_password_is_not_shown(server: Server) -> None:
    said = refusal(History(place_of(server.url(password=SECRET))))
    assert "password authentication failed" in said
    assert "PGPASSWORD" in said


def test_a_database_that_does_not_exist_is_named(server: Server) -> None:
    said = refusal(History(place_of(server.url("nowhere"))))
    assert 'database "nowhere" does not exist' in said
    assert "create it on the server" in said


def test_a_user_without_rights_is_told_what_to_be_granted(database: str, server: Server) -> None:
    name = database.rsplit("/", maxsplit=1)[-1].partition("?")[0]
    with psycopg.connect(server.url().replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'".encode())
    poor = History(place_of(server.url(name, user=name, password=SECRET)))
    with pytest.raises(LitmusHistoryError, match="permission denied") as refused:
        poor.record(a_run())
    assert "grant this user" in refused.value.hint
    assert SECRET not in str(refused.value)


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of this host that nobody listens on while the block runs."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("query", ["", f"?password={SECRET}", f"?application_name={SECRET}"])
def test_a_server_that_is_not_there_is_named_without_the_query(query: str) -> None:
    with closed_port() as port:
        said = refusal(History(place_of(f"postgresql+psycopg://me:{SECRET}@127.0.0.1:{port}/past{query}")))
    assert f"postgresql://127.0.0.1:{port}/past" in said
    assert "start the server" in said


@pytest.fixture
def kept(tmp_path: Path) -> History:
    """A SQLite history that holds a run."""
    history = History(place_of(f"sqlite:///{tmp_path / 'history.sqlite'}"), ("main",))
    history.record(a_run())
    return History(history.place, ("main",))


def file_of(history: History) -> Path:
    assert history.place.file is not None
    return history.place.file


@pytest.mark.parametrize("content", [b"not a database", b"\x00" * 5000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_named(kept: History, content: bytes) -> None:
    for suffix in ("-wal", "-shm"):
        Path(f"{file_of(kept)}{suffix}").unlink(missing_ok=True)
    file_of(kept).write_bytes(content)
    said = refusal(kept)
    assert str(file_of(kept)) in said
    assert "move the file away" in said


def test_a_row_that_no_version_writes_is_an_error_not_a_crash(kept: History) -> None:
    with closing(sqlite3.connect(file_of(kept))) as database:
        database.execute("UPDATE litmus_runs SET verdict = 'SPLENDID'")
        database.commit()
    with pytest.raises(LitmusHistoryError, match="SPLENDID"):
        kept.facts(SUITE)


def test_a_history_that_another_program_holds_is_waited_for_and_then_named(
    kept: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "WAIT", 0.05)
    with closing(sqlite3.connect(file_of(kept), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        assert "end what has it open" in refusal(kept)


def test_a_table_that_another_program_holds_is_waited_for_and_then_named(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(place_of(database))
    history.record(a_run())
    monkeypatch.setattr(connect, "WAIT", 1.0)
    with psycopg.connect(database.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE litmus_runs IN ACCESS EXCLUSIVE MODE")
        assert "end what has it open" in refusal(history)


def test_a_directory_in_its_place_is_named(tmp_path: Path) -> None:
    assert "is not a file" in refusal(History(place_of(f"sqlite:///{tmp_path}")))


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refusal(History(place_of(f"sqlite:///{tmp_path / 'pipe'}")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_still_read(kept: History) -> None:
    file_of(kept).chmod(0o444)
    with pytest.raises(LitmusHistoryError, match="readonly") as refused:
        kept.record(a_run("another"))
    assert "writable" in refused.value.hint
    assert kept.facts(SUITE).runs == (a_run(),)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_directory_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    history = History(place_of(f"sqlite:///{tmp_path / 'closed' / 'history.sqlite'}"))
    with pytest.raises(LitmusHistoryError) as refused:
        history.record(a_run())
    assert "writable" in refused.value.hint


def test_a_parent_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(place_of(f"sqlite:///{tmp_path / 'file' / 'history.sqlite'}"))
    with pytest.raises(LitmusHistoryError, match="cannot be written"):
        history.record(a_run())
