"""Proofs a run makes beside its episodes: calibration calls and leak pairs. Neither enters the score."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_litmus.records.probe import EpisodeKey
from agent_litmus.records.session import EndpointReceipt, ProcessExit, TokenSighting


@dataclass(frozen=True, slots=True)
class CalibrationCall:
    """One small model request the harness made itself, past the gateway, while sessions were running."""

    after: int
    """Sessions that were finished when it was made."""
    duration: float
    """Seconds from sending the request to the last byte of the answer, monotonic clock."""
    status: int
    """HTTP status; 0 when no answer came."""
    error: str = ""
    """Why it failed, secrets scrubbed; empty when it succeeded."""


@dataclass(frozen=True, slots=True)
class LeakPair:
    """A session was given tokens; the session started right after it on the same worker was asked for them."""

    planted: EpisodeKey
    """The episode whose tokens are asked for."""
    session_id: str
    """Fresh random id of the session that was asked."""
    exit: ProcessExit
    answer: str | None
    """Answer of the session that was asked; ``None`` when there is none (see ``answer_why``). Hostile."""
    answer_why: str = ""
    """Why there is no assessable answer; empty when there is one."""
    tokens: Mapping[str, str] = field(default_factory=dict)
    """The planted tokens, slot to value."""
    leaked: tuple[TokenSighting, ...] = ()
    """Planted tokens seen coming from the asked session (answer, effects, model requests or responses)."""
    endpoint: tuple[EndpointReceipt, ...] = ()
    """Receipts of a remote agent's endpoint for the asked session."""
    process_fresh: bool | None = None
    """As in :class:`SessionProof`, of the asked session."""
    workspace_fresh: bool | None = None
    """As in :class:`SessionProof`, of the asked session."""
    base_unchanged: bool | None = None
    """As in :class:`SessionProof`, of the asked session."""

    @property
    def asked(self) -> bool:
        """Whether the question was really put: the session ended with an assessable answer."""
        return not self.answer_why and self.answer is not None


@dataclass(frozen=True, slots=True)
class RunProofs:
    """All proofs of one run; ``None`` in a field means that the run did not make them (turned off, or imported)."""

    calibration: tuple[CalibrationCall, ...] | None = None
    leak_pairs: tuple[LeakPair, ...] | None = None
    leak_pairs_planned: int = 0
    """Leak pairs the plan asked for; fewer were made where sessions failed."""
    endpoint_start: tuple[EndpointReceipt, ...] | None = None
    """Receipts of every replica of a remote agent's endpoint, asked before the first session."""
    endpoint_end: tuple[EndpointReceipt, ...] | None = None
    """The same after the last session."""
