"""Receipts: what the gateway saw the model say, compared over seeds."""

from itertools import combinations

from agent_litmus.coupling.evidence import RunEvidence, multi_seed
from agent_litmus.records.finding import Finding, FindingState
from agent_litmus.records.session import SessionRecord

SIGNAL = "receipts"


def receipts(evidence: RunEvidence) -> Finding:
    """Whether model responses vary over seeds.

    Identical responses everywhere are WEAK only: an agent that asks its model for one word gets the same word
    honestly. Varying responses rule out a cache keyed by the prompt; they do not rule out a replay that knows the
    seed, so they discharge nothing alone (see :mod:`agent_litmus.coupling.freshness`).
    """
    if evidence.deterministic:
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "responses are declared deterministic")
    if not evidence.build.model.get("id") and not any(s.model_calls for s in evidence.sessions):
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "the agent declares no model, and none was called")
    if not any(s.model_calls for s in evidence.sessions):
        return Finding(SIGNAL, FindingState.MISSING, "no model call passed the gateway")
    varied, groups = varying(evidence)
    if not groups:
        return Finding(
            SIGNAL,
            FindingState.MISSING,
            "no probe has successful model calls under two seeds",
            remedy="run with at least two seeds: --seeds 2",
        )
    seen = f"model responses vary over seeds in {varied} of {groups} probes"
    state = FindingState.CLEAR if varied else FindingState.WEAK
    remedy = "" if varied else "switch off every response cache between gateway and model"
    return Finding(SIGNAL, state, seen, number=float(varied), limit=1.0, remedy=remedy)


def varying(evidence: RunEvidence) -> tuple[int, int]:
    """Groups whose responses vary over seeds, and groups that can be compared at all."""
    usable = [[s for s in group if _said(s)] for group in multi_seed(evidence.sessions)]
    usable = [group for group in usable if len({s.key.seed for s in group}) > 1]
    return sum(map(_varies, usable)), len(usable)


def _varies(group: list[SessionRecord]) -> bool:
    """Whether two replicates each got a response that the other never got.

    Both ways round, because a replicate that was cut short lacks responses without any of them being different.
    """
    pairs = combinations([(s.key.seed, _said(s)) for s in group], 2)
    return any(a[0] != b[0] and a[1] - b[1] and b[1] - a[1] for a, b in pairs)


def _said(session: SessionRecord) -> frozenset[str]:
    """Digests of what the model said; failed calls said nothing."""
    return frozenset(
        c.response_digest
        for c in session.model_calls
        if 200 <= c.status < 300 and not c.error and c.response_digest
    )
