"""The big table's cells: fault, agent and size, how many runs each is to have, and which run is made next."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import agent_litmus
from agent_litmus.drill.faults import ALL, PARTIAL, Fault
from agent_litmus.drill.outcome import HONEST
from agent_litmus.drill.range import KINDS

_MODEL_FAULTS = frozenset({"response-cache", "response-cache-cold", "response-cache-slow", "response-replay"})
_QUIET, _MODEL = "saturated", "model"


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """What is run again and again."""

    name: str
    """A fault's name, or :data:`~agent_litmus.drill.outcome.HONEST`."""
    kind: str
    """The range's agent."""
    size: int
    """Scored episodes of a run."""


def agents_of(fault: Fault) -> tuple[str, ...]:
    """Agents of the range that a fault is tried on: what answers for a model needs one; partial coupling both."""
    if fault.name in _MODEL_FAULTS:
        return (_MODEL,)
    if fault in PARTIAL:
        return (_QUIET, _MODEL)
    return (_QUIET,)


def wanted_cells(sizes: Mapping[int, int], names: Iterable[str] = ()) -> dict[Cell, int]:
    """Every cell with its number of runs.

    Args:
        sizes: Size to runs of every fault; honest runs are as many in all, shared by the kinds of agent.
        names: Only these faults (and ``honest``); none: all.
    """
    only = frozenset(names)
    cells: dict[Cell, int] = {}
    for size, runs in sizes.items():
        for kind in KINDS:
            cells[Cell(HONEST, kind, size)] = -(-runs // len(KINDS))
        for fault in ALL:
            for kind in agents_of(fault):
                cells[Cell(fault.name, kind, size)] = -(-runs // len(agents_of(fault)))
    return {cell: runs for cell, runs in cells.items() if not only or cell.name in only}


def next_cell(wanted: Mapping[Cell, int], made: Counter[Cell]) -> Cell | None:
    """The cell that is furthest behind, so that a table that is cut short is balanced; ``None``: all are full."""
    behind = [(made[cell] / runs, order, cell) for order, (cell, runs) in enumerate(wanted.items()) if runs]
    share, _, cell = min(behind, default=(1.0, 0, None))
    return cell if share < 1.0 else None


def source_digest() -> str:
    """Digest of this program's own source: runs of another one are not put into the same table."""
    root = Path(agent_litmus.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
