"""Earlier tries of a build, pooled with the present one, so that retrying until it is green does not work.

A build that fails is not made better by a lucky repetition: what counts are all its episodes since the first try
that failed. Pooling never helps: the present try has to hold every floor by itself as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from agent_litmus.records.episode import Cell
from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, Reason, ReasonCode
from agent_litmus.verdict.defects import score_defects
from agent_litmus.verdict.policy import CEILED
from agent_litmus.verdict.regression import regressions
from agent_litmus.verdict.score import missed_floors, unassessed, underpowered

V = TypeVar("V")

_NO_FIGURE = Estimate(None, None, None, 0, 0, 0, "")


class _Counted(Protocol):
    """What a scorecard and an earlier run both have."""

    @property
    def episodes(self) -> int: ...
    @property
    def unassessed(self) -> int: ...
    @property
    def tallies(self) -> Mapping[str, Tally]: ...
    @property
    def by_category(self) -> Mapping[str, Mapping[str, Tally]]: ...
    @property
    def cells(self) -> Mapping[Cell, int]: ...
    @property
    def estimates(self) -> Mapping[str, Estimate]: ...


def pooled(card: Scorecard, tries: Sequence[PriorRun]) -> Scorecard:
    """The scorecard over a run and earlier tries of the same build.

    Every count is the sum. Figures that ceilings are set on (``cor``) are means weighted by assessed episodes, and
    so are the ends of their intervals, which is not too narrow however the tries depend on each other; the other
    figures are left out, since nothing is decided by them.

    Args:
        card: The present run's.
        tries: Earlier ones of the same build and suite; without any, ``card`` itself.
    """
    if not tries:
        return card
    parts: tuple[_Counted, ...] = (*tries, card)
    categories = _keys(part.by_category for part in parts)
    kept = [name for name in CEILED if any(name in part.estimates for part in parts)]
    return replace(
        card,
        episodes=sum(part.episodes for part in parts),
        unassessed=sum(part.unassessed for part in parts),
        tallies=_sums([part.tallies for part in parts]),
        by_category={name: _sums([part.by_category.get(name, {}) for part in parts]) for name in categories},
        cells={cell: sum(part.cells.get(cell, 0) for part in parts) for cell in _keys(p.cells for p in parts)},
        estimates={name: _mean([part.estimates.get(name, _NO_FIGURE) for part in parts]) for name in kept},
        overlays={},
        ledger={},
        quadrants={},
    )


def missed_over_all(
    card: Scorecard, policy: Policy, baseline: PriorRun | None, tries: Sequence[PriorRun]
) -> Iterator[Reason]:
    """Floors, ceilings and the last accepted build that a run holds by itself and misses with earlier tries."""
    if tries:
        whole = pooled(card, tries)
        remedy = "change the build; repeating the run adds to the count and does not start it again"
        missed = (*missed_floors(whole, policy), *regressions(whole, policy, baseline))
        yield from _said(missed, tries, remedy)


def doubts_over_all(card: Scorecard, policy: Policy, tries: Sequence[PriorRun]) -> Iterator[Reason]:
    """What keeps a run that passes by itself from passing together with earlier tries, short of a missed floor."""
    if not tries:
        return
    whole = pooled(card, tries)
    remedy = "see the earlier tries: litmus history show RUN"
    for text in score_defects(whole):
        yield from _said([Reason(ReasonCode.MALFORMED, text)], tries, remedy)
    yield from _said((*unassessed(whole, policy), *underpowered(whole, policy)), tries, remedy)


def counted_in(tries: Sequence[PriorRun]) -> str:
    """Earlier tries in words, e.g. ``1 earlier try``."""
    return "1 earlier try" if len(tries) == 1 else f"{len(tries)} earlier tries"


def _said(reasons: Iterable[Reason], tries: Sequence[PriorRun], remedy: str) -> Iterator[Reason]:
    for reason in reasons:
        text = f"{reason.text}, over this run and {counted_in(tries)} of this build since its first FAIL"
        yield Reason(reason.code, text, remedy)


def _sums(parts: Sequence[Mapping[str, Tally]]) -> dict[str, Tally]:
    def total(metric: str, count: Callable[[Tally], int]) -> int:
        return sum(count(part[metric]) for part in parts if metric in part)

    return {
        metric: Tally(total(metric, _good), total(metric, _bad), total(metric, _unknown)) for metric in _keys(parts)
    }


def _good(tally: Tally) -> int:
    return tally.good


def _bad(tally: Tally) -> int:
    return tally.bad


def _unknown(tally: Tally) -> int:
    return tally.unknown


def _mean(figures: Sequence[Estimate]) -> Estimate:
    known = [figure for figure in figures if figure.value is not None and figure.n > 0]
    return Estimate(
        value=_weighted(known, lambda figure: figure.value),
        low=_weighted(known, lambda figure: figure.low),
        high=_weighted(known, lambda figure: figure.high),
        n=sum(figure.n for figure in known),
        eligible=sum(figure.eligible for figure in figures),
        unassessed=sum(figure.unassessed for figure in figures),
        method=f"mean of {len(known)} tries, weighted by episodes",
    )


def _weighted(figures: Sequence[Estimate], part: Callable[[Estimate], float | None]) -> float | None:
    """Weighted by ``n``; ``None`` where a part is not known."""
    values = [(value, figure.n) for figure in figures if (value := part(figure)) is not None]
    if not values or len(values) < len(figures):
        return None
    return sum(value * n for value, n in values) / sum(n for _, n in values)


def _keys(parts: Iterable[Mapping[V, object]]) -> list[V]:
    """Every key, in the order of the first part that has it."""
    return list(dict.fromkeys(key for part in parts for key in part))
