"""Findings about the harness, and the obligations that proofs discharge."""

from dataclasses import dataclass
from enum import StrEnum


class FindingState(StrEnum):
    """State of a signal. Missing, NaN and empty evidence are never clear."""

    CLEAR = "clear"
    ALARM = "alarm"
    WEAK = "weak"
    NOT_APPLICABLE = "not_applicable"
    MISSING = "missing"
    UNDERPOWERED = "underpowered"


class Strength(StrEnum):
    """How much an alarm is worth."""

    EXACT = "exact"
    """Cannot happen on a coupled harness."""
    STRONG = "strong"
    """A statistical test; alarms count after Holm at alpha = 0.01."""
    WEAK = "weak"


class Obligation(StrEnum):
    """What a PASS must have proven."""

    IDENTITY = "identity"
    FRESHNESS = "freshness"
    DELIVERY = "delivery"
    ISOLATION = "isolation"
    EFFECTS = "effects"
    ACCOUNTING = "accounting"
    REPLICATION = "replication"


@dataclass(frozen=True, slots=True)
class Finding:
    """One signal's reading: what was seen, the number, the limit, what to do."""

    signal: str
    """Stable name, e.g. ``binding``."""
    state: FindingState
    seen: str
    """What was seen, one sentence."""
    strength: Strength = Strength.WEAK
    number: float | None = None
    limit: float | None = None
    p_value: float | None = None
    """For strong alarms: the p-value that enters the Holm correction."""
    remedy: str = ""
    discharges: tuple[Obligation, ...] = ()
    """Obligations this finding proves (only when ``CLEAR``)."""


@dataclass(frozen=True, slots=True)
class ObligationStatus:
    """Whether an obligation is discharged, by what, or what would discharge it."""

    obligation: Obligation
    discharged: bool
    by: tuple[str, ...] = ()
    remedy: str = ""
