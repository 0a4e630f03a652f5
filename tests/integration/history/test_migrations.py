"""Every state that a database of an earlier version can be in leads to the tables of this version."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, select, text
from tests.unit.history.runs import SUITE, a_run

from agent_litmus.errors import LitmusHistoryError
from agent_litmus.history import migrate, tables
from agent_litmus.history.connect import engine_for, reading, writing
from agent_litmus.history.migrate import ensure_current, revision
from agent_litmus.history.place import Place, place_of
from agent_litmus.history.store import History

pytestmark = pytest.mark.integration


def scripts() -> ScriptDirectory:
    return ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))


REVISIONS = [script.revision for script in reversed(list(scripts().walk_revisions()))]


def made(place: Place, head: str) -> None:
    """A database as the version of ``head`` left it, with what it could hold of a run."""
    engine = engine_for(place)
    assert ensure_current(place, engine, create=True, head=head)
    with writing(place, engine) as connection:
        run = {name: getattr(a_run(), name) for name in tables.RUNS.c.keys()}  # noqa: SIM118 - columns
        connection.execute(insert(tables.RUNS), run)
        tally = {"metric": "ir", "good": 39, "bad": 1, "unknown": 0, "category": None}
        connection.execute(insert(tables.TALLIES), {"run_id": "run-1", **tally})
        connection.execute(
            text("INSERT INTO litmus_sketches (run_id, responses) VALUES ('run-1', :it)"), {"it": '{"k": "v"}'}
        )


def test_the_tables_are_those_of_the_last_step() -> None:
    assert scripts().get_current_head() == tables.HEAD == REVISIONS[-1]


def test_an_empty_database_gets_exactly_these_tables(url: str) -> None:
    place = place_of(url)
    engine = engine_for(place)
    assert ensure_current(place, engine, create=True)
    with reading(place, engine) as connection:
        options = {"version_table": tables.VERSION_TABLE, "compare_type": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), tables.METADATA) == []


@pytest.mark.parametrize("start", REVISIONS)
def test_a_database_of_every_earlier_version_is_brought_up_with_what_it_holds(url: str, start: str) -> None:
    place = place_of(url)
    made(place, start)
    history = History(place, ("main",))
    shown = history.show("run-1")
    assert (shown.tallies["ir"].good, shown.responses) == (39, {"k": "v"})
    assert history.record(a_run("run-2"))
    assert history.show("run-2") == a_run("run-2")
    with reading(place, engine_for(place)) as connection:
        assert revision(connection) == tables.HEAD


def test_a_database_of_a_newer_version_is_left_alone_and_said_so(url: str) -> None:
    place = place_of(url)
    made(place, tables.HEAD)
    with writing(place, engine_for(place)) as connection:
        connection.execute(text(f"UPDATE {tables.VERSION_TABLE} SET version_num = '9999'"))
    history = History(place)
    for act in (lambda: history.facts(SUITE), lambda: history.record(a_run("x")), history.list):
        with pytest.raises(LitmusHistoryError, match=r"revision '9999'.*does not know"):
            act()
    with reading(place, engine_for(place)) as connection:
        assert [row.run_id for row in connection.execute(select(tables.RUNS.c.run_id))] == ["run-1"]


def test_a_step_that_fails_leaves_the_database_as_it_was(url: str) -> None:
    place = place_of(url)
    engine = engine_for(place)
    with writing(place, engine) as connection:
        connection.execute(text("CREATE TABLE litmus_drills (x INTEGER)"))  # in the way of the second step
    with pytest.raises(LitmusHistoryError, match="cannot be written"):
        ensure_current(place, engine, create=True)
    with reading(place, engine) as connection:
        assert revision(connection) is None


def test_a_database_of_others_is_shared_without_touching_theirs(url: str) -> None:
    place = place_of(url)
    engine = engine_for(place)
    with writing(place, engine) as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('theirs')"))
        connection.execute(text("CREATE TABLE runs (x INTEGER)"))
    assert History(place).record(a_run())
    with reading(place, engine) as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "theirs"
