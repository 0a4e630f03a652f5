"""Brings a database to the tables of this version, once, however many open it at the same moment."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from agent_litmus.build.results import APPLICATION_ID
from agent_litmus.history.connect import prefer_wal, reading, writing
from agent_litmus.history.place import Place
from agent_litmus.history.tables import HEAD, VERSION_TABLE

_MIGRATING = 0x6C69746D7573
"""Key of PostgreSQL's advisory lock: the letters of litmus."""


def ensure_current(place: Place, engine: Engine, *, create: bool, head: str = HEAD) -> bool:
    """Run every step that the database lacks.

    Args:
        place: Where the database is.
        engine: Its engine.
        create: Whether to begin a history where there is none.
        head: The revision to reach.

    Returns:
        Whether there is a history.

    Raises:
        LitmusHistoryError: It cannot be read or written, or a newer version of the program made it.
    """
    with reading(place, engine) as connection:
        found = revision(connection)
    if found == head or (found is None and not create):
        return found is not None
    with writing(place, engine, "EXCLUSIVE") as connection:
        if place.file is None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATING})
        _upgrade(place, connection, head)
        if place.file is not None:
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    if place.file is not None:
        with place.told("opened"):
            prefer_wal(engine)
    return True


def revision(connection: Connection) -> str | None:
    """The revision of a database; ``None`` for one that holds no history."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - a constant


def _upgrade(place: Place, connection: Connection, head: str) -> None:
    from alembic import command  # noqa: PLC0415 - 0.1 s that only a database of another version should pay
    from alembic.config import Config  # noqa: PLC0415 - as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - as above

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = revision(connection)
    if found is not None and found not in known:
        raise place.error(
            f"its tables are of revision {found[:20]!r}, which this version of litmus does not know",
            "use the version of litmus that wrote it, or a newer one, or set [history] url to another place",
        )
    command.upgrade(config, head)
