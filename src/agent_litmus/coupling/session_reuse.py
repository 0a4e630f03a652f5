"""Session reuse: a token minted for one session turns up in the output of another that was never given it."""

from collections import defaultdict
from collections.abc import Iterable

from agent_litmus.coupling.coincidence import chance_of, grade
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.coupling.tokens import TokenView, token_views
from agent_litmus.records.finding import Finding, FindingState

SIGNAL = "session_reuse"


def session_reuse(evidence: RunEvidence) -> Finding:
    """Foreign tokens, weighed against how easily a made-up token hits one by chance.

    Tokens are drawn uniformly without replacement, and an isolated session knows nothing of the others' draws.
    Whatever wrong token it writes, the chance that another session was given that very token is the number of
    tokens minted over the number that exist. For a slot with D distinct made-up tokens of which K hit, the p-value
    is P(X >= K), X ~ Binomial(D, minted / space). Thirty-two hexadecimal digits make any hit impossible by chance
    (exact ALARM); ``OAK-11`` has a few thousand values, where one hit among many miscopies is to be expected.
    An unknown space counts as unguessable. Distinct values, because one favourite mistake must not count twice.
    """
    views = token_views(evidence)
    foreign = [v for v in views if v.foreign]
    if not views or not any(evidence_tokens(evidence)):
        return Finding(SIGNAL, FindingState.MISSING, "the sessions were given no tokens, so a leak would go unseen")
    if not foreign:
        return Finding(
            SIGNAL, FindingState.CLEAR, f"no token of another session in {len(views)} sessions", number=0.0
        )
    p_value = _coincidence(evidence, views)
    state, strength = grade(p_value)
    slot, value = min(foreign[0].foreign)
    first = f"first {foreign[0].key}: {slot} = {value!a}"
    return Finding(
        SIGNAL,
        state,
        f"{len(foreign)} sessions carry tokens minted for other sessions, {first}",
        strength,
        number=float(len(foreign)),
        limit=0.0,
        p_value=p_value,
        remedy="start a new process, workspace and conversation for every session; share no memory between them",
    )


def evidence_tokens(evidence: RunEvidence) -> Iterable[str]:
    """Every token that was minted for the run."""
    return (token for episode in evidence.plan.episodes for token in episode.tokens.values())


def _coincidence(evidence: RunEvidence, views: tuple[TokenView, ...]) -> float:
    """The smallest p-value over slots, times the number of slots tested (Bonferroni)."""
    made_up, hits = defaultdict(set), defaultdict(set)
    for view in views:
        for slot, value in view.stale:
            made_up[slot].add(value)
        for slot, value in view.foreign:
            hits[slot].add(value)
    minted = len(set(evidence_tokens(evidence)))
    values = []
    for slot, hit in hits.items():
        chance = chance_of(minted, evidence.token_space.get(slot, 0))
        values.append(binomial_tail(len(hit), len(made_up[slot]), chance))
    return min(1.0, min(values) * len(values))
