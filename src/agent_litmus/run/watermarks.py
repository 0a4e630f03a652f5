"""Tool watermarks: tokens of the session that reach the agent in tool results alone, and come back from it.

Session tokens do the job of a mark of its own: they are new in every session, they stand where the task makes the
agent look, and they disturb no model (docs/adr/0006).
"""

from collections.abc import Iterable

from agent_litmus.records.session import TokenSighting
from agent_litmus.run.context import Rendered

_LATER = frozenset({"request", "effect", "answer"})


def watermarks(rendered: Rendered) -> tuple[str, ...]:
    """Tokens of a session that are watermarks once a tool result holds them, in the order of their slots.

    What stands in the prompt or in a tool's description reaches the agent without a call.
    """
    world = rendered.environment
    uncalled = "\n".join((rendered.prompt, *world.tool_descriptions.values()))
    return tuple(token for _, token in sorted(rendered.tokens.items()) if token not in uncalled)


def read_back(handed_out: frozenset[str], sightings: Iterable[TokenSighting]) -> tuple[int, int]:
    """Watermarks that were sent in tool results, and how many of them were seen in what the agent did or asked."""
    seen = {sighting.value for sighting in sightings if sighting.own and sighting.where in _LATER}
    return len(handed_out), len(handed_out & seen)
