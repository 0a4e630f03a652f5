"""The exact test behind an audit: is the recorded session the odd one out among itself and two fresh ones?

If the report is of this build, the recorded session and two fresh ones of the same episode are exchangeable.
Whatever the measure of likeness, the session left over by the most alike pair is then each of the three with chance
1/3, so the number of episodes in which it is the recorded one is binomial: no assumption about the agent is made.
Episodes without one most alike pair are ties and drop out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from scipy import stats

CHANCE = 1 / 3
POWER = 0.95
"""Chance of an alarm that the least detectable share is stated for."""
_STEPS = 1000


class Odd(StrEnum):
    """Which session of a triple is least like the others."""

    RECORDED = "recorded"
    FRESH = "fresh"
    NONE = "none"
    """No pair is more alike than the others."""


def odd_one(recorded_a: float, recorded_b: float, a_b: float) -> Odd:
    """The odd one of a triple from the likeness of its pairs.

    Args:
        recorded_a: Likeness of the recorded session and the first fresh one.
        recorded_b: Likeness of the recorded session and the second fresh one.
        a_b: Likeness of the two fresh ones.
    """
    most = max(recorded_a, recorded_b, a_b)
    if [recorded_a, recorded_b, a_b].count(most) > 1:
        return Odd.NONE
    return Odd.RECORDED if a_b == most else Odd.FRESH


@dataclass(frozen=True, slots=True)
class OddTest:
    """Result of the test over many triples."""

    triples: int
    recorded: int
    """Triples in which the recorded session is the odd one."""
    fresh: int
    """Triples in which a fresh one is."""
    p_value: float
    """Chance of at least so many by luck, in [0, 1]; 1 where every triple is a tie."""

    @property
    def ties(self) -> int:
        """Triples without an odd one."""
        return self.triples - self.recorded - self.fresh


def odd_test(found: Iterable[Odd]) -> OddTest:
    """One-sided exact binomial test of "the recorded session is the odd one more often than by chance"."""
    marks = list(found)
    recorded, fresh = marks.count(Odd.RECORDED), marks.count(Odd.FRESH)
    return OddTest(len(marks), recorded, fresh, upper_tail(recorded, recorded + fresh, CHANCE))


def sign_test(differences: Sequence[int]) -> float:
    """One-sided exact sign test: chance of at least so many positive ones among those that are not zero."""
    positive, negative = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return upper_tail(positive, positive + negative, 0.5)


def upper_tail(successes: int, trials: int, chance: float) -> float:
    """P(X >= successes) for X binomial; 1 without trials."""
    return float(stats.binom.sf(successes - 1, trials, chance)) if trials else 1.0


def detectable_share(triples: int, alpha: float, informative: float) -> float | None:
    """Least share of foreign sessions in a report that raises an alarm with chance :data:`POWER`.

    A foreign session is taken to be less like two fresh ones than these are like each other.

    Args:
        triples: Audited episodes.
        alpha: Level of the test, in (0, 1).
        informative: Share of a coupled report's triples that are no ties, in [0, 1].

    Returns:
        A share in (0, 1], or ``None`` where not even a wholly foreign report would be noticed.
    """
    if triples <= 0 or power(triples, alpha, informative, 1.0) < POWER:
        return None
    low, high = 0, _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        if power(triples, alpha, informative, middle / _STEPS) >= POWER:
            high = middle
        else:
            low = middle
    return high / _STEPS


def power(triples: int, alpha: float, informative: float, share: float) -> float:
    """Chance of an alarm where ``share`` of the report's sessions are foreign; arguments as above."""
    odd = share + (1 - share) * informative * CHANCE
    told = share + (1 - share) * informative
    if told <= 0:
        return 0.0
    sizes = np.arange(triples + 1)
    seen = stats.binom.pmf(sizes, triples, min(told, 1.0))
    return float(np.dot(seen, stats.binom.sf(_criticals(triples, alpha), sizes, min(odd / told, 1.0))))


@cache
def _criticals(triples: int, alpha: float) -> tuple[int, ...]:
    return tuple(_critical(n, alpha) for n in range(triples + 1))


def _critical(n: int, alpha: float) -> int:
    """One less than the fewest recorded odd ones, of ``n``, that are significant at ``alpha``."""
    fewest = int(stats.binom.isf(alpha, n, CHANCE)) if n else 0
    while fewest > 0 and stats.binom.sf(fewest - 1, n, CHANCE) <= alpha:
        fewest -= 1
    while fewest < n and stats.binom.sf(fewest, n, CHANCE) > alpha:
        fewest += 1
    return fewest if n and stats.binom.sf(fewest, n, CHANCE) <= alpha else n
