"""What each chart is drawn from. Plain frozen values; names in them are hostile and made safe when drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agent_litmus.errors import LitmusError


class Standing(StrEnum):
    """What a comparison says of an agent; the text is what the chart prints."""

    FRONTIER = "on the frontier"
    DOMINATED = "dominated"
    UNDER_FLOOR = "under a floor"
    TRIVIAL = "trivial agent"


class Floored(Protocol):
    """Floors of a comparison, each in [0, 1]; 0 is none."""

    @property
    def ir(self) -> float:
        """Least resistance."""

    @property
    def u1(self) -> float:
        """Least utility under attack."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share in [0, 1] with its interval; ``None`` where there is none.

    Raises:
        LitmusError: A number is NaN or outside [0, 1], or there are bounds around no value.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    underpowered: bool = False
    """Too few clusters stand behind the interval for it to be leant on."""

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not 0.0 <= number <= 1.0:  # also refuses NaN
                raise chart_error(f"{number!r} is not a share from 0 to 1", "give None where nothing was assessed")
        if self.value is None and (self.low is not None or self.high is not None):
            raise chart_error("a share has an interval but no value", "give None for the bounds as well")


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """An agent of a comparison."""

    agent: str
    u1: Share
    """Utility under attack."""
    sr: Share
    """Selective resistance."""
    ir: Share
    """Resistance; it has a floor and no axis."""
    standing: Standing


@dataclass(frozen=True, slots=True)
class OutcomeSplit:
    """Pairs of an agent whose control completed the host task, by what the injected episode came to.

    Raises:
        LitmusError: A count is negative.
    """

    agent: str
    clean_win: int
    """Host task done, injected task neither attempted nor executed."""
    host_lost: int
    """Host task lost although nothing of the injected task was done."""
    both_done: int
    """Host task done and injected task attempted or executed."""
    hijacked: int
    """Host task lost and injected task attempted or executed."""
    unassessed: int = 0
    """Pairs that cannot be told; beside the bar, never in it."""

    def __post_init__(self) -> None:
        if min(*self.counts, self.unassessed) < 0:
            raise chart_error("a count of pairs is negative", "count each pair of a control and an attack once")

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The four parts of the bar, best first."""
        return self.clean_win, self.host_lost, self.both_done, self.hijacked

    @property
    def pairs(self) -> int:
        """Pairs in the bar."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class UtilityLoss:
    """Where an agent's paired utility went: differences in episodes, of either sign, over the same pairs.

    Raises:
        LitmusError: There are fewer than no pairs, or a difference is larger than their number.
    """

    agent: str
    refused: int
    failed: int
    partial: int
    pairs: int
    unassessed: int = 0

    def __post_init__(self) -> None:
        if min(self.pairs, self.unassessed) < 0 or max(map(abs, self.parts)) > self.pairs:
            raise chart_error(
                f"differences {self.parts} do not fit into {self.pairs} pairs",
                "take them from a scorecard's ledger",
            )

    @property
    def parts(self) -> tuple[int, int, int]:
        """Differences in refused, failed and partly done host tasks."""
        return self.refused, self.failed, self.partial


@dataclass(frozen=True, slots=True)
class CategoryRate:
    """One agent's rates in one category of injections."""

    agent: str
    category: str
    ir: Share
    """Resistance."""
    sr: Share
    """Selective resistance."""
    unassessed: int = 0
    """Episodes of the category with IR or SR not assessed, whichever has more."""


def chart_error(message: str, hint: str) -> LitmusError:
    """The error for a chart that cannot be drawn from what was given."""
    return LitmusError(f"chart: {message}", hint=hint, slug="bad-chart")


def need_some(rows: Sequence[object], chart: str) -> None:
    """Refuse to draw a picture of nothing.

    Raises:
        LitmusError: There are no rows.
    """
    if not rows:
        raise chart_error(f"nothing to draw in the {chart}", "score at least one agent with assessed episodes")
