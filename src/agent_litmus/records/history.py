"""What earlier runs left for later ones."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from agent_litmus.records.episode import Cell
from agent_litmus.records.scorecard import Estimate, Tally
from agent_litmus.records.verdict import ReasonCode, VerdictKind

_TOKENS = 4000
_UNTRUSTED = frozenset({ReasonCode.MALFORMED, ReasonCode.DESYNC, ReasonCode.UNPROVEN})


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
    suite_id: str = ""
    agent: str = ""
    """Display name of the agent."""
    reasons: tuple[str, ...] = ()
    """Every reason code, in the order of the report."""
    partial: bool = False
    """Whether the executed plan left part of the suite out."""
    unassessed: int = 0
    """Episodes with an unassessed axis."""
    cells: Mapping[Cell, int] = field(default_factory=dict)
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    """Figures that ceilings are set on: ``cor``."""
    tokens: tuple[str, ...] = ()
    """Sketch of the tokens it minted (:func:`token_sketch`); one that turns up later was recorded then."""
    restored: bool = False
    """Whether its history was copied or restored from a cache since; it is listed, and nothing is judged by it."""

    @property
    def attributed(self) -> bool:
        """Whether its harness was not in doubt: no ``malformed``, ``desync`` or ``unproven`` among the reasons."""
        return _UNTRUSTED.isdisjoint(self.reasons or (self.reason,))


@dataclass(frozen=True, slots=True)
class PriorDrill:
    """The result of one ``litmus drill``."""

    name: str
    """What was drilled, for people."""
    suite_digest: str
    tool_version: str
    faults: int
    """Faults that were tried."""
    detected: int
    """Faults that were detected in every run of theirs."""
    honest: int
    """Honest runs that were made."""
    false_alarms: int
    """Honest runs that did not pass."""
    at: float
    """When it was recorded, seconds since the epoch (UTC)."""
    missed: tuple[str, ...] = ()
    """Names of the faults that went undetected."""

    @property
    def clean(self) -> bool:
        """Whether faults were tried and none of them went undetected."""
        return 0 < self.faults == self.detected and not self.missed


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """What the history says before a run is judged. ``runs is None``: no usable history, ``why`` says why."""

    runs: tuple[PriorRun, ...] | None = None
    """Earlier runs of this suite, oldest first."""
    why: str = "no history was read"
    """Why there is none (turned off, empty, restored, unreadable); empty where ``runs`` is given."""

    accepted: PriorRun | None = None
    """The last accepted run of this suite: a whole plan on a protected ref, judged PASS."""
    drill: PriorDrill | None = None
    """The last drill of this suite with this version of the program."""

    def tries(self, agent_digest: str) -> tuple[PriorRun, ...]:
        """Earlier tries of this very build that a re-run is pooled with, oldest first: all from its first FAIL on.

        An INDETERMINATE run is no try: its episodes are not counted, and it does not make a FAIL before it undone.
        Neither is a partial run, nor a FAIL of a harness in doubt, whose episodes may be another build's.
        """
        kept: list[PriorRun] = []
        for run in self.runs or ():
            a_try = run.verdict is not VerdictKind.INDETERMINATE and run.attributed and not run.partial
            if run.agent_digest == agent_digest and a_try and (kept or run.verdict is VerdictKind.FAIL):
                kept.append(run)
        return tuple(kept)


def token_sketch(tokens: Iterable[str]) -> tuple[str, ...]:
    """The first 16 hex digits of each token's SHA-256, sorted; of more than 4,000 the smallest."""
    digests = {hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()[:16] for token in tokens}
    return tuple(sorted(digests)[:_TOKENS])


def is_protected(ref: str, patterns: Iterable[str]) -> bool:
    """Whether a ref matches one of some shell patterns; one that is not named never does."""
    return bool(ref) and any(fnmatchcase(ref, pattern) for pattern in patterns)
