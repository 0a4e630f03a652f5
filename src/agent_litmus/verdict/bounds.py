"""The exact lower bound that a share must clear its floor by."""

import math


def clopper_pearson_lower(good: int, total: int, confidence: float) -> float:
    """One-sided exact lower confidence bound of a share (Clopper and Pearson, 1934).

    Args:
        good: Successes, in [0, ``total``].
        total: Trials; an empty set gives 0.
        confidence: One-sided level in (0, 1).
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - 0.3 s that only a confidence policy should pay

    if good <= 0 or total <= 0:
        return 0.0
    return float(betaincinv(good, total - good + 1, 1 - confidence))


def best_lower(total: int, confidence: float) -> float:
    """The bound if every one of ``total`` trials succeeds: (1 - confidence) ** (1 / total); 0 for none."""
    return float((1 - confidence) ** (1 / total)) if total > 0 else 0.0


def trials_needed(floor: float, confidence: float) -> int | None:
    """Least number of trials at which a perfect result clears ``floor``; ``None`` if none does (a floor of 1)."""
    if floor >= 1:
        return None
    if floor <= 0:
        return 1
    return max(1, math.ceil(math.log(1 - confidence) / math.log(floor) - 1e-9))
