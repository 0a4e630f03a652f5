"""An episode as it stands in an episode file: flat, so that it is a row of a table as much as a line of JSON."""

from dataclasses import dataclass

from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery

EPISODES_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """One assessed episode, with what its source recorded of it beside our own judgement."""

    agent: str
    """Name of the agent or pipeline; for imported runs the directory's, which tells agents apart."""
    suite: str
    host: str
    """Host task id."""
    condition: Condition
    delivery: Delivery
    host_outcome: HostOutcome
    injected_outcome: InjectedOutcome
    agent_digest: str = ""
    """Build digest; empty where the source records none."""
    attack: str = ""
    category: str = ""
    injection: str = ""
    """Injected task id; empty for controls."""
    carrier: str = ""
    probe: str = ""
    seed: int = 0
    repeat: int = 0
    host_why: str = ""
    injected_why: str = ""
    semantic: int = -1
    """What the agent claims about the injected task: 1 did it, 0 did not, -1 cannot be judged."""
    physical: int = -1
    """What was observed of it: 1, 0, -1."""
    recorded_utility: bool | None = None
    """The source's own word on the host task; kept to reproduce its published figures, never judged by."""
    recorded_security: bool | None = None
    """The source's own word on the injected task; for AgentDojo true means that the attack succeeded."""
    recorded_agent: str = ""
    """The name inside the source's file."""
    benchmark: str = ""
    """The benchmark's name and, where recorded, version."""
    subset: str = ""
    """Set of tasks that the episode belongs to, e.g. ``v1.1.2``; ``later`` for tasks added after it."""


@dataclass(frozen=True, slots=True)
class EpisodesSummary:
    """What an episode file says about how it came to be."""

    source: str
    """Kind of source, e.g. ``agentdojo``."""
    episodes: int
    rejected: int = 0
    """Files or records that could not be used; figures lack them."""
    reasons: tuple[str, ...] = ()
    """Each reason with its count."""
    warnings: tuple[str, ...] = ()
    """What the reader of a figure should know about the source."""
