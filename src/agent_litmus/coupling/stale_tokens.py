"""Stale tokens: outputs that carry tokens nobody gave to this session, more often than bad copying explains."""

from collections.abc import Sequence

from agent_litmus.coupling.coincidence import ALPHA, EXACT_BELOW
from agent_litmus.coupling.evidence import RunEvidence, replicates
from agent_litmus.coupling.recordings import recorded
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.coupling.tokens import TokenView, token_views
from agent_litmus.records.finding import Finding, FindingState, Strength

SIGNAL = "stale_tokens"
HONEST_MISCOPY = 0.5
"""Ceiling on the share of token-bearing sessions in which an honest model writes a token it was not given in place
of its own. Small models may do so in up to three of ten; the ceiling leaves them room, and a replay of everything
is near 1."""
HONEST_SAME_MISTAKE = 0.2
"""Ceiling on the chance that an honest model, wrong twice on one probe, is wrong with the very same token, although
the two sessions were given different ones. A recording keyed by the probe is at 1."""
_REMEDY = "responses come from an earlier run: remove every cache or recording between gateway and model"


def stale_tokens(evidence: RunEvidence) -> Finding:
    """Two or three one-sided exact binomial tests; the smallest p-value times their number counts (Bonferroni).

    How often: of n token-bearing sessions, k carry a stale token where none of their own stands; p = P(X >= k),
    X ~ Binomial(n, 0.5). This finds a replay of the whole run. How alike: of m probes with stale tokens in two
    sessions, j have the same one in both; p = P(X >= j), X ~ Binomial(m, 0.2). This finds a replay of *some*
    answers, which hides among miscopies in the
    first. Where from, if the history knows the tokens of earlier runs: :func:`~.recordings.recorded`. It finds
    single answers of a recorded run, and is exact where the coincidence is beyond one in a million. Twelve stale
    sessions, five probes that repeat themselves or two tokens of one earlier run survive the correction for all
    alarms; below that the doubt is WEAK, and ``freshness`` decides whether there is a proof against it.
    """
    views = [v for v in token_views(evidence) if v.bearing]
    stale = [v for v in views if v.stale]
    if not views:
        return Finding(SIGNAL, FindingState.MISSING, "no session carried a token that could be stale")
    if not stale:
        return Finding(
            SIGNAL, FindingState.CLEAR, f"no stale token in {len(views)} token-bearing sessions", number=0.0
        )
    same, twice = _same_mistakes(evidence, stale)
    found = recorded(evidence, stale)
    chances = [
        binomial_tail(sum(v.displaced for v in stale), len(views), HONEST_MISCOPY),
        binomial_tail(same, twice, HONEST_SAME_MISTAKE),
    ]
    chances += [found.chance] if found else []
    p_value = min(1.0, len(chances) * min(chances))
    certain = found is not None and len(chances) * found.chance <= EXACT_BELOW
    alarm = p_value <= ALPHA
    return Finding(
        SIGNAL,
        FindingState.ALARM if alarm else FindingState.WEAK,
        _sentence(stale, len(views), same, twice) + (found.sentence if found else ""),
        Strength.EXACT if certain else Strength.STRONG if alarm else Strength.WEAK,
        number=len(stale) / len(views),
        limit=HONEST_MISCOPY,
        p_value=p_value,
        remedy=_REMEDY if alarm else "",
    )


def _same_mistakes(evidence: RunEvidence, stale: Sequence[TokenView]) -> tuple[int, int]:
    """Probes whose first two stale sessions share a stale token, and probes that have two such sessions."""
    by_key = {view.key: view for view in stale}
    groups = [[by_key[s.key] for s in group if s.key in by_key] for group in replicates(evidence.sessions).values()]
    pairs = [(group[0], group[1]) for group in groups if len(group) > 1 and group[0].key != group[1].key]
    return sum(bool(one.stale & other.stale) for one, other in pairs), len(pairs)


def _sentence(stale: Sequence[TokenView], bearing: int, same: int, twice: int) -> str:
    slot, value = min(stale[0].stale)
    repeated = f", the same one again in {same} of {twice} probes" if same else ""
    return (
        f"freshness: {len(stale)} of {bearing} token-bearing sessions carry tokens nobody gave them{repeated}, "
        f"first {stale[0].key}: {slot} = {value!a}"
    )
