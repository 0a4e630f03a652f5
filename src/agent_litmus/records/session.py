"""What one session yielded: raw evidence, one journal line per session. Nothing here is judged yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agent_litmus.records.effect import ChannelReport, Effect
from agent_litmus.records.probe import EpisodeKey


class ExitKind(StrEnum):
    """How the agent's process ended."""

    EXITED = "exited"
    SIGNALED = "signaled"
    TIMEOUT = "timeout"
    NOT_STARTED = "not_started"
    HARNESS_ERROR = "harness_error"


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """End of the agent's process. ``code``: exit status or signal number."""

    kind: ExitKind
    code: int | None = None
    why: str = ""

    @property
    def clean(self) -> bool:
        """Whether the process exited with status 0."""
        return self.kind is ExitKind.EXITED and self.code == 0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A gateway receipt: one model request of this session and what came back."""

    id: str
    """Receipt id minted by the gateway, unique in the run."""
    model: str
    status: int
    """HTTP status the agent saw; 0 when no answer was given."""
    request_digest: str
    response_digest: str
    """Digest over the generated content alone (no ids, no times)."""
    request_text: str = ""
    """The messages' text, joined, capped; hostile."""
    response_text: str = ""
    """The generated text (tool calls as JSON), capped; hostile."""
    duration: float = 0.0
    """Seconds from forwarding the request to the last byte of the answer."""
    error: str = ""
    """Why the call failed, secrets scrubbed; empty when it succeeded."""
    prompt_tokens: int | None = None
    """Prompt tokens as the upstream counted them; ``None`` where it does not say."""
    completion_tokens: int | None = None
    """Completion tokens as the upstream counted them; ``None`` where it does not say."""


class CheckState(StrEnum):
    """Result of a physical check."""

    MET = "met"
    """The condition holds; for a forbidden check: the harm was executed."""
    ATTEMPTED = "attempted"
    """A matching act was made and refused by the environment."""
    UNMET = "unmet"
    UNASSESSED = "unassessed"
    """A channel the check needs was not observed, or the check itself failed."""


@dataclass(frozen=True, slots=True)
class CheckToken:
    """A well-formed token by which a check was met; any one of the slot will do for the check."""

    slot: str
    value: str
    own: bool
    """Whether it is this session's token."""
    given: bool
    """Whether the text stands anywhere in what was given to this session."""
    near: bool
    """Whether it resembles a token that was given to this session, as a bad copy of it does."""
    lead: str = ""
    """The last words before it in its sentence, lower case, digits left out. Hostile."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check's result; ``invariant`` as in the check."""

    id: str
    state: CheckState
    invariant: bool = False
    why: str = ""
    """What was seen, or why it could not be judged."""
    tokens: tuple[CheckToken, ...] = ()
    """Tokens that met a host task's check: each would do alone, or the check is not met without it. Bounded."""


class Delivery(StrEnum):
    """Whether the injection reached the agent; observed, never assumed."""

    ABSENT = "absent"
    UNDELIVERED = "undelivered"
    DELIVERED = "delivered"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TokenSighting:
    """Where a well-formed token of a slot was seen coming *from* the agent or the model."""

    slot: str
    value: str
    where: str
    """``answer``, ``effect``, ``request`` (a model request) or ``response`` (a model response)."""
    own: bool
    """Whether it is this session's token."""
    given: bool
    """Whether the text stands anywhere in what was given to this session (prompt, world, agent's own prompts)."""
    foreign_session: str = ""
    """Key of the session of this run it was minted for, where it was minted for another."""


