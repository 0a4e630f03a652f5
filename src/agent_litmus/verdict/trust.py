"""What findings and obligations say about the harness, as reasons."""

from collections.abc import Iterator, Mapping, Sequence

from agent_litmus.records.finding import (
    Finding,
    FindingState,
    Obligation,
    ObligationStatus,
    Strength,
)
from agent_litmus.records.verdict import Reason, ReasonCode
from agent_litmus.verdict.defects import finite
from agent_litmus.verdict.holm import holm_rejects

STRONG_TESTS = (
    "stale_tokens",
    "borrowed_tokens",
    "fixture_pinning",
    "missing_effects",
    "session_reuse",
    "leak_pairs",
    "context_growth",
    "carry_over",
    "seed_invariance",
)
"""Signals that can raise a strong alarm."""
STRONG_FAMILY = len(STRONG_TESTS)
"""Strong tests a run can make; the fixed family of the Holm correction."""

FAMILIES: Mapping[str, str] = {
    "stale_tokens": "responses",
    "borrowed_tokens": "responses",
    "stale_report": "responses",
    "fixture_pinning": "responses",
    "receipts": "responses",
    "seed_invariance": "responses",
    "freshness": "responses",
    "session_reuse": "sessions",
    "isolation": "sessions",
    "leak_pairs": "sessions",
    "context_growth": "sessions",
    "carry_over": "sessions",
    "delivery": "effects",
    "missing_effects": "effects",
    "effects": "effects",
    "watermarks": "effects",
}
"""Signals that read the same evidence are one family; every other signal is its own."""

_RESTING = frozenset({Obligation.IDENTITY, Obligation.FRESHNESS, Obligation.DELIVERY})
_SETTLED = frozenset({FindingState.CLEAR, FindingState.NOT_APPLICABLE})
_NO_REMEDY = "judge the run again with all findings"


def desync(findings: Sequence[Finding], alpha: float) -> Iterator[Reason]:
    """Rule 4: exact alarms, and strong alarms that survive Holm. One without a declared strength is exact."""
    counting = set(_surviving(findings, alpha))
    for index, finding in enumerate(findings):
        if index in counting:
            yield Reason(ReasonCode.DESYNC, f"{finding.signal}: {finding.seen}", finding.remedy)


def _surviving(findings: Sequence[Finding], alpha: float) -> Iterator[int]:
    alarms = [i for i, f in enumerate(findings) if f.state is FindingState.ALARM]
    strong = [i for i in alarms if findings[i].strength is Strength.STRONG]
    p_values = [0.0 if (p := findings[i].p_value) is None else p for i in strong]
    rejected = holm_rejects(p_values, alpha, STRONG_FAMILY)
    yield from (i for i in alarms if findings[i].strength is not Strength.STRONG)
    yield from (i for i, counts in zip(strong, rejected, strict=True) if counts)


def unproven(findings: Sequence[Finding], statuses: Sequence[ObligationStatus]) -> Iterator[Reason]:
    """Rule 5: every obligation that is not discharged, each with its remedy."""
    for obligation in Obligation:
        if not discharged(obligation, findings, statuses):
            remedy = "; ".join(s.remedy for s in statuses if s.obligation is obligation and s.remedy)
            yield Reason(ReasonCode.UNPROVEN, f"{obligation} is not proven", remedy or _NO_REMEDY)


def discharged(obligation: Obligation, findings: Sequence[Finding], statuses: Sequence[ObligationStatus]) -> bool:
    """Whether every status of the obligation says so, and each rests on a finding that really discharges it.

    The claim is checked against the findings, because a status without them is an assertion, not a proof.
    """
    own = [s for s in statuses if s.obligation is obligation]
    return bool(own) and all(s.discharged and _supports(s, findings, _SETTLED) for s in own)


def _supports(status: ObligationStatus, findings: Sequence[Finding], states: frozenset[FindingState]) -> bool:
    return any(f.signal in status.by and f.state in states and status.obligation in f.discharges for f in findings)


def weak_signals(findings: Sequence[Finding], alpha: float) -> tuple[Finding, ...]:
    """WEAK findings, and strong alarms that did not survive Holm."""
    counting = set(_surviving(findings, alpha))
    return tuple(
        f
        for i, f in enumerate(findings)
        if f.state is FindingState.WEAK or (f.state is FindingState.ALARM and i not in counting)
    )


def weak_desync(
    findings: Sequence[Finding], statuses: Sequence[ObligationStatus], alpha: float
) -> Iterator[Reason]:
    """Rule 6: two weak families turn the verdict only where identity, freshness or delivery rests on no proof."""
    families = sorted({FAMILIES.get(f.signal, f.signal) for f in weak_signals(findings, alpha)})
    clear = frozenset({FindingState.CLEAR})
    resting = sorted(
        o for o in _RESTING if not any(s.obligation is o and _supports(s, findings, clear) for s in statuses)
    )
    if len(families) >= 2 and resting:
        text = f"weak signals from {', '.join(families)} while {', '.join(resting)} rests on no proof"
        yield Reason(ReasonCode.DESYNC, text, "prove the named obligations, or remove what the signals point at")


def finding_defects(findings: Sequence[Finding]) -> Iterator[str]:
    """Findings whose state is none, whose numbers are not numbers or whose p-value is no probability."""
    for finding in findings:
        if all(finding.state is not state for state in FindingState):
            yield f"finding {finding.signal} has no known state"
        if not finite((finding.number, finding.limit, finding.p_value)):
            yield f"finding {finding.signal} holds something that is not a number"
        elif finding.p_value is not None and not 0 <= finding.p_value <= 1:
            yield f"the p-value of finding {finding.signal} is not in [0, 1]"


def warnings(findings: Sequence[Finding], alpha: float) -> tuple[str, ...]:
    """Sentences about what does not decide but must be seen: weak signals and what could not be looked at."""
    weak = [f"weak: {f.signal}: {f.seen}" for f in weak_signals(findings, alpha)]
    dark = {FindingState.MISSING, FindingState.UNDERPOWERED}
    return (*weak, *(f"{f.state}: {f.signal}: {f.seen}" for f in findings if f.state in dark))
