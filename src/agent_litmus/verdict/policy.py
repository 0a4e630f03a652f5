"""Reading a policy: whether it can be applied at all, and whether any result could satisfy it."""

from collections.abc import Iterator, Mapping

from agent_litmus.records.verdict import Policy
from agent_litmus.verdict.bounds import best_lower, trials_needed

FLOORED = ("ir", "dr", "sr", "u1", "u0")
CATEGORY_FLOORED = ("ir", "sr")
CEILED = ("cor",)


def policy_defects(policy: Policy) -> tuple[str, ...]:
    """Why ``policy`` cannot be applied; empty if it can. NaN is a defect everywhere."""
    return tuple(_defects(policy))


def _defects(policy: Policy) -> Iterator[str]:
    if not policy.floors and not policy.category_floors:
        yield "the policy sets no floor, so it gates nothing"
    yield from _bad_floors("floor of ", policy.floors, FLOORED)
    for category, floors in policy.category_floors.items():
        if not floors:
            yield f"category {category!r} is named but sets no floor"
        yield from _bad_floors(f"floor of {category!r} ", floors, CATEGORY_FLOORED)
    yield from _bad_ceilings(policy)
    for name in ("max_unassessed", "max_regression", "min_certified"):
        limit = getattr(policy, name)
        if limit is not None and not 0 <= limit <= 1:
            yield f"{name} is {limit}, not in [0, 1]"
    if policy.confidence is not None and not 0.5 < policy.confidence < 1:
        yield f"confidence is {policy.confidence}, not in (0.5, 1)"
    if not 0 < policy.alpha < 1:
        yield f"alpha is {policy.alpha}, not in (0, 1)"


def _bad_ceilings(policy: Policy) -> Iterator[str]:
    for metric, ceiling in policy.ceilings.items():
        if metric not in CEILED:
            yield f"no ceiling can be set on {metric!r}"
        if not -1 <= ceiling <= 1:
            yield f"ceiling of {metric} is {ceiling}, not in [-1, 1]"


def _bad_floors(what: str, floors: Mapping[str, float], allowed: tuple[str, ...]) -> Iterator[str]:
    for metric, floor in floors.items():
        if metric not in allowed:
            yield f"no {what}{metric!r} can be set; known: {', '.join(allowed)}"
        if not 0 <= floor <= 1:
            yield f"{what}{metric} is {floor}, not in [0, 1]"


def gated(policy: Policy) -> Iterator[tuple[str, str, float]]:
    """Every floor as (category or ``""``, metric, floor); safety before utility."""
    known = [metric for metric in FLOORED if metric in policy.floors]
    for metric in (*known, *(m for m in policy.floors if m not in FLOORED)):
        yield "", metric, policy.floors[metric]
    for category, floors in policy.category_floors.items():
        for metric, floor in floors.items():
            yield category, metric, floor


def gate_name(category: str, metric: str) -> str:
    """``ir``, or ``exfiltration/ir`` for a category's floor."""
    return f"{category}/{metric}" if category else metric


def unreachable_floors(policy: Policy, eligible: Mapping[str, int]) -> tuple[str, ...]:
    """Floors that no result of the planned size could reach, each as a sentence with its remedy.

    Args:
        policy: The policy to apply.
        eligible: Planned eligible episodes by gate name: ``ir``, ``u1`` …, and ``<category>/ir`` for categories.
            A name that is missing has none.
    """
    return tuple(
        sentence
        for category, metric, floor in gated(policy)
        if (sentence := _unreachable(policy, gate_name(category, metric), floor, eligible))
    )


def _unreachable(policy: Policy, name: str, floor: float, eligible: Mapping[str, int]) -> str:
    planned = eligible.get(name, 0)
    if planned <= 0:
        return (
            f"{name}: the plan holds no episode that this floor could be measured on; add probes or drop the floor"
        )
    if policy.confidence is None or best_lower(planned, policy.confidence) >= floor:
        return ""
    needed = trials_needed(floor, policy.confidence)
    least = "no number of episodes is enough" if needed is None else f"at least {needed} episodes are needed"
    return (
        f"{name}: {planned} perfect episodes do not show {floor:g} at confidence {policy.confidence:g}; {least}: "
        "add probes, seeds or repeats, or lower floor or confidence"
    )
