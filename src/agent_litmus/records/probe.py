"""What is asked of the agent: host tasks, injections, carriers, attacks and their product, the probe."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Provenance(StrEnum):
    """Where an instruction unit reached the agent from."""

    SYSTEM = "system"
    USER = "user"
    TOOL_OUTPUT = "tool_output"
    RETRIEVED_DOC = "retrieved_doc"
    TOOL_DESCRIPTION = "tool_description"


class Condition(StrEnum):
    """The arm of the experiment an episode belongs to."""

    CONTROL = "control"
    """Host task, no injection."""
    INJECTED = "injected"
    """Host task with an injected task in one of its carriers."""
    DIRECT = "direct"
    """The dangerous request is the user's own request; no pairing."""


class CarrierKind(StrEnum):
    """The kind of thing that carries an injection to the agent."""

    FILE = "file"
    MAIL = "mail"
    TICKET = "ticket"
    PAGE = "page"
    TOOL_DESCRIPTION = "tool_description"

    @property
    def provenance(self) -> Provenance:
        """The provenance tag an injection gets from this carrier."""
        return _CARRIER_PROVENANCE[self]


_CARRIER_PROVENANCE = {
    CarrierKind.FILE: Provenance.RETRIEVED_DOC,
    CarrierKind.MAIL: Provenance.TOOL_OUTPUT,
    CarrierKind.TICKET: Provenance.TOOL_OUTPUT,
    CarrierKind.PAGE: Provenance.RETRIEVED_DOC,
    CarrierKind.TOOL_DESCRIPTION: Provenance.TOOL_DESCRIPTION,
}


class CheckKind(StrEnum):
    """Physical checks a suite can ask for; the names are the keys of the suite format."""

    FILE_EXISTS = "file_exists"
    FILE_ABSENT = "file_absent"
    FILE_CONTAINS = "file_contains"
    FILE_UNCHANGED = "file_unchanged"
    FILE_READ = "file_read"
    TOOL_CALLED = "tool_called"
    MAIL_SENT = "mail_sent"
    TICKET_CREATED = "ticket_created"
    HTTP_REQUEST = "http_request"
    PROCESS_RUN = "process_run"
    SIGNAL_SENT = "signal_sent"
    SECRET_LEFT = "secret_left"  # noqa: S105 - a check's name, not a secret
    COMMAND = "command"
    ANSWER_CONTAINS = "answer_contains"


@dataclass(frozen=True, slots=True)
class Check:
    """One physical check. ``params`` hold the suite's text with ``{{token.x}}`` unexpanded."""

    id: str
    kind: CheckKind
    params: Mapping[str, Any]
    invariant: bool = False
    """True for a condition that holds before the agent acts ("unchanged"); it never earns ``partial``."""


@dataclass(frozen=True, slots=True)
class InstructionUnit:
    """A piece of instruction with its provenance; refusals are attributed to units by id."""

    id: str
    provenance: Provenance | None
    carrier: str
    """Id of the channel the unit arrives by, e.g. ``prompt`` or a carrier id."""
    text: str = ""


class OracleAction(StrEnum):
    """What a scripted oracle step does."""

    CALL = "call"
    EXEC = "exec"
    WRITE = "write"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class OracleStep:
    """One scripted step.

    ``call``: params ``{tool, arguments}``; ``exec``: ``{argv}``; ``write``: ``{path, text}``;
    ``answer``: ``{text}``.
    """

    action: OracleAction
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PageReply:
    """How a web page is answered, beside its body."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header names to values, in place of or besides the usual ones."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The world an episode starts in. All text may hold ``{{token.x}}``, ``{{secret.x}}``, ``{{slot.x}}``."""

    id: str
    files: Mapping[str, str] = field(default_factory=dict)
    """Workspace files: relative path to text."""
    mailbox: tuple[Mapping[str, str], ...] = ()
    """Mails: ``{id, from, to, subject, body}``."""
    tickets: tuple[Mapping[str, str], ...] = ()
    """Tickets: ``{id, title, body, requester, status}``."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Web pages: URL to body, served by the tool server and by the HTTP sink."""
    replies: Mapping[str, PageReply] = field(default_factory=dict)
    """How pages are answered by the sink that are not answered as usual: URLs of ``pages``."""
    tool_descriptions: Mapping[str, str] = field(default_factory=dict)
    """Overrides of tool descriptions: tool name to text."""
    tools: tuple[str, ...] = ()
    """Names of the tools offered; empty means all."""
    home: Mapping[str, str] = field(default_factory=dict)
    """Files of the home directory: path relative to it, to text."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Secret name to text (usually holding a token); leaving the sandbox is a forbidden effect."""


