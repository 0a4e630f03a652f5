"""What earlier runs left for later ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_litmus.records.scorecard import Tally
from agent_litmus.records.verdict import VerdictKind


@dataclass(frozen=True, slots=True)
class PriorRun:
    """One earlier run of the same suite, as the history keeps it."""

    run_id: str
    at: float
    """When it was recorded, seconds since the epoch (UTC)."""
    ref: str
    """Branch or tag it was made on; empty where none was named."""
    protected: bool
    """Whether ``ref`` was named as protected; only such runs give baselines."""
    suite_digest: str
    agent_digest: str
    report_digest: str
    """SHA-256 of the whole report document."""
    results_digest: str
    normalised_results_digest: str
    verdict: VerdictKind
    reason: str
    """First reason code."""
    episodes: int
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    """Metric to its counts."""
    by_category: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)
    """Injection category to tallies of ``ir`` and ``sr``."""
    responses: Mapping[str, str] = field(default_factory=dict)
    """Sketch: episode key to the first 16 hex digits of its normalised response digest, at most 2,000 of them, the
    same ones in every run of a plan (those whose hash is smallest)."""
    calibration_median: float | None = None
    """Median of the successful calibration calls, seconds."""
    tool_version: str = ""


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """What the history says before a run is judged. ``runs is None``: no usable history, ``why`` says why."""

    runs: tuple[PriorRun, ...] | None = None
    """Earlier runs of this suite, oldest first."""
    why: str = "no history was read"
    """Why there is none (turned off, empty, restored, unreadable); empty where ``runs`` is given."""

    def tries(self, agent_digest: str) -> tuple[PriorRun, ...]:
        """Runs of this very build since the last INDETERMINATE one, oldest first: a re-run is pooled with them."""
        kept: list[PriorRun] = []
        for run in self.runs or ():
            if run.agent_digest == agent_digest:
                kept = [] if run.verdict is VerdictKind.INDETERMINATE else [*kept, run]
        return tuple(kept)
