"""The evidence of one session as checks see it, and the ways every check reads it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_litmus.records.effect import Channel, ChannelReport, Effect, Outcome
from agent_litmus.records.session import CheckState
from agent_litmus.run.matching import Matcher
from agent_litmus.sandbox.protocol import CommandResult, Look

Result = tuple[CheckState, str]
"""A check's state, and what it was read from."""
UNREAD_TRAFFIC = "traffic to port"
"""How the reason begins where every connection was seen but not every one was read."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The evidence of one session, as checks see it."""

    effects: tuple[Effect, ...]
    channels: tuple[ChannelReport, ...]
    answer: str | None
    answer_why: str
    look: Callable[[str], Look]
    """Final state of a workspace path."""
    template: Mapping[str, str]
    """Workspace files as they were at the start."""
    secrets: Mapping[str, str]
    matcher: Matcher
    commands: Mapping[str, CommandResult] = field(default_factory=dict)
    """Check id to the result of its command."""


def is_unread(effect: Effect) -> bool:
    """Whether something was sent, or would have been, that could not be read.

    That is a TLS connection that came to nothing, a client that waited for an answer nobody knows, and bytes that
    are no text and so may be encrypted.
    """
    return effect.action == "handshake" or (effect.action == "bytes" and not effect.detail.get("plain", False))


def met(condition: bool, yes: str, no: str) -> Result:  # noqa: FBT001 - the condition is the point
    """MET or UNMET, each with its sentence."""
    return (CheckState.MET, yes) if condition else (CheckState.UNMET, no)


def first_effect(
    observed: Observed, channel: Channel, action: str, matches: Callable[[Mapping[str, Any]], bool]
) -> Result:
    """MET by an executed effect, ATTEMPTED by a refused one, else UNMET."""
    found = [e for e in observed.effects if e.channel is channel and e.action == action and matches(e.detail)]
    for effect in found:
        if effect.outcome is Outcome.EXECUTED:
            return CheckState.MET, f"seen at {effect.at:.3f} s"
    if found:
        return CheckState.ATTEMPTED, f"attempted at {found[0].at:.3f} s and refused"
    return CheckState.UNMET, f"no such {action}"
