"""The seams of the pipeline: where a drill puts a fault, and where nothing else does.

Each seam is given the real part and gives back the part that is used. The default gives back what it was given, so
an ordinary run is the pipeline with nothing between its parts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from agent_litmus.app.judge import Measured
from agent_litmus.app.world import Prepared, prepare
from agent_litmus.records.config import Config
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.report import Report
from agent_litmus.run.context import RunContext
from agent_litmus.run.engine import SessionRunner

T = TypeVar("T")


def untouched(part: T) -> T:
    """The part itself."""
    return part


@dataclass(frozen=True, slots=True)
class Seams:
    """What stands between the parts of a run."""

    prepare: Callable[[Config], Prepared] = prepare
    """What makes the fixed parts; a drill of many runs makes suite, build and snapshot once."""
    prepared: Callable[[Prepared], Prepared] = untouched
    """Suite, build, snapshot, provider, target; before the plan is made."""
    context: Callable[[RunContext], RunContext] = untouched
    """What the sessions share: provider, target, gateway; before the first session."""
    runner: Callable[[SessionRunner], SessionRunner] = untouched
    """What runs one session and gives its record."""
    history: Callable[[HistoryFacts], HistoryFacts] = untouched
    """What earlier runs left; a drill's runs have a history of their own, made of the drill's earlier runs."""
    measured: Callable[[Measured], Measured] = untouched
    """What was measured; before it is judged."""
    report: Callable[[Report], Report] = untouched
    """The report; before it is written."""


HONEST = Seams()
"""Nothing between the parts."""
