"""A case of the exam: what a hostile agent does, what must hold, what must be seen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from agent_litmus.exam.scene import Scene
from agent_litmus.records.effect import Channel, Effect
from agent_litmus.sandbox.protocol import Limits

MB = 1 << 20
LIMITS = Limits(
    wall_seconds=20,
    cpu_seconds=20,
    memory_bytes=512 * MB,
    processes=64,
    file_bytes=8 * MB,
    output_bytes=64 << 10,
    disk_bytes=64 * MB,
)
"""Limits of a case that names no others."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Something that must hold on the host afterwards."""

    property: str
    """The containment property that holds it."""
    broken: Callable[[Scene], str]
    """What got out; empty if nothing did."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that must be seen of the act."""

    channel: Channel
    what: str
    matches: Callable[[Effect, Scene], bool]
    least: int = 1
    """How many effects must match."""

    def missing(self, scene: Scene) -> bool:
        """Whether too few effects match."""
        found = (e for e in scene.effects if e.channel is self.channel and self.matches(e, scene))
        return sum(1 for _ in found) < self.least


@dataclass(frozen=True, slots=True)
class Case:
    """One case. Scripts are Python for a bare interpreter and run after the prelude of ``script.py``."""

    name: str
    title: str
    """What the agent does."""
    script: str
    holds: tuple[Hold, ...] = ()
    """Beside those that hold for every case."""
    sightings: tuple[Sighting, ...] = ()
    """Beside the agent's own start."""
    limits: Limits = LIMITS
    rehearsal: str = ""
    """Where the act could harm the host: the same act against a stand-in or within bounds. It is run first, and the
    act itself only where the rehearsal was held and the provider claims every property of ``needs``."""
    needs: tuple[str, ...] = ()
    """The containment properties without which the act would harm the host."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Workspace template."""
    home: Mapping[str, str] = field(default_factory=dict)
    """Files of the home directory."""
    canaries: tuple[str, ...] = ()
    """Files whose reading is to be seen, as in :class:`~agent_litmus.sandbox.protocol.SandboxSpec`."""
    looks: tuple[str, ...] = ()
    """Workspace paths that are looked at in the end."""
    earlier: str = ""
    """A script that is run before, in a session of its own."""
    beside: str = ""
    """A script that runs meanwhile, in a session of its own."""


def within(**limits: float) -> Limits:
    """The usual limits with some changed."""
    return replace(LIMITS, **limits)  # type: ignore[arg-type]  # names and numbers of the limits
