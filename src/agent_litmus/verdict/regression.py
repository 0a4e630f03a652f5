"""Whether a build is worse than the last accepted one by more than is tolerated and more than chance explains.

Both builds were tried on the same suite, so its tasks are fixed and only the agents' own randomness remains. Given
the tasks, a count of good episodes varies no more than a binomial one with the same mean (Hoeffding, 1956), so
intervals for independent episodes are on the safe side here, though they would not be for other tasks.
"""

from collections.abc import Iterator
from math import hypot

from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Scorecard, Tally
from agent_litmus.records.verdict import Policy, Reason, ReasonCode
from agent_litmus.verdict.bounds import clopper_pearson_lower

COMPARED = ("ir", "u1")
"""Metrics that are held against the last accepted build."""
_LEAST_ALPHA = 1e-9


def loss_lower_bound(before: tuple[int, int], after: tuple[int, int], confidence: float) -> float:
    """One-sided lower bound of the share before minus the share after, in [-1, 1].

    The exact bounds of the two shares (Clopper and Pearson, 1934) joined by square-and-add (MOVER: Zou and Donner,
    2008), which is conservative with conservative parts.

    Args:
        before: Good and all episodes of the earlier build; none of them gives -1.
        after: Good and all episodes of the later build; none of them gives -1.
        confidence: One-sided level in (0, 1).
    """
    (good_0, n_0), (good_1, n_1) = before, after
    if n_0 <= 0 or n_1 <= 0:
        return -1.0
    share_0, share_1 = good_0 / n_0, good_1 / n_1
    low_0 = clopper_pearson_lower(good_0, n_0, confidence)
    high_1 = 1 - clopper_pearson_lower(n_1 - good_1, n_1, confidence)
    return max(-1.0, share_0 - share_1 - hypot(share_0 - low_0, high_1 - share_1))


def regressions(card: Scorecard, policy: Policy, baseline: PriorRun | None) -> Iterator[Reason]:
    """Losses beyond ``max_regression`` on what was assessed: each is a FAIL."""
    for metric, before, after in _pairs(card, policy, baseline):
        assessed = (after.good, after.good + after.bad)
        loss = _loss(before, assessed, policy)
        if loss > _tolerated(policy):
            yield Reason(
                ReasonCode.REGRESSION,
                f"{metric} fell from {_share(before)} in the last accepted build (run {_run(baseline)}) to "
                f"{_share(assessed)}: at least {loss:.4g} lost, tolerated {_tolerated(policy):g}",
                "read what changed (litmus compare OLD NEW), or accept the loss by raising gate.max_regression",
            )


def hidden_regressions(card: Scorecard, policy: Policy, baseline: PriorRun | None) -> Iterator[Reason]:
    """Losses that would be too large if the unassessed episodes were bad: nobody can tell, so no PASS."""
    for metric, before, after in _pairs(card, policy, baseline):
        total = after.good + after.bad + after.unknown
        seen = _loss(before, (after.good, after.good + after.bad), policy)
        worst = _loss(before, (after.good, total), policy)
        if seen <= _tolerated(policy) < worst:
            yield Reason(
                ReasonCode.UNASSESSED,
                f"{metric}: {after.unknown} unassessed episodes could hide a loss against run {_run(baseline)}",
                "run the unassessed episodes again, or find out what kept them from being assessed",
            )


def regression_warnings(card: Scorecard, policy: Policy, baseline: PriorRun | None) -> tuple[str, ...]:
    """What was asked to be compared and could not be, and losses that chance may explain."""
    if policy.max_regression is None:
        return ()
    if baseline is None:
        return ("regression: not compared: the history holds no accepted run of this suite on a protected ref",)
    return tuple(_quiet_losses(card, policy, baseline))


def _quiet_losses(card: Scorecard, policy: Policy, baseline: PriorRun) -> Iterator[str]:
    compared = {metric: (before, after) for metric, before, after in _pairs(card, policy, baseline)}
    for metric in COMPARED:
        if metric not in compared:
            yield f"regression: {metric} not compared: run {_run(baseline)} or this one assessed no episode of it"
            continue
        before, tally = compared[metric]
        after = (tally.good, tally.good + tally.bad)
        gap = before[0] / before[1] - after[0] / after[1]
        if gap > _tolerated(policy) >= _loss(before, after, policy):
            yield (
                f"regression: {metric} fell from {_share(before)} (run {_run(baseline)}) to {_share(after)}, more "
                "than is tolerated, but chance can explain it; more seeds would tell"
            )


def _pairs(
    card: Scorecard, policy: Policy, baseline: PriorRun | None
) -> Iterator[tuple[str, tuple[int, int], Tally]]:
    if policy.max_regression is None or baseline is None:
        return
    for metric in COMPARED:
        old, new = baseline.tallies.get(metric), card.tallies.get(metric)
        if old is not None and new is not None and old.good + old.bad > 0 and new.good + new.bad > 0:
            yield metric, (old.good, old.good + old.bad), new


def _loss(before: tuple[int, int], after: tuple[int, int], policy: Policy) -> float:
    alpha = policy.alpha if 0 < policy.alpha < 1 else 1.0
    return loss_lower_bound(before, after, 1 - max(alpha / len(COMPARED), _LEAST_ALPHA))


def _tolerated(policy: Policy) -> float:
    limit = policy.max_regression
    return limit if limit is not None and 0 <= limit <= 1 else 0.0


def _share(counts: tuple[int, int]) -> str:
    return f"{counts[0] / counts[1]:.4g} ({counts[0]} of {counts[1]})"


def _run(baseline: PriorRun | None) -> str:
    return baseline.run_id[:80] if baseline is not None else "unknown"
