"""The one shape every interval of this package has."""

from dataclasses import dataclass

from agent_litmus.errors import LitmusScoringError

UNDERPOWERED = "; underpowered"
"""Suffix of ``Interval.method`` where too few clusters stand behind the interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A share in [0, 1], or a difference of shares in [-1, 1], with its two-sided interval.

    ``value``, ``low`` and ``high`` are all ``None`` where there was nothing to estimate from.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Assessed episodes behind the figure."""
    method: str
    """How the interval was made; ends in ``; underpowered`` where it should not be leant on."""

    @property
    def underpowered(self) -> bool:
        """Whether fewer clusters than needed stand behind the interval."""
        return self.method.endswith(UNDERPOWERED)


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1).

    Raises:
        LitmusScoringError: The level is not a number strictly between 0 and 1.
    """
    if not 0.0 < level < 1.0:  # also refuses NaN
        raise LitmusScoringError(
            f"confidence level {level!r} is not strictly between 0 and 1",
            hint="give the level as a fraction, for example 0.95",
            slug="bad-level",
        )
