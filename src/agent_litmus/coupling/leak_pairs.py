"""Leak pairs: a session is asked for the tokens of the session before it, and must not know them."""

from collections import Counter

from agent_litmus.coupling.coincidence import chance_of, grade
from agent_litmus.coupling.evidence import REMOTE, RunEvidence
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.records.finding import Finding, FindingState, Obligation, Strength
from agent_litmus.records.proofs import LeakPair

SIGNAL = "leak_pairs"
REMOTE_PAIRS = 10
"""Clean pairs that stand for isolation where no process can be witnessed: a leak between 26 % of neighbours or more
would have been seen with 95 %."""
_CONFIDENCE = 0.95
_REMEDY = "start a new process, workspace and conversation for every session; share no memory between them"


def leak_pairs(evidence: RunEvidence) -> Finding:
    """Any planted token that comes back is a leak, unless it was guessed.

    An answer with g different words that hold a digit makes at most g guesses, and each hits one of the t planted
    tokens of a space with probability t / space. With K pairs that leaked, p = P(X >= K), X ~ Binomial(pairs,
    1 - prod over slots of (1 - chance) ** g), the largest of the pairs' chances. Thirty-two hexadecimal digits are
    never guessed (exact ALARM); one ``OAK-11`` is guessed in one of 27,000 pairs (strong ALARM).

    m clean pairs say: had a share s of neighbouring sessions leaked, it would have been seen with 1 - (1 - s) ** m.
    """
    pairs, planned = evidence.proofs.leak_pairs, evidence.proofs.leak_pairs_planned
    if pairs is None:
        return Finding(
            SIGNAL, FindingState.MISSING, "the run planted no leak pairs", remedy="set run.leak_pairs to 0.1"
        )
    reused = _reused(evidence, pairs)
    if reused:
        return Finding(SIGNAL, FindingState.ALARM, reused, Strength.EXACT, remedy=_REMEDY)
    leaked = [pair for pair in pairs if _leaked(pair)]
    if leaked:
        return _alarm(evidence, pairs, leaked)
    asked = sum(pair.asked and bool(pair.tokens) for pair in pairs)
    if not asked:
        return Finding(
            SIGNAL, FindingState.MISSING, f"none of {max(planned, len(pairs))} planned leak pairs was answered"
        )
    share = 1 - (1 - _CONFIDENCE) ** (1 / asked)
    seen = (
        f"{asked} of {max(planned, len(pairs))} sessions that were asked for the tokens of the one before did not "
        f"know; a leak between {share:.0%} of neighbours or more would have been seen with {_CONFIDENCE:.0%} chance"
    )
    proves = (Obligation.ISOLATION,) if evidence.target == REMOTE and asked >= REMOTE_PAIRS else ()
    return Finding(SIGNAL, FindingState.CLEAR, seen, number=float(asked), limit=0.0, discharges=proves)


def _reused(evidence: RunEvidence, pairs: tuple[LeakPair, ...]) -> str:
    """Asked sessions are sessions: their ids stand nowhere else."""
    ids = Counter(s.proof.session_id for s in evidence.sessions if s.proof is not None and s.proof.session_id)
    ids.update(pair.session_id for pair in pairs if pair.session_id)
    twice = sum(ids[pair.session_id] > 1 for pair in pairs if pair.session_id)
    return f"{twice} sessions that were asked have the id of another session" if twice else ""


def _leaked(pair: LeakPair) -> frozenset[tuple[str, str]]:
    return frozenset((s.slot, s.value) for s in pair.leaked if not s.given)


def _alarm(evidence: RunEvidence, pairs: tuple[LeakPair, ...], leaked: list[LeakPair]) -> Finding:
    chance = max(_guessed(evidence, pair) for pair in leaked)
    p_value = binomial_tail(len(leaked), len(pairs), chance)
    state, strength = grade(p_value)
    slot, value = min(_leaked(leaked[0]))
    return Finding(
        SIGNAL,
        state,
        f"{len(leaked)} of {len(pairs)} sessions knew tokens of the session before them, "
        f"first after {leaked[0].planted}: {slot} = {value!a}",
        strength,
        number=float(len(leaked)),
        limit=0.0,
        p_value=p_value,
        remedy=_REMEDY,
    )


def _guessed(evidence: RunEvidence, pair: LeakPair) -> float:
    """Chance that this pair's answer hits a planted token of the leaked slots by guessing."""
    guesses = max(1, len({word for word in (pair.answer or "").split() if any(map(str.isdigit, word))}))
    missed = 1.0
    for slot in {slot for slot, _ in _leaked(pair)}:
        missed *= (1 - chance_of(1, evidence.token_space.get(slot, 0))) ** guesses
    return 1 - missed
