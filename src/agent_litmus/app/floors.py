"""Floors as they are written on the command line."""

from collections.abc import Collection, Iterable

from agent_litmus.errors import LitmusConfigError


def floors_of(texts: Iterable[str], allowed: Collection[str]) -> dict[str, float]:
    """Floors written ``ir=0.95``: metric to share; of a metric that stands twice the last counts.

    Args:
        texts: What was written.
        allowed: The metrics that may have a floor here.

    Raises:
        LitmusConfigError: A text is none, or its number is no share.
    """
    floors = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if name not in allowed or not 0.0 <= value <= 1.0:  # also refuses NaN
            raise LitmusConfigError(
                f"--floor: {text[:40]!r} is no floor",
                hint=f"write one of {', '.join(allowed)}, =, and a share from 0 to 1, e.g. ir=0.95",
            )
        floors[name] = value
    return floors
