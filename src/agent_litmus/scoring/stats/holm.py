"""Holm's step-down adjustment: many claims at once, with the chance of any false one held."""

from collections.abc import Mapping
from typing import TypeVar

from agent_litmus.errors import LitmusScoringError

Claim = TypeVar("Claim")


def holm(p_values: Mapping[Claim, float]) -> dict[Claim, float]:
    """Adjusted p-values; rejecting those at most a keeps the family-wise error rate at most a.

    The i-th smallest of m p-values (i from 0) becomes the running maximum of (m - i) * p, at most 1. Valid under
    any dependence.

    Args:
        p_values: Claim to p-value, in [0, 1].

    Returns:
        Claim to adjusted p-value, in the order given.

    Raises:
        LitmusScoringError: A p-value is NaN or lies outside [0, 1].
    """
    for claim, p in p_values.items():
        if not 0.0 <= p <= 1.0:  # also refuses NaN
            raise LitmusScoringError(
                f"the p-value of {claim!r} is {p!r}",
                hint="a claim that could not be tested must be left out and reported as such",
                slug="bad-p-value",
            )
    adjusted: dict[Claim, float] = {}
    running = 0.0
    for rank, claim in enumerate(sorted(p_values, key=lambda claim: p_values[claim])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[claim]))
        adjusted[claim] = running
    return {claim: adjusted[claim] for claim in p_values}
