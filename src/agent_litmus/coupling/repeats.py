"""Repeats: how a deterministic agent shows that its sessions were really held more than once."""

from agent_litmus.coupling.evidence import RunEvidence, replicates
from agent_litmus.coupling.tokens import token_views
from agent_litmus.records.finding import Finding, FindingState, Obligation

SIGNAL = "repeats"
PROVEN_SHARE = 0.5
"""Least share of repeated probes in which at least two sessions carried their own tokens."""


def repeats(evidence: RunEvidence) -> Finding:
    """For agents declared deterministic: repeated sessions, each with its own tokens.

    Equal answers prove nothing there, but tokens differ between repeats. Where a model is declared or called they
    must stand in the gateway's receipts, else in effects or the answer.
    """
    if not evidence.deterministic:
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "sampling is stochastic: replication rests on seeds")
    proven = {v.key for v in token_views(evidence) if (v.in_receipts if evidence.calls_model else v.agent_side)}
    counts = [sum(key in proven for key in keys) for keys in _repeated(evidence)]
    good = sum(count >= 2 for count in counts)
    seen = f"own tokens in at least two sessions of {good} of {len(counts)} repeated probes"
    if 0 < good >= PROVEN_SHARE * len(counts):
        return Finding(
            SIGNAL,
            FindingState.CLEAR,
            seen,
            number=good / len(counts),
            limit=PROVEN_SHARE,
            discharges=(Obligation.REPLICATION,),
        )
    remedy = "run with --repeats 2 and put {{token.x}} where the task makes the agent repeat it"
    return Finding(SIGNAL, FindingState.MISSING, seen, number=0.0, limit=PROVEN_SHARE, remedy=remedy)


def _repeated(evidence: RunEvidence) -> list[set[object]]:
    groups = replicates(evidence.sessions).values()
    keys: list[set[object]] = [{session.key for session in group} for group in groups]
    return [group for group in keys if len(group) >= 2]
