"""E-values: evidence that may be added to with every commit and looked at every time.

An e-value has expectation at most 1 under the null hypothesis, so by Markov's inequality it exceeds 1/a with
probability at most a. A running product of conditional e-values is a test martingale, for which the same holds over
all looks together (Ville's inequality). A p-value recomputed after every commit has no such property.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isnan, log, log1p

from scipy import special

from agent_litmus.errors import LitmusScoringError


@dataclass(frozen=True, slots=True)
class RateMartingale:
    """Test martingale against "the event rate is at most ``null``", for 0/1 trials that arrive over commits.

    The likelihood ratio of a Beta(1/2, 1/2) mixture restricted to rates above ``null``, over ``null``. Each ratio
    has expectation at most 1 under every rate up to ``null``, given all that came before, and so has their mixture.

    Trials must be independent given the past, or at least have a conditional event rate no higher than ``null``.
    Episodes that share a host or an injection inside one commit are not: make one trial of a commit (say, "its
    refusal counts equal the fixture's") rather than one of every episode.
    """

    null: float
    """Highest event rate under the null hypothesis, in (0, 1)."""
    events: int = 0
    trials: int = 0
    log_peak: float = 0.0
    """Natural log of the largest e-value so far, at least 0; what the anytime p-value rests on."""

    def __post_init__(self) -> None:
        if not 0.0 < self.null < 1.0 or not 0 <= self.events <= self.trials:
            raise LitmusScoringError(
                f"no martingale has the rate {self.null!r} and {self.events} events in {self.trials} trials",
                hint="give a null rate strictly between 0 and 1, and events between 0 and trials",
                slug="bad-martingale",
            )

    def observe(self, events: int, trials: int) -> "RateMartingale":
        """The martingale after one more commit.

        Args:
            events: Events among the commit's trials.
            trials: The commit's trials; 0 changes nothing.

        Raises:
            LitmusScoringError: Events do not lie between 0 and trials.
        """
        if not 0 <= events <= trials:
            raise LitmusScoringError(
                f"{events} events in {trials} trials is not a count",
                hint="events must lie between 0 and the number of trials",
                slug="bad-count",
            )
        after = RateMartingale(self.null, self.events + events, self.trials + trials)
        return RateMartingale(self.null, after.events, after.trials, max(self.log_peak, after.log_e))

    @property
    def log_e(self) -> float:
        """Natural log of the e-value: 0 without trials, large when events are too many for the null."""
        hits, misses = self.events + 0.5, self.trials - self.events + 0.5
        mixture = special.betaln(hits, misses) + _log_beta_above(self.null, hits, misses)
        prior = special.betaln(0.5, 0.5) + _log_beta_above(self.null, 0.5, 0.5)
        at_null = self.events * log(self.null) + (self.trials - self.events) * log1p(-self.null)
        return float(mixture - prior - at_null)

    @property
    def e_value(self) -> float:
        """The e-value; infinite where it exceeds the floating-point range."""
        return _exp(self.log_e)

    @property
    def p_value(self) -> float:
        """Anytime-valid p-value, in [0, 1]: 1 over the largest e-value so far."""
        return exp(-max(self.log_peak, self.log_e, 0.0))


def merge_independent(e_values: Sequence[float]) -> float:
    """E-value of several that are independent, or each conditional on the ones before: their product.

    Raises:
        LitmusScoringError: A value is negative or NaN, or none is given.
    """
    _check(e_values)
    return 0.0 if 0.0 in e_values else _exp(sum(log(value) if value < inf else inf for value in e_values))


def merge_dependent(e_values: Sequence[float]) -> float:
    """E-value of several that depend on each other in any way: their mean. Errors as in `merge_independent`."""
    _check(e_values)
    return sum(e_values) / len(e_values)


def _log_beta_above(point: float, a: float, b: float) -> float:
    """Log of the chance that a Beta(a, b) variable exceeds ``point``."""
    above = float(special.betaincc(a, b, point))
    return log(above) if above > 0.0 else -inf


def _exp(value: float) -> float:
    return exp(value) if value < log(1.7e308) else inf


def _check(e_values: Sequence[float]) -> None:
    if not e_values or any(isnan(value) or value < 0 for value in e_values):
        raise LitmusScoringError(
            f"e-values must be numbers >= 0, at least one; got {list(e_values)!r}",
            hint="leave missing evidence out, and report it as missing",
            slug="bad-e-value",
        )
