"""Obligations: what a PASS must have proven, and by which finding it was."""

from collections.abc import Iterable, Mapping

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.table import unable
from agent_litmus.records.finding import Finding, FindingState, Obligation, ObligationStatus

PROVERS: Mapping[Obligation, tuple[str, ...]] = {
    Obligation.IDENTITY: ("binding",),
    Obligation.FRESHNESS: ("freshness",),
    Obligation.DELIVERY: ("delivery",),
    Obligation.ISOLATION: ("isolation", "leak_pairs"),
    Obligation.EFFECTS: ("effects", "watermarks"),
    Obligation.ACCOUNTING: ("accounting",),
    Obligation.REPLICATION: ("seed_invariance", "repeats"),
}
"""Signals that can discharge an obligation; any one of them is enough."""

_SETTLED = frozenset({FindingState.CLEAR, FindingState.NOT_APPLICABLE})
_NOT_LOOKED_AT = "no finding speaks to it; judge the run with all findings"


def obligations(findings: Iterable[Finding], evidence: RunEvidence) -> tuple[ObligationStatus, ...]:
    """Every obligation, discharged or with its remedy, in the order of :class:`Obligation`.

    A finding discharges what it names in ``discharges``, and only while it is CLEAR, or NOT_APPLICABLE where the
    suite owes nothing (no injected probes: no delivery). What the provider cannot prove is never discharged.
    """
    known = tuple(findings)
    return tuple(_status(obligation, known, evidence) for obligation in Obligation)


def _status(obligation: Obligation, findings: tuple[Finding, ...], evidence: RunEvidence) -> ObligationStatus:
    barrier = unable(evidence.provider, obligation, evidence.target)
    by = tuple(f.signal for f in findings if f.state in _SETTLED and obligation in f.discharges)
    if by and not barrier:
        return ObligationStatus(obligation, discharged=True, by=by)
    return ObligationStatus(obligation, discharged=False, remedy=_remedy(obligation, findings, barrier))


def _remedy(obligation: Obligation, findings: tuple[Finding, ...], barrier: str) -> str:
    if barrier:
        return f"use the bubblewrap provider: {barrier}"
    open_ones = [f for f in findings if f.signal in PROVERS[obligation] and f.state not in _SETTLED]
    return "; ".join(f"{f.seen}: {f.remedy}" if f.remedy else f.seen for f in open_ones) or _NOT_LOOKED_AT
