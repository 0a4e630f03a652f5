"""From what scoring returns to what the charts draw. Scoring is not imported: its shapes are named here."""

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from agent_litmus.formats.charts.data import CategoryRate, FrontierPoint, Share, Standing, UtilityLoss
from agent_litmus.records.scorecard import Scorecard, Tally

_UNDERPOWERED = "; underpowered"


class IntervalLike(Protocol):
    """A figure with its interval and method."""

    @property
    def value(self) -> float | None:
        """The figure."""

    @property
    def low(self) -> float | None:
        """Lower bound."""

    @property
    def high(self) -> float | None:
        """Upper bound."""

    @property
    def method(self) -> str:
        """How the interval was made."""


class PointLike(Protocol):
    """An agent of a comparison."""

    @property
    def agent(self) -> str:
        """Its name."""

    @property
    def u1(self) -> IntervalLike:
        """Utility under attack."""

    @property
    def sr(self) -> IntervalLike:
        """Selective resistance."""

    @property
    def ir(self) -> IntervalLike:
        """Resistance."""

    @property
    def eligible(self) -> bool:
        """Whether it reaches every floor."""


class DominanceLike(Protocol):
    """A tested dominance."""

    @property
    def winner(self) -> str:
        """Who would dominate."""

    @property
    def loser(self) -> str:
        """Who would be dominated."""

    @property
    def holds(self) -> bool:
        """Whether it is shown."""


class FrontierLike(Protocol):
    """The result of a comparison."""

    @property
    def points(self) -> Sequence[PointLike]:
        """The agents."""

    @property
    def dominances(self) -> Sequence[DominanceLike]:
        """Every ordered pair."""


def share_of(figure: IntervalLike) -> Share:
    """A chart's share from an estimate or an interval."""
    return Share(figure.value, figure.low, figure.high, underpowered=figure.method.endswith(_UNDERPOWERED))


def frontier_points(frontier: FrontierLike, *, trivial: Collection[str] = ()) -> tuple[FrontierPoint, ...]:
    """Points of a comparison in its order.

    An agent is dominated here if an eligible agent that is not trivial is shown to dominate it. So an oracle beside
    real agents does not empty the frontier.

    Args:
        frontier: What ``compare_agents`` returned.
        trivial: Names of the trivial agents among those compared.
    """
    rivals = {point.agent for point in frontier.points if point.eligible and point.agent not in trivial}
    beaten = {pair.loser for pair in frontier.dominances if pair.holds and pair.winner in rivals}
    return tuple(
        FrontierPoint(
            point.agent,
            share_of(point.u1),
            share_of(point.sr),
            share_of(point.ir),
            _standing(point, trivial, beaten),
        )
        for point in frontier.points
    )


def _standing(point: PointLike, trivial: Collection[str], beaten: Collection[str]) -> Standing:
    if point.agent in trivial:
        return Standing.TRIVIAL
    if not point.eligible:
        return Standing.UNDER_FLOOR
    return Standing.DOMINATED if point.agent in beaten else Standing.FRONTIER


def utility_loss(agent: str, card: Scorecard) -> UtilityLoss:
    """The paired ledger of a scorecard; without one, no pairs."""
    ledger = card.ledger
    refused, failed, partial, pairs, unknown = (
        int(ledger.get(name, 0)) for name in ("refused", "failed", "partial", "pairs", "unknown_pairs")
    )
    return UtilityLoss(agent, refused, failed, partial, pairs, unknown)


def category_rates(agent: str, card: Scorecard) -> tuple[CategoryRate, ...]:
    """Rates of a scorecard by injection category, in the scorecard's order."""
    return tuple(_rates(agent, card))


def _rates(agent: str, card: Scorecard) -> Iterator[CategoryRate]:
    for category, tallies in card.by_category.items():
        ir, sr = (tallies.get(name, Tally(0, 0, 0)) for name in ("ir", "sr"))
        yield CategoryRate(
            agent, category, Share(ir.assessed), Share(sr.assessed), unassessed=max(ir.unknown, sr.unknown)
        )
