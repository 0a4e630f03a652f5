"""Tokens that were minted for an earlier run, and how likely it is that somebody made them up."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_litmus.coupling.coincidence import chance_of
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.coupling.tokens import Token, TokenView
from agent_litmus.records.history import PriorRun, token_sketch

_LATEST = 20
"""Earlier runs that are looked through, the latest ones: each is a test, and each test more weakens all of them."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The earlier run whose tokens turn up, if any do."""

    run_id: str
    hits: int
    """Distinct stale tokens that were minted for it."""
    chance: float
    """Chance of as many hits or more by tokens that were made up, corrected for the runs looked through."""

    @property
    def sentence(self) -> str:
        """What to add to what was seen; empty without hits."""
        return f"; {self.hits} of them were minted for run {self.run_id!a}" if self.hits else ""


def recorded(evidence: RunEvidence, stale: Iterable[TokenView]) -> Recorded | None:
    """The earlier run that explains the stale tokens best; ``None`` if the history knows no tokens.

    Each run's tokens were drawn at random, so a token that was made up is one of the M of an earlier run with
    probability M / space. Of D distinct stale tokens of a slot, K are; p = P(X >= K), X ~ Binomial(D, M / space),
    the smallest over slots times their number, the smallest over runs times theirs (Bonferroni). Distinct tokens,
    because one favourite mistake must not count twice.
    """
    runs = [run for run in evidence.history.runs or () if run.tokens and run.run_id != evidence.hashes.run_id]
    if not runs:
        return None
    by_slot: dict[str, set[str]] = defaultdict(set)
    for slot, value in _distinct(stale):
        by_slot[slot].update(token_sketch((value,)))
    results = [_against(evidence, by_slot, run) for run in runs[-_LATEST:]]
    best = min(results, key=lambda result: (result.chance, -result.hits))
    return Recorded(best.run_id, best.hits, min(1.0, best.chance * len(results)))


def _distinct(stale: Iterable[TokenView]) -> set[Token]:
    return {token for view in stale for token in view.stale}


def _against(evidence: RunEvidence, by_slot: dict[str, set[str]], run: PriorRun) -> Recorded:
    minted = frozenset(run.tokens)
    chances: Sequence[float] = [
        binomial_tail(len(values & minted), len(values), chance_of(len(minted), evidence.token_space.get(slot, 0)))
        for slot, values in by_slot.items()
    ]
    hits = sum(len(values & minted) for values in by_slot.values())
    return Recorded(run.run_id, hits, min(1.0, min(chances) * len(chances)))