@dataclass(frozen=True, slots=True)
class EndpointReceipt:
    """What a remote agent's endpoint said of itself beside one response (see :mod:`agent_litmus.receipts`)."""

    digest: str
    """Build digest as the endpoint reports it; empty where it reported none."""
    nonce: str
    """The fresh random text the harness sent with the request, as it came back; empty where it did not."""
    mac_valid: bool | None
    """Whether the HMAC over nonce, digest, replica and response is the shared key's; ``None``: there is no key."""
    replica: str = ""
    """Which replica answered, as the endpoint names it."""
    why: str = ""
    """What is wrong with the receipt; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an agent's process ended, in the sandbox's own words; the harness's record must say the same."""

    exit: ProcessExit
    output: str
    """SHA-256 of the bytes the agent answered with (the answer file, else standard output), as they were kept."""


@dataclass(frozen=True, slots=True)
class SessionProof:
    """Facts about the session itself that coupling rests on."""

    session_id: str
    """Fresh random id."""
    snapshot_digest: str
    """Build digest recomputed from the snapshot that was mounted; empty when it was not verified."""
    exec_seen: bool | None
    """Whether the exec witness saw the snapshot being executed; ``None``: no witness."""
    process_fresh: bool | None
    """Whether a new process tree was started for this session; ``None``: not witnessed."""
    workspace_fresh: bool | None
    """Whether the workspace held exactly the template at the start; ``None``: not witnessed."""
    base_unchanged: bool | None
    """Whether the template was byte-for-byte unchanged afterwards; ``None``: not verified."""
    endpoint: tuple[EndpointReceipt, ...] = ()
    """One receipt for every response of a remote agent's endpoint in this session, in order."""
    ended: Ended | None = None
    """How the sandbox saw the agent's process end; ``None``: it does not say."""


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """What each side counted for itself, before anything was cut for a report."""

    gateway_calls: int
    """Model requests as the gateway counted them."""
    tool_server_calls: int
    """Tool calls as the tool server counted them."""
    tool_effects: int
    """Tool calls among the recorded effects."""
    model_calls: int
    """Receipts among the recorded model calls."""
    effects: int
    """Recorded effects."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """Everything one session yielded."""

    key: EpisodeKey
    order: int
    host_id: str
    exit: ProcessExit
    answer: str | None
    """The agent's answer; ``None`` when there is none (see ``answer_why``). Hostile."""
    answer_why: str = ""
    """Why there is no assessable answer; empty when there is one."""
    injection_id: str = ""
    category: str = ""
    carrier_id: str = ""
    carrier_kind: str = ""
    attack_id: str = ""
    injected_text: str = ""
    """The injected text as this session had it; empty for controls."""
    delivery: Delivery = Delivery.ABSENT
    delivery_why: str = ""
    host_checks: tuple[CheckResult, ...] = ()
    forbidden_checks: tuple[CheckResult, ...] = ()
    effects: tuple[Effect, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    tool_calls: int = 0
    """Tool calls as the tool server counted them."""
    tokens: Mapping[str, str] = field(default_factory=dict)
    sightings: tuple[TokenSighting, ...] = ()
    channels: tuple[ChannelReport, ...] = ()
    proof: SessionProof | None = None
    duration: float = 0.0
    """Wall seconds of the agent's process."""
    output_truncated: bool = False
    stderr_tail: str = ""
    """Last part of standard error, for people only; never judged. Hostile."""
    response_digest: str = ""
    """Digest over answer, tool calls and model responses; equal digests mean equal behaviour."""
    normalised_digest: str = ""
    """The same with this session's tokens replaced by their slots."""
    output_digest: str = ""
    """SHA-256 of the bytes that ``answer`` was read from; empty where none were."""
    counts: SessionCounts | None = None
    """Counts of every side; ``None`` in records that were made without them."""
    worker: int = 0
    """Which of the run's workers ran the session; sessions of one worker follow each other."""
    started: float = 0.0
    """Seconds from the run's first session (of this invocation) to this session's start, monotonic clock."""
    watermarks: tuple[int, int] | None = None
    """Tool watermarks handed out in tool results, and how many of them were read back in later requests, tool
    arguments or the answer; ``None`` where the tool server sets none."""

    @property
    def finished(self) -> bool:
        """Whether the session ended with an assessable answer."""
        return not self.answer_why and self.answer is not None
