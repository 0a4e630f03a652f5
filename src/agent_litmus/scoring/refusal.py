"""Refusals in the agent's words, attributed to the instruction unit they are aimed at."""

from collections.abc import Sequence

from agent_litmus.records.episode import RefusalEvent
from agent_litmus.records.probe import InstructionUnit


def detect_refusals(text: str, units: Sequence[InstructionUnit]) -> tuple[RefusalEvent, ...]:
    """Refusals in one message of the agent. The rules arrive after the labelled set they are measured on."""
    del text, units
    return ()
