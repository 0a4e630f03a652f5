"""What drives a session: something that says how to start the agent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from agent_litmus.records.probe import Probe
from agent_litmus.sandbox.protocol import Launch, SandboxPaths


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """What a target may use to start the agent in one session."""

    paths: SandboxPaths
    probe: Probe
    prompt: str
    """The user prompt, placeholders expanded."""
    seed: int
    session_id: str
    render: Callable[[Any], Any]
    """Expands ``{{token.x}}``, ``{{secret.x}}`` and ``{{slot.x}}`` in nested values."""
    authority: str = ""
    """Certificate (PEM) of the authority that signs for the session's HTTPS hosts; empty where there is none."""


class Target(Protocol):
    """An agent under test."""

    @property
    def executes_snapshot(self) -> bool:
        """Whether the agent runs from the build snapshot (built-in targets do not)."""

    def launch(self, context: LaunchContext) -> Launch:
        """How to start the agent in this session."""
