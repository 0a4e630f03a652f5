"""pass^k: the chance that k tries of the same task all succeed, which an average over tries hides."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from agent_litmus.errors import LitmusScoringError


@dataclass(frozen=True, slots=True)
class PassK:
    """pass^k averaged over tasks."""

    value: float | None
    """In [0, 1]; ``None`` where no task was tried k times."""
    k: int
    tasks: int
    """Tasks tried at least k times, over which the average is taken."""
    skipped: int
    """Tasks tried fewer than k times; they say nothing about k tries."""


def pass_hat_k(tasks: Iterable[tuple[int, int]], k: int) -> PassK:
    """Unbiased estimate of pass^k: the mean over tasks of C(successes, k) / C(tries, k).

    Each term is the share of the k-subsets of a task's tries in which every try succeeded; its expectation is p^k
    for independent tries with success probability p.

    Args:
        tasks: (successes, assessed tries) per task.
        k: Number of tries that must all succeed, >= 1.

    Raises:
        LitmusScoringError: k is below 1, or successes do not lie between 0 and tries.
    """
    if k < 1:
        raise LitmusScoringError(f"pass^k needs k >= 1, got {k}", hint="ask for k = 1 or more", slug="bad-k")
    terms, skipped = [], 0
    for successes, tries in tasks:
        if not 0 <= successes <= tries:
            raise LitmusScoringError(
                f"{successes} successes out of {tries} tries is not a count",
                hint="successes must lie between 0 and the number of tries",
                slug="bad-count",
            )
        if tries < k:
            skipped += 1
        else:
            terms.append(Fraction(comb(successes, k), comb(tries, k)))
    value = float(sum(terms, Fraction(0)) / len(terms)) if terms else None
    return PassK(value, k, len(terms), skipped)
