"""Connections that wait for each other instead of failing, and never half-commit."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, text

from agent_litmus.history.place import Place

Lock = Literal["DEFERRED", "IMMEDIATE", "EXCLUSIVE"]
"""How a SQLite transaction begins: reading, writing, or alone."""

WAIT = 30.0
"""Seconds that one writer waits for another."""
_CONNECT = 10
"""Seconds for a server to answer."""


def engine_for(place: Place) -> Engine:
    """An engine without a pool: a history is opened, used and left.

    Raises:
        LitmusHistoryError: The driver is absent, or the file is something else than a file.
    """
    if place.file is not None:
        with place.told("opened"):
            if place.file.exists() and not stat.S_ISREG(place.file.stat().st_mode):
                raise place.error("is not a file", "name a file in [history] url")
        engine = create_engine(place.url, poolclass=NullPool, connect_args={"timeout": WAIT})
        event.listen(engine, "connect", _settle_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        engine = create_engine(place.url, poolclass=NullPool, connect_args={"connect_timeout": _CONNECT})
    except ImportError:
        raise place.error(
            "the PostgreSQL driver is not installed", "pip install 'agent-litmus[postgres]'"
        ) from None
    event.listen(engine, "begin", _begin_postgres)
    return engine


@contextmanager
def reading(place: Place, engine: Engine) -> Iterator[Connection]:
    """A connection whose reads all see one state.

    Raises:
        LitmusHistoryError: The database fails.
    """
    with place.told("read"), engine.connect() as connection:
        if place.file is None:
            connection.execution_options(isolation_level="REPEATABLE READ")
        yield connection


@contextmanager
def writing(place: Place, engine: Engine, lock: Lock = "IMMEDIATE") -> Iterator[Connection]:
    """A transaction that is committed whole, or not at all.

    Raises:
        LitmusHistoryError: The database fails; nothing of the block is kept.
    """
    with place.told("written"), engine.connect() as connection:
        connection.execution_options(litmus_lock=lock)
        with connection.begin():
            yield connection


def prefer_wal(engine: Engine) -> None:
    """Let readers and a writer work at once where the file system allows it; it is no loss where it does not.

    Changing the mode needs the file alone, so with others at it this is left to a later run.
    """
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute("PRAGMA busy_timeout = 0")
        cursor.execute("PRAGMA journal_mode = WAL")
    except Exception as error:
        if "locked" not in str(error).lower():
            raise
    finally:
        raw.close()


def _settle_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver would begin transactions late, without a lock
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('litmus_lock', 'DEFERRED')}")


def _begin_postgres(connection: Connection) -> None:
    for name, seconds in (("lock_timeout", WAIT), ("statement_timeout", 2 * WAIT)):  # the first says why
        connection.execute(text(f"SET LOCAL {name} = '{int(1000 * seconds)}ms'"))
