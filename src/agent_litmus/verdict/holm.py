"""Holm's step-down correction over a family of fixed size."""

from collections.abc import Sequence


def holm_rejects(p_values: Sequence[float], alpha: float, family: int) -> tuple[bool, ...]:
    """Which of ``p_values`` are significant at the family-wise level ``alpha``.

    The i-th smallest p-value (from 0) is compared with alpha / (family - i), stopping at the first that fails
    (Holm, 1979). ``family`` is the number of tests a run makes, not of those that gave a small p-value: with a
    family that grows with every alarm, one alarm more could talk another one away.

    Args:
        p_values: In [0, 1]; a NaN counts as 0, because a broken test must not silence itself.
        alpha: Family-wise level in (0, 1).
        family: Number of tests made; tests beyond it are compared with ``alpha`` itself.
    """
    cleaned = [p if p == p else 0.0 for p in p_values]  # noqa: PLR0124 - only NaN differs from itself
    rejected = [False] * len(cleaned)
    for rank, index in enumerate(sorted(range(len(cleaned)), key=cleaned.__getitem__)):
        if cleaned[index] > alpha / max(family - rank, 1):
            break
        rejected[index] = True
    return tuple(rejected)
