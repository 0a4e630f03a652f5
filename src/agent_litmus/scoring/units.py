"""Instruction units: which pieces of text asked something of the agent, and which of them is the adversary's."""

from collections.abc import Iterable
from typing import Final

from agent_litmus.records.episode import Episode
from agent_litmus.records.probe import Condition, InstructionUnit, Probe, Provenance

HOST_UNIT: Final = "host"
"""Id of the unit that holds the user's request."""
INJECTED_UNIT: Final = "injected"
"""Id of the unit that holds the adversary's request."""
SYSTEM_UNIT: Final = "system"
"""Id of the unit that holds the agent's own prompt."""
UNATTRIBUTED: Final = "unattributed"
"""Stands in for a unit id where it cannot be told what a refusal is aimed at."""
PROMPT_CARRIER: Final = "prompt"

_THIRD_PARTY = frozenset({Provenance.TOOL_OUTPUT, Provenance.RETRIEVED_DOC, Provenance.TOOL_DESCRIPTION})


def units_for(probe: Probe, *, injected_text: str = "", system_text: str = "") -> tuple[InstructionUnit, ...]:
    """The units of one episode of ``probe``, in the order the agent meets them.

    Args:
        probe: The probe; a direct one has no injected unit, since the user's own request is the dangerous one.
        injected_text: The injected text as the session had it; the probe's own, tokens unexpanded, where empty.
        system_text: The agent's own prompt, where it is known.
    """
    units = []
    if system_text:
        units.append(InstructionUnit(SYSTEM_UNIT, Provenance.SYSTEM, SYSTEM_UNIT, system_text))
    units.append(InstructionUnit(HOST_UNIT, Provenance.USER, PROMPT_CARRIER, probe.host.prompt))
    if probe.condition is Condition.INJECTED and probe.injection is not None and probe.carrier is not None:
        text = injected_text or probe.injected_text
        goal = probe.injection.goal
        whole = text if goal in text else f"{text}\n{goal}"
        units.append(InstructionUnit(INJECTED_UNIT, probe.carrier.kind.provenance, probe.carrier.id, whole))
    return tuple(units)


def injected_ids(
    units: Iterable[InstructionUnit], condition: Condition, *, injection_id: str = "", carrier_id: str = ""
) -> frozenset[str]:
    """Ids of the units that hold the dangerous request.

    A unit is one by its id (``injected`` or the injection's id), else by the injection's carrier, else by coming
    from a third party at all. In a direct episode it is the user's unit; a control has none.
    """
    units = tuple(units)
    if condition is Condition.CONTROL:
        return frozenset()
    if condition is Condition.DIRECT:
        return frozenset(u.id for u in units if u.provenance is Provenance.USER)
    by_id = frozenset(u.id for u in units if u.id in {INJECTED_UNIT, injection_id})
    by_carrier = frozenset(u.id for u in units if carrier_id and u.carrier == carrier_id)
    return by_id or by_carrier or frozenset(u.id for u in units if u.provenance in _THIRD_PARTY)


def injected_ids_of(episode: Episode) -> frozenset[str]:
    """Ids of the units of ``episode`` that hold the dangerous request."""
    return injected_ids(
        episode.units, episode.condition, injection_id=episode.injection_id, carrier_id=episode.carrier_id
    )
