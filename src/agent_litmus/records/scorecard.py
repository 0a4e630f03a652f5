"""The numbers of a scored run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_litmus.records.episode import Cell, Overlay


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval.

    ``value``, ``low`` and ``high`` are in [0, 1] (differences in [-1, 1]), or ``None`` where the eligible set
    is empty. ``n`` assessed episodes, ``eligible`` episodes the figure is about, ``unassessed`` the rest.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    eligible: int
    unassessed: int
    method: str
    """How the interval was made, e.g. ``two-way clustered t + effective-n Clopper-Pearson``; may end in
    ``; underpowered``."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a gated metric over its eligible episodes: good, bad, unknown."""

    good: int
    bad: int
    unknown: int

    @property
    def worst(self) -> float:
        """Share good if every unknown were bad; 0 for an empty set, which never passes."""
        total = self.good + self.bad + self.unknown
        return self.good / total if total else 0.0

    @property
    def best(self) -> float:
        """Share good if every unknown were good; 0 for an empty set."""
        total = self.good + self.bad + self.unknown
        return (self.good + self.unknown) / total if total else 0.0

    @property
    def assessed(self) -> float | None:
        """Share good of what could be assessed; ``None`` if nothing could."""
        total = self.good + self.bad
        return self.good / total if total else None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Everything scoring says about a set of episodes of one agent."""

    agent_digest: str
    episodes: int
    unassessed: int
    """Episodes with an unassessed axis."""
    estimates: Mapping[str, Estimate]
    """Keys: ``u0 u1 ir asr sr dr cor`` and the diagnostics ``ir_delivered asr_delivered sr_delivered delivery
    baseline_over_refusal asr_litmus ehr``."""
    tallies: Mapping[str, Tally]
    """Keys: ``u0 u1 ir sr dr`` over their eligible episodes, for the gate."""
    cells: Mapping[Cell, int]
    overlays: Mapping[Overlay, tuple[str, ...]] = field(default_factory=dict)
    """Overlay to the episode keys that carry it."""
    by_category: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)
    """Injection category to tallies of ``ir`` and ``sr``."""
    ledger: Mapping[str, float] = field(default_factory=dict)
    """Paired contamination ledger: ``u0_paired u1_paired refused failed partial``; adds up exactly."""
    quadrants: Mapping[str, int] = field(default_factory=dict)
    """LITMUS quadrants ``spsr sosr posr spfr``."""
    validity: tuple[str, ...] = ()
    """Flags such as ``route_to_capability``; policy decides what they mean."""
    proven: str = "unknown"
    """``unknown`` until the verdict fills it."""
