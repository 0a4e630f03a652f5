"""The one tail probability the findings need."""


def binomial_tail(successes: int, trials: int, chance: float) -> float:
    """P(X >= ``successes``) for X ~ Binomial(``trials``, ``chance``), exact.

    Args:
        successes: Observed count, in [0, ``trials``].
        trials: Number of trials, at least 0.
        chance: Chance of one success, in [0, 1].
    """
    from scipy.special import bdtrc  # noqa: PLC0415 - 0.3 s that only a judged run should pay

    if successes <= 0:
        return 1.0
    return float(bdtrc(successes - 1, trials, chance))
