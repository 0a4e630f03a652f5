"""The identity of the agent under test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GitState:
    """State of the checkout beside the digest; never part of it."""

    commit: str
    dirty: bool


@dataclass(frozen=True, slots=True)
class AgentBuild:
    """What the agent is made of."""

    digest: str
    """Digest over the component digests; no times, no absolute paths, no secrets."""
    components: Mapping[str, str]
    """Component name (``files/agent.py``, ``distributions/httpx``, ``model``, ``sampling`` …) to digest."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Model id, revision and sampling as declared."""
    git: GitState | None = None
    schema_version: int = 1


def changed_components(old: AgentBuild, new: AgentBuild) -> tuple[str, ...]:
    """Names of components added, removed or changed between two builds, sorted."""
    names = old.components.keys() | new.components.keys()
    return tuple(sorted(n for n in names if old.components.get(n) != new.components.get(n)))
