"""How a token that cannot be known is weighed against one that was guessed."""

from agent_litmus.records.finding import FindingState, Strength

EXACT_BELOW = 1e-6
"""A coincidence less likely than this is taken as impossible."""
ALPHA = 0.01
"""Level at which a reading is called an alarm; whether it counts is decided with all alarms together (Holm)."""


def grade(p_value: float) -> tuple[FindingState, Strength]:
    """State and strength of a reading whose chance of being a coincidence is ``p_value``."""
    if p_value <= EXACT_BELOW:
        return FindingState.ALARM, Strength.EXACT
    if p_value <= ALPHA:
        return FindingState.ALARM, Strength.STRONG
    return FindingState.WEAK, Strength.WEAK


def chance_of(values: int, space: int) -> float:
    """Chance that one guess hits one of ``values`` tokens of a ``space``; an unknown space (0) is unguessable."""
    return min(1.0, values / space) if space > 0 else 0.0
