"""Leaves a drill's result where a gate that asks for one finds it."""

import json
import time

from agent_litmus.drill.campaign import DrillResult
from agent_litmus.drill.show import drill_document
from agent_litmus.errors import LitmusError
from agent_litmus.formats.json_report import write_whole
from agent_litmus.history.store import open_history
from agent_litmus.records.config import Config
from agent_litmus.records.history import PriorDrill


def prior_drill(result: DrillResult, at: float) -> PriorDrill:
    """The result as the history keeps it; a drill that shows nothing detected nothing."""
    tried = [row for row in result.faults if row.runs]
    detected = 0 if result.unproven else sum(not row.missed for row in tried)
    return PriorDrill(
        name=result.agent,
        suite_digest=result.suite_digest,
        tool_version=result.tool_version,
        faults=len(tried),
        detected=detected,
        honest=result.honest.runs,
        false_alarms=result.honest.indeterminate,
        at=at,
        missed=result.missed,
    )


def remember(config: Config, result: DrillResult, *, whole: bool) -> str:
    """Write ``drill.json`` (``drill-part.json`` for a drill of some faults) and tell the history.

    Args:
        config: Says where.
        result: What was found.
        whole: Whether every fault and mutant was meant; a drill of some of them vouches for nothing.

    Returns:
        Why the history could not be told; empty if it was.
    """
    config.run.output.mkdir(parents=True, exist_ok=True)
    document = json.dumps(drill_document(result), indent=2, sort_keys=True).encode()
    name = "drill.json" if whole else "drill-part.json"
    write_whole(config.run.output / name, document + b"\n")
    if not whole:
        return "this drill was not of every fault and mutant, so it does not count for gate.require_drill"
    if not config.history.enabled:
        return "the history is turned off, so gate.require_drill cannot see this drill"
    try:
        open_history(config).record_drill(prior_drill(result, time.time()))
    except LitmusError as error:
        return f"the history could not be told of this drill: {error.message}"
    return ""
