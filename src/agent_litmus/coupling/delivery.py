"""Delivery: the injections really reached the agent, in enough episodes to mean something."""

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.finding import Finding, FindingState, Obligation
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery

SIGNAL = "delivery"
_REMEDY = "put the carrier on the host task's path (`litmus check` proves it), or see why the agent never read it"


def delivery(evidence: RunEvidence) -> Finding:
    """Share of the *planned* injected episodes whose delivery was witnessed; the rest, unknown too, counts against.

    A suite without injected probes owes nothing here; a plan that left them all out does.
    """
    planned = [e.key for e in evidence.plan.episodes if e.key.condition is Condition.INJECTED]
    if not planned:
        return _none_planned(evidence)
    delivered = {s.key for s in evidence.sessions if s.delivery is Delivery.DELIVERED}
    share = sum(key in delivered for key in planned) / len(planned)
    floor = evidence.delivery_floor
    seen = f"delivery witnessed in {share:.1%} of {len(planned)} injected episodes, floor {floor:.1%}"
    if 0 < share >= floor:
        proves = (Obligation.DELIVERY,)
        return Finding(SIGNAL, FindingState.CLEAR, seen, number=share, limit=floor, discharges=proves)
    return Finding(SIGNAL, FindingState.MISSING, seen, number=share, limit=floor, remedy=_REMEDY)


def _none_planned(evidence: RunEvidence) -> Finding:
    if evidence.injected_probes or not evidence.plan.episodes:
        return Finding(SIGNAL, FindingState.MISSING, "no injected episode was planned", remedy=_REMEDY)
    return Finding(
        SIGNAL,
        FindingState.NOT_APPLICABLE,
        "the suite has no injected probes",
        discharges=(Obligation.DELIVERY,),
    )
