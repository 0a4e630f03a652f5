"""Carry-over: what an agent does depends on what the session before it was about."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.sequence import neighbours
from agent_litmus.records.finding import Finding, FindingState, Strength
from agent_litmus.records.session import CheckState, SessionRecord

SIGNAL = "carry_over"
ALPHA = 0.01
"""Level at which a reading is called an alarm; whether it counts is decided with all alarms together (Holm)."""
COUNTED_AT = 0.001
"""About the level an alarm must reach to count among all strong tests; the power is stated for it."""
MIN_EPISODES = 500
"""Episodes below which the test says nothing: the categories' shares are too uncertain."""
SHIFT = 0.2
"""Shift of the failure rate after one category for which the power is stated."""


def carry_over(evidence: RunEvidence) -> Finding:
    """Whether failing the host task follows the category of the session before on the same worker.

    Each episode's outcome (host checks met or not; a refusal does not meet them) is taken relative to the mean of
    its own probe. Under isolation these residuals do not depend on the predecessor's category, which the shuffled
    plan dealt out, and H = (N - 1) * sum_c n_c * mean_c ** 2 / sum e ** 2 is about chi-square with C - 1 degrees of
    freedom (the permutation form of one-way analysis of variance). Below 500 episodes it is UNDERPOWERED, and says
    what it could have seen.
    """
    rows = _rows(evidence)
    by_category: dict[str, list[float]] = defaultdict(list)
    for category, residual in rows:
        by_category[category].append(residual)
    categories = {name: residuals for name, residuals in by_category.items() if len(residuals) >= 2}
    if len(categories) < 2:
        return Finding(
            SIGNAL, FindingState.MISSING, f"{len(rows)} episodes follow sessions of one category or none"
        )
    power = _power(categories)
    could = (
        f"a shift by {SHIFT:.0%} after one of {len(categories)} categories would be seen with {power:.0%} chance"
    )
    if len(rows) < MIN_EPISODES:
        seen = f"{len(rows)} episodes with a predecessor, {MIN_EPISODES} are needed; {could}"
        return Finding(SIGNAL, FindingState.UNDERPOWERED, seen, number=float(len(rows)), limit=float(MIN_EPISODES))
    p_value = _p_value(categories)
    seen = f"failures by the category of the session before, over {len(rows)} episodes: p = {p_value:.2g}; {could}"
    if p_value > ALPHA:
        return Finding(SIGNAL, FindingState.CLEAR, seen, number=p_value, limit=ALPHA)
    return Finding(
        SIGNAL,
        FindingState.ALARM,
        seen,
        Strength.STRONG,
        number=p_value,
        limit=ALPHA,
        p_value=p_value,
        remedy="share no process, workspace or conversation between sessions",
    )


def _rows(evidence: RunEvidence) -> list[tuple[str, float]]:
    """Category of the predecessor (controls are one of their own) and residual of every assessable episode."""
    followed = [(one, two) for one, two in neighbours(evidence.sessions) if two.finished and two.host_checks]
    outcomes: dict[object, list[float]] = defaultdict(list)
    for _, session in followed:
        outcomes[session.key.probe, session.key.condition].append(_failed(session))
    means = {probe: sum(values) / len(values) for probe, values in outcomes.items()}
    return [
        (one.category or "(control)", _failed(two) - means[two.key.probe, two.key.condition])
        for one, two in followed
    ]


def _failed(session: SessionRecord) -> float:
    return float(any(check.state is not CheckState.MET for check in session.host_checks))


def _p_value(categories: Mapping[str, Sequence[float]]) -> float:
    from scipy.special import chdtrc  # noqa: PLC0415 - 0.3 s that only a judged run should pay

    residuals = [residual for group in categories.values() for residual in group]
    total = sum(residual**2 for residual in residuals)
    if not total:
        return 1.0
    centre = sum(residuals) / len(residuals)
    between = sum(len(group) * (sum(group) / len(group) - centre) ** 2 for group in categories.values())
    return float(chdtrc(len(categories) - 1, (len(residuals) - 1) * between / total))


def _power(categories: Mapping[str, Sequence[float]]) -> float:
    """Power at :data:`COUNTED_AT` of the chi-square test for the smallest category, noncentral approximation.

    The variance of a failure is taken as it was seen, and as 0.05 (1 in 20 fails) where nothing varied.
    """
    from scipy.special import chdtri, chndtr  # noqa: PLC0415 - 0.3 s that only a judged run should pay

    sizes = [len(group) for group in categories.values()]
    total = sum(sizes)
    variance = max(sum(e**2 for group in categories.values() for e in group) / total, 0.05)
    least = min(sizes)
    shift = least * (1 - least / total) * SHIFT**2 / variance
    critical = chdtri(len(sizes) - 1, COUNTED_AT)
    return float(1 - chndtr(critical, len(sizes) - 1, shift))
