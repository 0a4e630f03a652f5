"""The questions that the history puts to its tables."""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, false, or_, select

from agent_litmus.history.rows import drill_of, read_runs
from agent_litmus.history.tables import DRILLS, RUNS, storable
from agent_litmus.records.history import PriorDrill, PriorRun
from agent_litmus.records.verdict import VerdictKind

NEWEST = 200
"""Most runs of a suite that are read besides the runs of a build and the last accepted one."""
SKETCHED = 20
"""Most of them that come with the sketch of their responses; the newest."""
_NEWEST_FIRST = (RUNS.c.at.desc(), RUNS.c.run_id.desc())
_ACCEPTED = and_(
    RUNS.c.protected.is_(True),
    RUNS.c.verdict == VerdictKind.PASS.value,
    RUNS.c.partial.is_(False),
    RUNS.c.restored.is_(False),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs are meant; empty is all."""

    suite: str = ""
    """Id of a suite, or its digest or the beginning of it."""
    ref: str = ""
    """Shell pattern of refs."""


EVERY = Wanted()


def relevant_runs(
    connection: Connection, suite_digest: str, agent_digest: str, excluding: str, protects: Callable[[str], bool]
) -> tuple[tuple[PriorRun, ...], PriorRun | None]:
    """What a run of a suite by a build is to be judged with: earlier runs, oldest first, and the last accepted one.

    Runs that were restored do not count. ``protects`` says which refs are protected now; a run must have been
    recorded as protected, too. A run ``excluding`` that is recorded for another build is not the one judged now.
    """
    other_build = RUNS.c.agent_digest != agent_digest if agent_digest else false()
    told = and_(
        RUNS.c.suite_digest == suite_digest,
        or_(RUNS.c.run_id != excluding, other_build),
        RUNS.c.restored.is_(False),
    )
    newest = _rows(connection, told, limit=NEWEST)
    own = _rows(connection, and_(told, RUNS.c.agent_digest == agent_digest))
    accepted = next((row for row in _rows(connection, and_(told, _ACCEPTED)) if protects(row.ref)), None)
    rows = {row.run_id: row for row in (*newest, *own, *((accepted,) if accepted else ()))}
    ordered = sorted(rows.values(), key=lambda row: (row.at, row.run_id))
    runs = read_runs(connection, ordered, [row.run_id for row in newest[:SKETCHED]])
    return runs, next((run for run in runs if accepted and run.run_id == accepted.run_id), None)


def listed_rows(connection: Connection, wanted: Wanted) -> list[Row[Any]]:
    """Rows of the runs that are meant, newest first."""
    rows = _rows(connection, *_of_suite(wanted.suite))
    return [row for row in rows if not wanted.ref or fnmatchcase(row.ref, wanted.ref)]


def run_ids(connection: Connection, start: str) -> list[str]:
    """The id ``start`` if a run has it, else every id that begins so."""
    if not start:
        return []
    ids = [row.run_id for row in connection.execute(select(RUNS.c.run_id).order_by(RUNS.c.run_id))]
    return [start] if start in ids else [run_id for run_id in ids if run_id.startswith(start)]


def run_of(connection: Connection, run_id: str) -> PriorRun | None:
    """The run of exactly that id, with its responses."""
    rows = connection.execute(select(RUNS).where(RUNS.c.run_id == run_id)).all()
    return next(iter(read_runs(connection, rows, [row.run_id for row in rows])), None)


def baselines(connection: Connection) -> frozenset[str]:
    """Ids of the last accepted run of every suite."""
    last = {row.suite_digest: row.run_id for row in reversed(_rows(connection, _ACCEPTED))}
    return frozenset(last.values())


def last_drill(connection: Connection, suite_digest: str, tool_version: str) -> PriorDrill | None:
    """The last drill of a suite with a version of the program that was not restored."""
    query = (
        select(DRILLS)
        .where(
            DRILLS.c.suite_digest == suite_digest,
            DRILLS.c.tool_version == tool_version,
            DRILLS.c.restored.is_(False),
        )
        .order_by(DRILLS.c.at.desc(), DRILLS.c.id.desc())
    )
    row = connection.execute(query.limit(1)).first()
    return None if row is None else drill_of(row)


def _rows(connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None) -> list[Row[Any]]:
    query = select(RUNS).where(*conditions).order_by(*_NEWEST_FIRST).limit(limit)
    return list(connection.execute(query).all())


def _of_suite(suite: str) -> list[ColumnElement[bool]]:
    if not suite:
        return []
    digest = RUNS.c.suite_digest
    begins = (digest.startswith(start, autoescape=True) for start in (storable(suite), f"sha256:{storable(suite)}"))
    return [or_(RUNS.c.suite_id == storable(suite), *begins)]
