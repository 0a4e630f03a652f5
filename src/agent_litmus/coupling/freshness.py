"""Freshness, the proof: this session's own tokens come back from the far end of the chain.

The fault this is about: a cache between gateway and model, keyed by probe and turn, answers with what it recorded
in an earlier run. Agent and tool server are live, so this session's tokens stand in every model *request* and in
the tools' results; only the *responses* are old. "Own tokens were seen in model requests" is therefore no proof of
freshness; it proves the agent side alone. Doubts are the business of the sibling findings ``stale_tokens`` and
``session_reuse``, so that an honest model that miscopies now and then keeps its proof.
"""

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.receipts import varying
from agent_litmus.coupling.tokens import TokenView, token_views
from agent_litmus.records.finding import Finding, FindingState, Obligation

SIGNAL = "freshness"
OWN_SHARE = 0.5
"""Least share of token-bearing sessions whose own tokens come back. An honest small model that miscopies in 30 % of
its sessions stays well above it, a replay is at 0."""
MIN_RETURNED = 5
"""Least number of sessions with a returned token, or all of them where fewer were planned."""
_PAST_THE_GATEWAY = (
    "let the agent reach its model at OPENAI_BASE_URL; if it has none, leave [agent.model] out of the configuration"
)
_REMEDY = (
    "put {{token.x}} where the task makes the agent repeat it, and switch off every response cache between gateway "
    "and model"
)


def freshness(evidence: RunEvidence) -> Finding:
    """Own tokens returned by the far end in enough sessions; or, for agents that never echo, two half proofs.

    A model that is declared and never called is a far end that nobody saw: its agent went past the gateway, or fell
    back on something that is not what will ship.

    An agent that never repeats a token can still be fresh. Then own tokens in requests or effects prove the agent
    side, and responses that vary over seeds rule out one recorded answer per prompt. Either alone is not enough:
    the first passes a cache behind the gateway, the second passes a replay of a whole earlier run.
    """
    if evidence.calls_model and not any(s.model_calls for s in evidence.sessions):
        model = evidence.build.model.get("id")
        seen = f"the agent declares the model {model!a}, but no call to one passed the gateway"
        return _missing(seen, 0.0, _PAST_THE_GATEWAY)
    views = token_views(evidence)
    returned, bearing = sum(v.returned for v in views), sum(v.bearing for v in views)
    share = returned / bearing if bearing else 0.0
    needed = min(MIN_RETURNED, len(evidence.plan.episodes))
    seen = f"own tokens came back in {returned} of {bearing} token-bearing sessions"
    if 0 < needed <= returned and share >= OWN_SHARE:
        return _clear(seen, share)
    if bearing and share < OWN_SHARE:
        return _missing(f"{seen}; the rest carried tokens that were given to nobody", share)
    return _without_echo(evidence, views, seen)


def _without_echo(evidence: RunEvidence, views: tuple[TokenView, ...], seen: str) -> Finding:
    agent_side = sum(v.agent_side for v in views) / len(views) if views else 0.0
    varied, groups = varying(evidence)
    live = f"own tokens in requests or effects of {agent_side:.1%} of sessions"
    if agent_side >= OWN_SHARE and varied:
        return _clear(f"{live}, and model responses vary over seeds in {varied} of {groups} probes", agent_side)
    if not agent_side:
        return _missing(f"{seen}, and none was seen in requests, effects or answers", 0.0)
    return _missing(f"{seen}; {live}, but model responses were not seen to vary over seeds", agent_side)


def _clear(seen: str, share: float) -> Finding:
    return Finding(
        SIGNAL, FindingState.CLEAR, seen, number=share, limit=OWN_SHARE, discharges=(Obligation.FRESHNESS,)
    )


def _missing(seen: str, share: float, remedy: str = _REMEDY) -> Finding:
    return Finding(SIGNAL, FindingState.MISSING, seen, number=share, limit=OWN_SHARE, remedy=remedy)
