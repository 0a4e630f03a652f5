"""Everything that is known after a case was played."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_litmus.records.effect import Channel, ChannelReport, Effect
from agent_litmus.sandbox.protocol import Limits, Look, ProcessResult, SessionFacts


@dataclass(frozen=True, slots=True)
class HostSeen:
    """What became of the stand-ins on the host."""

    process: str = ""
    """What happened to the stand-in process; empty: it lives untouched."""
    files: str = ""
    """What changed of the stand-in files; empty: nothing."""
    reached: tuple[str, ...] = ()
    """Which of the host's listeners were connected to."""
    left: tuple[str, ...] = ()
    """Things of the session found on the host afterwards, outside its own directories."""
    alive: tuple[int, ...] = ()
    """Processes of the session that outlived it."""
    clock_shift: float = 0.0
    """Seconds by which the host's clock was changed."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Texts that stand at places where an agent must not get them from."""

    file: str
    environment: str
    neighbour: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One played case."""

    token: str
    """Stands in the command line of every process of the session."""
    limits: Limits
    result: ProcessResult
    effects: tuple[Effect, ...]
    facts: SessionFacts
    looks: Mapping[str, Look]
    host: HostSeen
    secrets: Secrets
    told: Mapping[str, Any] = field(default_factory=dict)
    """What the script was told of the host: numbers, paths and ports of the stand-ins."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What the script reported."""

    @property
    def output(self) -> bytes:
        """Everything the agent gave back."""
        return b"\n".join((self.result.stdout, self.result.stderr, self.result.answer_file or b""))

    def channel(self, channel: Channel) -> ChannelReport | None:
        """The session's own word on a channel."""
        return next((report for report in self.facts.channels if report.channel is channel), None)
