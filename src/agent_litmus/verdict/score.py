"""What the score says against the policy's floors and ceilings, as reasons."""

from collections.abc import Iterator

from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, Reason, ReasonCode
from agent_litmus.verdict.bounds import clopper_pearson_lower
from agent_litmus.verdict.policy import gate_name, gated

_LISTED = "read the episodes that count against it, by the keys listed above: litmus report show RUN --episode KEY"
_RERUN = "run the unassessed episodes again, or find out what kept them from being assessed"


def missed_floors(card: Scorecard, policy: Policy) -> Iterator[Reason]:
    """Rule 1: floors and ceilings missed by what was assessed.

    A floor out of reach even if every unknown were good (g + u over all) is always missed by g / (g + b) as well.
    """
    for name, tally, floor in _tallies(card, policy):
        share = tally.assessed if tally is not None else None
        if tally is None or share is None:
            continue
        if share < floor:
            counts = f"{tally.good} good of {tally.good + tally.bad} assessed"
            text = f"{name} {share:.4g} ({counts}) is below its floor {floor:g}"
            yield Reason(ReasonCode.FLOOR_MISSED, text, _LISTED)
    for name, estimate, ceiling in _estimates(card, policy):
        if estimate is not None and estimate.value is not None and estimate.value > ceiling:
            text = f"{name} {estimate.value:.4g} is above its ceiling {ceiling:g}"
            yield Reason(ReasonCode.FLOOR_MISSED, text, _LISTED)


def unassessed(card: Scorecard, policy: Policy) -> Iterator[Reason]:
    """Rule 7: what was not assessed could turn the score, or nothing was assessed at all."""
    if card.episodes <= 0:
        yield Reason(ReasonCode.UNASSESSED, "the scorecard holds no episode", "run the suite")
    elif policy.max_unassessed is not None and card.unassessed / card.episodes > policy.max_unassessed:
        text = (
            f"{card.unassessed} of {card.episodes} episodes are unassessed, more than the tolerated "
            f"{policy.max_unassessed:.1%}"
        )
        yield Reason(ReasonCode.UNASSESSED, text, _RERUN)
    for name, tally, floor in _tallies(card, policy):
        if tally is None or tally.assessed is None:
            yield Reason(ReasonCode.UNASSESSED, f"{name}: no episode was assessed for it", _RERUN)
        elif tally.worst < floor <= tally.best:
            text = (
                f"{name} lies between {tally.worst:.4g} and {tally.best:.4g}, its floor is {floor:g}: "
                f"{tally.unknown} unassessed episodes could turn it"
            )
            yield Reason(ReasonCode.UNASSESSED, text, _RERUN)
    for name, estimate, ceiling in _estimates(card, policy):
        yield from _ceiling_unassessed(name, estimate, ceiling)


def _ceiling_unassessed(name: str, estimate: Estimate | None, ceiling: float) -> Iterator[Reason]:
    if estimate is None or estimate.value is None or estimate.n <= 0:
        yield Reason(ReasonCode.UNASSESSED, f"{name}: no episode was assessed for it", _RERUN)
        return
    worst = (estimate.value * estimate.n + estimate.unassessed) / (estimate.n + estimate.unassessed)
    if estimate.value <= ceiling < worst:
        text = f"{name} could be as high as {worst:.4g} if the unassessed were bad, its ceiling is {ceiling:g}"
        yield Reason(ReasonCode.UNASSESSED, text, _RERUN)


def underpowered(card: Scorecard, policy: Policy) -> Iterator[Reason]:
    """Rule 8: the worst case clears its floor, but not by the confidence asked for; a ceiling inside an interval.

    Floors use the one-sided exact bound of g / (g + b + u); ceilings the upper end of the estimate's own interval.
    """
    more = "add probes, seeds or repeats"
    for name, tally, floor in _tallies(card, policy):
        if policy.confidence is None or tally is None:
            continue
        total = tally.good + tally.bad + tally.unknown
        lower = clopper_pearson_lower(tally.good, total, policy.confidence)
        if lower < floor <= tally.worst:
            text = (
                f"{name}: lower bound {lower:.4g} at confidence {policy.confidence:g} is below its floor {floor:g}"
            )
            yield Reason(ReasonCode.UNDERPOWERED, text, more)
    for name, estimate, ceiling in _estimates(card, policy):
        if estimate is not None and (estimate.high is None or estimate.high > ceiling):
            text = f"{name}: upper bound {_number(estimate.high)} is above its ceiling {ceiling:g}"
            yield Reason(ReasonCode.UNDERPOWERED, text, more)


def _tallies(card: Scorecard, policy: Policy) -> Iterator[tuple[str, Tally | None, float]]:
    for category, metric, floor in gated(policy):
        tallies = card.by_category.get(category, {}) if category else card.tallies
        yield gate_name(category, metric), tallies.get(metric), floor


def _estimates(card: Scorecard, policy: Policy) -> Iterator[tuple[str, Estimate | None, float]]:
    for metric, ceiling in policy.ceilings.items():
        yield metric, card.estimates.get(metric), ceiling


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
