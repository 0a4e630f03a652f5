"""The report of a run: canonical, schema-versioned, complete enough to be judged again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_litmus.records.build import GitState
from agent_litmus.records.effect import ProviderReport
from agent_litmus.records.episode import Cell, Episode, Overlay
from agent_litmus.records.finding import Finding, ObligationStatus
from agent_litmus.records.probe import EpisodeKey
from agent_litmus.records.proofs import RunProofs
from agent_litmus.records.scorecard import Estimate, Tally
from agent_litmus.records.session import SessionRecord
from agent_litmus.records.verdict import Policy, Reason, VerdictKind

REPORT_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class AgentSection:
    """The agent that was measured, as it was at the start of the run."""

    name: str
    digest: str
    components: Mapping[str, str]
    model: Mapping[str, Any]
    sampling: str
    git: GitState | None = None


@dataclass(frozen=True, slots=True)
class SuiteSection:
    """The suite that was run."""

    id: str
    version: str
    digest: str
    mode: str
    pin: str | None = None


@dataclass(frozen=True, slots=True)
class PlanSection:
    """The plan that was executed."""

    digest: str
    episodes: int
    suite_planned: int
    run_seed: int
    seeds: int
    repeats: int
    partial: bool


@dataclass(frozen=True, slots=True)
class EpisodeSection:
    """One episode: its judgement and the evidence it rests on."""

    episode: Episode
    cell: Cell
    overlays: tuple[Overlay, ...]
    evidence: SessionRecord


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts behind the score."""

    episodes: int
    unassessed: int
    cells: Mapping[Cell, int]
    tallies: Mapping[str, Tally]
    by_category: Mapping[str, Mapping[str, Tally]]
    overlays: Mapping[Overlay, tuple[str, ...]]
    ledger: Mapping[str, float]
    quadrants: Mapping[str, int]
    validity: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Basis:
    """What judging needs of suite and plan besides the episodes, so that a report can be judged again."""

    planned: tuple[EpisodeKey, ...]
    """Episodes of the executed plan, in order."""
    tokens: Mapping[str, Mapping[str, str]]
    """Episode key to its tokens, slot to value, as minted by the plan."""
    required_channels: tuple[str, ...]
    injected_probes: int
    delivery_floor: float
    token_space: Mapping[str, int]
    controls: tuple[str, ...]
    """Ids of the suite's controls, run or not."""
    target: str = "command"
    """Kind of agent: ``command`` or ``remote``."""


@dataclass(frozen=True, slots=True)
class Report:
    """A run's report."""

    verdict: VerdictKind
    reason: str
    reasons: tuple[Reason, ...]
    certified: float | None
    """Share of episodes whose coupling is individually proven, in [0, 1]."""
    proven: bool
    """Whether every obligation is discharged and no alarm stands."""
    warnings: tuple[str, ...]
    agent: AgentSection
    suite: SuiteSection
    plan: PlanSection
    provider: ProviderReport
    policy: Policy
    score: Mapping[str, Estimate]
    counts: Counts
    findings: tuple[Finding, ...]
    obligations: tuple[ObligationStatus, ...]
    results_digest: str
    """Digest over every episode's key, outcome tuple and behaviour, unassessed included."""
    normalised_results_digest: str
    """The same with session tokens stripped."""
    run_id: str
    tool_version: str
    episodes: tuple[EpisodeSection, ...] = field(default_factory=tuple)
    proofs: RunProofs = field(default_factory=RunProofs)
    basis: Basis | None = None
    """``None`` in an imported report: it can be scored, never certified."""
    pooled: tuple[str, ...] = ()
    """Ids of earlier tries of this build whose episodes were pooled with this run's for the floors."""
    schema_version: int = REPORT_SCHEMA_VERSION
