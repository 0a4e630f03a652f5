"""The tables as they are now; `migrations` brings a database of any earlier version to this state."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)

HEAD = "0003"
"""Revision that this version of the program reads and writes."""
VERSION_TABLE = "litmus_history_version"
"""Where Alembic keeps the revision; with a name of its own, since the database may hold other things."""


class SafeText(TypeDecorator[str]):
    """Text of any origin: what a database cannot hold (NUL, lone surrogates) is written as an escape."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the base class's signature
        """Escape on the way in."""
        return None if value is None else storable(value)


def storable(text: str) -> str:
    r"""``text`` with NUL as ``\x00`` and lone surrogates as ``\udcXX``."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


METADATA = MetaData()

RUNS = Table(
    "litmus_runs",
    METADATA,
    Column("run_id", SafeText, primary_key=True),
    Column("at", Double, nullable=False),
    Column("ref", SafeText, nullable=False),
    Column("protected", Boolean, nullable=False),
    Column("suite_id", SafeText, nullable=False),
    Column("suite_digest", SafeText, nullable=False, index=True),
    Column("agent", SafeText, nullable=False),
    Column("agent_digest", SafeText, nullable=False),
    Column("report_digest", SafeText, nullable=False),
    Column("results_digest", SafeText, nullable=False),
    Column("normalised_results_digest", SafeText, nullable=False),
    Column("verdict", SafeText, nullable=False),
    Column("reason", SafeText, nullable=False),
    Column("episodes", BigInteger, nullable=False),
    Column("unassessed", BigInteger, nullable=False),
    Column("partial", Boolean, nullable=False),
    Column("calibration_median", Double),
    Column("tool_version", SafeText, nullable=False),
    Column("restored", Boolean, nullable=False),
)


def _of_run(name: str, *columns: Column[Any]) -> Table:
    """A table of what a run holds several of, in the order of its ids."""
    return Table(
        name,
        METADATA,
        Column("id", Integer, primary_key=True),
        Column("run_id", SafeText, ForeignKey(RUNS.c.run_id, ondelete="CASCADE"), nullable=False, index=True),
        *columns,
    )


REASONS = _of_run("litmus_reasons", Column("code", SafeText, nullable=False))
TALLIES = _of_run(
    "litmus_tallies",
    Column("category", SafeText),  # null: over all categories
    Column("metric", SafeText, nullable=False),
    Column("good", BigInteger, nullable=False),
    Column("bad", BigInteger, nullable=False),
    Column("unknown", BigInteger, nullable=False),
)
CELLS = _of_run(
    "litmus_cells", Column("cell", SafeText, nullable=False), Column("episodes", BigInteger, nullable=False)
)
ESTIMATES = _of_run(
    "litmus_estimates",
    Column("metric", SafeText, nullable=False),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    Column("n", BigInteger, nullable=False),
    Column("eligible", BigInteger, nullable=False),
    Column("unassessed", BigInteger, nullable=False),
    Column("method", SafeText, nullable=False),
)
SKETCHES = Table(
    "litmus_sketches",
    METADATA,
    Column("run_id", SafeText, ForeignKey(RUNS.c.run_id, ondelete="CASCADE"), primary_key=True),
    Column("responses", Text, nullable=False),  # JSON: it is read whole or not at all
    Column("tokens", Text, nullable=False, server_default="[]"),  # JSON list
)
ORIGIN = Table(
    "litmus_origin",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("stamp", SafeText, nullable=False),
)
DRILLS = Table(
    "litmus_drills",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("suite_digest", SafeText, nullable=False, index=True),
    Column("tool_version", SafeText, nullable=False),
    Column("faults", BigInteger, nullable=False),
    Column("detected", BigInteger, nullable=False),
    Column("missed", Text, nullable=False),  # JSON list of names
    Column("honest", BigInteger, nullable=False),
    Column("false_alarms", BigInteger, nullable=False),
    Column("restored", Boolean, nullable=False),
)
