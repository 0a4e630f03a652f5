"""Records as rows of the tables, and back."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, insert, select

from agent_litmus.history.tables import CELLS, DRILLS, ESTIMATES, REASONS, RUNS, SKETCHES, TALLIES
from agent_litmus.records.episode import Cell
from agent_litmus.records.history import PriorDrill, PriorRun
from agent_litmus.records.scorecard import Estimate, Tally
from agent_litmus.records.verdict import VerdictKind

_CHUNK = 500
"""Ids in one statement; databases bound their number."""
_FIGURES = ("value", "low", "high", "n", "eligible", "unassessed", "method")


def insert_run(connection: Connection, run: PriorRun) -> None:
    """Add a run with all that belongs to it."""
    connection.execute(insert(RUNS), {name: getattr(run, name) for name in RUNS.c.keys()})  # noqa: SIM118 - columns
    for table, rows in _parts(run):
        if rows:
            connection.execute(insert(table), [{"run_id": run.run_id, **row} for row in rows])


def delete_runs(connection: Connection, run_ids: Sequence[str]) -> None:
    """Remove runs; what belongs to them goes with them."""
    for ids in _chunks(run_ids):
        connection.execute(delete(RUNS).where(RUNS.c.run_id.in_(ids)))


def read_runs(
    connection: Connection, rows: Sequence[Row[Any]], sketched: Iterable[str] = ()
) -> tuple[PriorRun, ...]:
    """The runs of some rows of `RUNS`, in their order.

    Args:
        connection: Where the rows are from.
        rows: Whole rows.
        sketched: Ids of the runs whose responses are wanted; the others come without.

    Raises:
        ValueError: A row holds what no version of this program writes.
    """
    ids = [row.run_id for row in rows]
    reasons = _grouped(connection, REASONS, ids)
    tallies = _grouped(connection, TALLIES, ids)
    cells = _grouped(connection, CELLS, ids)
    estimates = _grouped(connection, ESTIMATES, ids)
    wanted = set(sketched)
    sketches = _grouped(connection, SKETCHES, [run_id for run_id in ids if run_id in wanted])
    return tuple(
        PriorRun(
            **{**row._mapping, "verdict": VerdictKind(row.verdict)},  # noqa: SLF001 - SQLAlchemy's public name for it
            reasons=tuple(part.code for part in reasons.get(row.run_id, ())),
            tallies={p.metric: _tally(p) for p in tallies.get(row.run_id, ()) if p.category is None},
            by_category=_by_category(tallies.get(row.run_id, ())),
            cells={Cell(part.cell): part.episodes for part in cells.get(row.run_id, ())},
            estimates={p.metric: _estimate(p) for p in estimates.get(row.run_id, ())},
            responses=_responses(sketches.get(row.run_id, ())),
            tokens=_tokens(sketches.get(row.run_id, ())),
        )
        for row in rows
    )


def drill_row(drill: PriorDrill) -> dict[str, Any]:
    """A drill as a row of `DRILLS`."""
    names = [name for name in DRILLS.c.keys() if name not in {"id", "missed", "restored"}]  # noqa: SIM118 - columns
    return {name: getattr(drill, name) for name in names} | {"missed": _json(drill.missed), "restored": False}


def drill_of(row: Row[Any]) -> PriorDrill:
    """The drill of a row.

    Raises:
        ValueError: The row holds what no version of this program writes.
    """
    named = {name: value for name, value in row._mapping.items() if name not in {"id", "restored"}}  # noqa: SLF001 - as above
    missed = json.loads(row.missed)
    if not isinstance(missed, list):
        raise ValueError("the names of missed faults are no list")  # noqa: TRY004 - one kind of error for bad rows
    return PriorDrill(**named | {"missed": tuple(str(name) for name in missed)})


def _parts(run: PriorRun) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    yield REASONS, [{"code": code} for code in run.reasons]
    yield (
        TALLIES,
        [*_tally_rows(None, run.tallies)]
        + [row for category, tallies in run.by_category.items() for row in _tally_rows(category, tallies)],
    )
    yield CELLS, [{"cell": cell.value, "episodes": count} for cell, count in run.cells.items()]
    yield (
        ESTIMATES,
        [
            {"metric": metric, **{figure: getattr(estimate, figure) for figure in _FIGURES}}
            for metric, estimate in run.estimates.items()
        ],
    )
    sketch = {"responses": _json(dict(run.responses)), "tokens": _json(run.tokens)}
    yield SKETCHES, [sketch] if run.responses or run.tokens else []


def _tally_rows(category: str | None, tallies: Mapping[str, Tally]) -> Iterator[dict[str, Any]]:
    for metric, tally in tallies.items():
        yield {
            "category": category,
            "metric": metric,
            "good": tally.good,
            "bad": tally.bad,
            "unknown": tally.unknown,
        }


def _grouped(connection: Connection, table: Table, ids: Sequence[str]) -> dict[str, list[Row[Any]]]:
    groups: dict[str, list[Row[Any]]] = {}
    order = table.c.get("id", table.c.run_id)
    for chunk in _chunks(ids):
        for row in connection.execute(select(table).where(table.c.run_id.in_(chunk)).order_by(order)):
            groups.setdefault(row.run_id, []).append(row)
    return groups


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _CHUNK):
        yield ids[start : start + _CHUNK]


def _tally(row: Row[Any]) -> Tally:
    return Tally(row.good, row.bad, row.unknown)


def _estimate(row: Row[Any]) -> Estimate:
    return Estimate(*(getattr(row, figure) for figure in _FIGURES))


def _by_category(rows: Sequence[Row[Any]]) -> dict[str, dict[str, Tally]]:
    found: dict[str, dict[str, Tally]] = {}
    for row in rows:
        if row.category is not None:
            found.setdefault(row.category, {})[row.metric] = _tally(row)
    return found


def _responses(rows: Sequence[Row[Any]]) -> dict[str, str]:
    found = json.loads(rows[0].responses) if rows else {}
    if not isinstance(found, dict):
        raise ValueError("the responses of a run are no object")  # noqa: TRY004 - one kind of error for bad rows
    return {str(key): str(value) for key, value in found.items()}


def _tokens(rows: Sequence[Row[Any]]) -> tuple[str, ...]:
    found = json.loads(rows[0].tokens) if rows else []
    if not isinstance(found, list):
        raise ValueError("the tokens of a run are no list")  # noqa: TRY004 - one kind of error for bad rows
    return tuple(str(token) for token in found)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