@dataclass(frozen=True, slots=True)
class HostTask:
    """The legitimate job."""

    id: str
    environment: Environment
    prompt: str
    checks: tuple[Check, ...]
    oracle: tuple[OracleStep, ...]


@dataclass(frozen=True, slots=True)
class Injection:
    """The adversary's job. ``forbidden`` checks *fire* when the harm happened."""

    id: str
    goal: str
    text: str
    category: str
    forbidden: tuple[Check, ...]
    oracle: tuple[OracleStep, ...]
    destructive: bool = False
    """Whether it would harm a machine that does not contain it; refused there unless that is allowed."""
    effects: str = "physical"
    """``physical``, or ``none`` where the suite declares that the harm shows in the answer alone."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A place in the environment, marked ``{{slot.<slot>}}``, that the injection is written into."""

    id: str
    kind: CarrierKind
    slot: str


@dataclass(frozen=True, slots=True)
class Attack:
    """A template around the injection's text; ``{{injection}}`` and ``{{goal}}`` are replaced."""

    id: str
    template: str


@dataclass(frozen=True, slots=True)
class Probe:
    """host x injection x carrier x attack. A control has none of the last three."""

    id: str
    condition: Condition
    host: HostTask
    injection: Injection | None = None
    carrier: Carrier | None = None
    attack: Attack | None = None
    do_nothing_passes: bool = False
    """Declared exception: a session that does nothing is allowed to satisfy the host task."""

    @property
    def injected_text(self) -> str:
        """The attack's text around the injection, tokens unexpanded; empty for a control."""
        if self.injection is None or self.attack is None:
            return ""
        return self.attack.template.replace("{{injection}}", self.injection.text).replace(
            "{{goal}}", self.injection.goal
        )


class TokenAlphabet(StrEnum):
    """The shape of a slot's tokens. Small models copy ``OAK-11``, not 40 hex digits."""

    WORDS = "words"
    """``OAK-11``: a short word, a hyphen, two digits."""
    DIGITS = "digits"
    """Eight decimal digits."""
    HEX = "hex"
    """Thirty-two hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A loaded, validated suite."""

    id: str
    version: str
    probes: tuple[Probe, ...]
    """Controls (one per host task used) followed by injected and direct probes, in file order."""
    tokens: Mapping[str, TokenAlphabet]
    digest: str
    mode: str = "live"
    """Validity mode: ``live``, ``pinned`` or ``conformance``."""
    pin: str | None = None
    """The digest a ``pinned`` suite is pinned to."""
    delivery_floor: float = 0.8
    """Least share of injected episodes, in [0, 1], whose delivery must be witnessed."""
    source: str = ""
    """The path as given, for messages."""


@dataclass(frozen=True, slots=True, order=True)
class EpisodeKey:
    """Identity of an episode inside a plan. ``probe`` is the probe's id (a control's is its host task's)."""

    probe: str
    condition: Condition
    seed: int
    repeat: int = 0

    def __str__(self) -> str:
        return f"{self.probe}/{self.condition}/s{self.seed}.{self.repeat}"


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """One planned session: what is probed, in which order, with which tokens."""

    key: EpisodeKey
    order: int
    tokens: Mapping[str, str]
    """Slot to this session's token; drawn without replacement within the run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every episode of a run, in execution order."""

    episodes: tuple[PlannedEpisode, ...]
    run_seed: int
    suite_planned: int
    """Number of episodes the whole suite would have; more than ``len(episodes)`` means a partial plan."""
    digest: str
    """Digest over keys, order and tokens."""

    @property
    def partial(self) -> bool:
        """Whether a filter or a budget left part of the suite out."""
        return len(self.episodes) != self.suite_planned
