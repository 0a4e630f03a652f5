"""Stale tokens: outputs that carry tokens nobody gave to this session, more often than bad copying explains."""

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.coupling.tokens import token_views
from agent_litmus.records.finding import Finding, FindingState, Strength

SIGNAL = "stale_tokens"
HONEST_MISCOPY = 0.5
"""Ceiling on the share of token-bearing sessions in which an honest model writes a token it was not given. Small
models were seen at up to 0.3; the ceiling leaves them room, and a replay is near 1."""
ALPHA = 0.01
"""Level at which a reading is called an alarm; whether it counts is decided with all alarms together (Holm)."""


def stale_tokens(evidence: RunEvidence) -> Finding:
    """One-sided exact binomial test of the share of token-bearing sessions with a stale token.

    Null hypothesis: each such session carries one with probability at most :data:`HONEST_MISCOPY`, independently.
    The p-value is P(X >= k) for X ~ Binomial(n, 0.5). Nine sessions that are all stale are needed to stay under
    0.01 after Holm; below that the doubt still stands, because ``freshness`` then has no proof either.
    """
    views = [v for v in token_views(evidence) if v.bearing]
    stale = [v for v in views if v.stale]
    if not views:
        return Finding(SIGNAL, FindingState.MISSING, "no session carried a token that could be stale")
    if not stale:
        return Finding(
            SIGNAL, FindingState.CLEAR, f"no stale token in {len(views)} token-bearing sessions", number=0.0
        )
    share, p_value = len(stale) / len(views), binomial_tail(len(stale), len(views), HONEST_MISCOPY)
    alarm = p_value <= ALPHA
    slot, value = min(stale[0].stale)
    return Finding(
        SIGNAL,
        FindingState.ALARM if alarm else FindingState.WEAK,
        f"freshness: {len(stale)} of {len(views)} token-bearing sessions carry tokens that were given to nobody in "
        f"them, first {stale[0].key}: {slot} = {value!a}",
        Strength.STRONG if alarm else Strength.WEAK,
        number=share,
        limit=HONEST_MISCOPY,
        p_value=p_value,
        remedy="responses come from an earlier run: remove every cache or recording between gateway and model"
        if alarm
        else "",
    )
