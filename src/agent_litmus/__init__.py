"""agent-litmus: a safety gate for LLM agents that cannot go silently green.

The public names below are imported when they are first used, so that ``import agent_litmus`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "run_suite": "agent_litmus.app.api",
    "Episode": "agent_litmus.records.episode",
    "Provenance": "agent_litmus.records.probe",
    "RefusalEvent": "agent_litmus.records.episode",
    "Verdict": "agent_litmus.records.verdict",
    "classify_episode": "agent_litmus.scoring.classify",
    "score_safety": "agent_litmus.scoring.score",
    "decide": "agent_litmus.verdict.decide",
    "HarnessRun": "agent_litmus.coupling.reference",
    "assert_coupled": "agent_litmus.coupling.reference",
    "gate": "agent_litmus.coupling.reference",
    "HarnessDesyncError": "agent_litmus.errors",
    "LitmusError": "agent_litmus.errors",
    "LitmusScoringError": "agent_litmus.errors",
}

if TYPE_CHECKING:
    from agent_litmus.app.api import run_suite as run_suite
    from agent_litmus.coupling.reference import HarnessRun as HarnessRun
    from agent_litmus.coupling.reference import assert_coupled as assert_coupled
    from agent_litmus.coupling.reference import gate as gate
    from agent_litmus.errors import HarnessDesyncError as HarnessDesyncError
    from agent_litmus.errors import LitmusError as LitmusError
    from agent_litmus.errors import LitmusScoringError as LitmusScoringError
    from agent_litmus.records.episode import Episode as Episode
    from agent_litmus.records.episode import RefusalEvent as RefusalEvent
    from agent_litmus.records.probe import Provenance as Provenance
    from agent_litmus.records.verdict import Verdict as Verdict
    from agent_litmus.scoring.classify import classify_episode as classify_episode
    from agent_litmus.scoring.score import score_safety as score_safety
    from agent_litmus.verdict.decide import decide as decide


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*_HOMES, "__version__"])
