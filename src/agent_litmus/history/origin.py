"""Whether a SQLite history is still the file that was written, or a copy of an earlier state of it.

A cache of a CI system, a backup or a copy brings back an old state, in which what happened since is absent. Beside
the history lies a small file that is written once, and the history holds the time of that file's last change of
status, which the kernel sets and which no restoring can set back. What a snapshot of the whole machine brings back
looks untouched; a server's database cannot be told at all and is trusted.
"""

from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from agent_litmus.history.tables import DRILLS, ORIGIN, RUNS

_WORDS = """This file tells whether the history beside it was copied or restored from a cache or a backup.
Leave it alone: when it is copied, changed or removed, earlier runs are not trusted any more.
"""


def beside(file: Path) -> Path:
    """The file that vouches for a history."""
    return file.with_name(f"{file.name}.origin")


def is_original(connection: Connection, file: Path) -> bool:
    """Whether the history is where and as it was last written."""
    try:
        stamp = _stamp(file)
    except OSError:
        return False
    return connection.execute(select(ORIGIN.c.stamp)).scalar() == stamp


def renew(connection: Connection, file: Path) -> None:
    """In a writing transaction: trust from now on, and mark as restored whatever is older.

    Raises:
        OSError: The file beside the history cannot be written.
    """
    if is_original(connection, file):
        return
    for table in (RUNS, DRILLS):
        connection.execute(update(table).values(restored=True))
    beside(file).unlink(missing_ok=True)
    beside(file).write_text(_WORDS, encoding="utf-8")
    connection.execute(ORIGIN.delete())
    connection.execute(insert(ORIGIN).values(id=1, stamp=_stamp(file)))


def _stamp(file: Path) -> str:
    return str(beside(file).stat().st_ctime_ns)
