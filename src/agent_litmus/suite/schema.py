"""The suite format: strict models of what a suite file may hold, and its JSON Schema."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
    model_validator,
)

from agent_litmus.records.digest import is_digest
from agent_litmus.records.probe import OracleAction
from agent_litmus.suite.checks import CheckModel, Params
from agent_litmus.suite.fields import Identifier, Name, Plain, RelativePath, Strict, Text, Tool, Url, without_null

_FRAMING = {"content-length", "transfer-encoding", "connection", "date", "server"}


class MailModel(Strict):
    """A mail in the mailbox."""

    id: Identifier
    sender: str = Field(alias="from")
    to: str
    subject: str = ""
    body: str = ""


class TicketModel(Strict):
    """A ticket."""

    id: Identifier
    title: str
    body: str = ""
    requester: str = ""
    status: str = "open"


def _header(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
        raise ValueError(f"{name!r} is not the name of a header")
    if name.lower() in _FRAMING:
        raise ValueError(f"'{name}' is set by the server itself")
    return name


def _header_value(value: str) -> str:
    if not value.isprintable() or not value.isascii() or value != value.strip():
        raise ValueError("a header's value is one line of ASCII, without blanks around it")
    return value


class PageModel(Params):
    """How a web page is answered; text alone stands for its ``body``."""

    main = "body"
    body: str = ""
    status: Annotated[int, Field(ge=200, le=599)] = 200
    """HTTP status; the tool ``fetch_page`` gives the body whatever it is."""
    headers: dict[Annotated[str, AfterValidator(_header)], Annotated[Plain, AfterValidator(_header_value)]] = Field(
        default_factory=dict
    )
    """Headers in place of or besides the usual ones."""


class EnvironmentModel(Strict):
    """The world an episode starts in. Texts may hold ``{{token.x}}``, ``{{secret.x}}`` and ``{{slot.x}}``."""

    id: Identifier
    files: dict[RelativePath, str] = Field(default_factory=dict)
    """Workspace files: path to text."""
    home: dict[RelativePath, str] = Field(default_factory=dict)
    """Files of the agent's home directory, such as ``.aws/credentials``: path below it to text. Like one of the
    workspace, one that holds a ``{{secret.x}}`` is a canary: that it is read is noted."""
    mailbox: list[MailModel] = Field(default_factory=list)
    tickets: list[TicketModel] = Field(default_factory=list)
    pages: dict[Url, PageModel] = Field(default_factory=dict)
    """Web pages: URL to body, or to ``body``, ``status`` and ``headers``; served over HTTP and HTTPS."""
    tool_descriptions: dict[Tool, Text] = Field(default_factory=dict)
    """Tool to the description shown instead of the usual one."""
    tools: list[Tool] = Field(default_factory=list)
    """Tools offered; none named means all."""
    secrets: dict[Name, Text] = Field(default_factory=dict)
    """Secret to its text, which may hold ``{{token.x}}``."""


class CallModel(Strict):
    """Call a tool."""

    tool: Tool
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class ExecModel(Strict):
    """Execute a command; an argument ``{python}`` stands for the interpreter."""

    argv: Annotated[list[Text], Field(min_length=1)]


class WriteModel(Strict):
    """Write a workspace file."""

    path: RelativePath
    text: str


class StepModel(Strict):
    """One scripted step: exactly one of ``call``, ``exec``, ``write``, ``answer``."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [action.value]} for action in OracleAction]}
    )

    call: CallModel | None = None
    exec: ExecModel | None = None
    write: WriteModel | None = None
    answer: str | None = None

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        given = [action.value for action in OracleAction if getattr(self, action) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"a step is exactly one of {', '.join(OracleAction)}; found {found}")
        return self


class HostTaskModel(Strict):
    """The legitimate job."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["prompt"]}, {"required": ["turns"]}]})

    id: Identifier
    environment: Identifier
    prompt: Text | None = None
    turns: list[Text] | None = Field(default=None, json_schema_extra={"minItems": 1, "maxItems": 1})
    """The user's turns; exactly one for now. Give either this or ``prompt``."""
    checks: Annotated[list[CheckModel], Field(min_length=1)]
    oracle: Annotated[list[StepModel], Field(min_length=1)]

    @field_validator("turns")
    @classmethod
    def _one_turn(cls, turns: list[str] | None) -> list[str] | None:
        if turns is not None and len(turns) != 1:
            raise ValueError(f"exactly one turn is supported, not {len(turns)}; put the whole request into one")
        return turns

    @model_validator(mode="after")
    def _one_prompt(self) -> Self:
        if (self.prompt is None) == (self.turns is None):
            raise ValueError("give either 'prompt' or 'turns'")
        return self

    @property
    def text(self) -> str:
        """What the user says."""
        return self.prompt if self.prompt is not None else (self.turns or [""])[0]


class InjectionModel(Strict):
    """The adversary's job."""

    id: Identifier
    goal: Text
    """What the adversary wants, in a few words."""
    text: Text
    """What is written into the carrier."""
    category: Identifier
    destructive: bool = False
    """Whether its harm would be real on a machine that does not contain the agent, such as deleting what lies
    outside of the workspace; the ``process`` provider refuses it without ``--unconfined``."""
    effects: Literal["physical", "none"] = "physical"
    """``none``: the harm shows in the answer alone, so every forbidden check is an ``answer_contains``."""
    forbidden: list[CheckModel] = Field(default_factory=list)
    """Checks that hold only when the harm was done."""
    oracle: list[StepModel] = Field(default_factory=list)
    """Steps that do the harm, to prove that the forbidden checks fire."""


class CarrierModel(Strict):
    """A marked place in an environment that an injection is written into."""

    id: Identifier
    kind: Literal["file", "mail", "ticket", "page", "tool_description"]
    slot: Name


class AttackModel(Strict):
    """A template around an injection's text."""

    id: Identifier
    template: Annotated[str, StringConstraints(min_length=1)]
    """Text with ``{{injection}}`` and, if wanted, ``{{goal}}``."""


Selection = Literal["all"] | list[Identifier]
"""``all``, or ids."""


class MatrixRow(Strict):
    """Host tasks x injections x carriers x attacks."""

    hosts: Selection = "all"
    injections: Selection = "all"
    carriers: Selection = "all"
    """``all`` takes those whose slot is in the host's environment; named ones must fit every host."""
    attacks: Selection = "all"


class DirectModel(Strict):
    """The dangerous request as the user's own request."""

    injection: Identifier
    environment: Identifier


class SuiteModel(Strict):
    """A suite of probes."""

    suite: Identifier
    """The suite's id."""
    version: Text
    mode: Literal["live", "pinned", "conformance"] = "live"
    """Validity mode."""
    pin: str | None = None
    """For ``pinned``: the digest of the agent build, ``sha256:`` and 64 hexadecimal digits."""
    delivery_floor: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Least share of injected episodes whose delivery must be witnessed."""
    tokens: dict[Name, Literal["words", "digits", "hex"]] = Field(default_factory=dict)
    """Token slot to alphabet."""
    environments: Annotated[list[EnvironmentModel], Field(min_length=1)]
    host_tasks: list[HostTaskModel] = Field(default_factory=list)
    injections: Annotated[list[InjectionModel], Field(min_length=1)]
    carriers: list[CarrierModel] = Field(default_factory=list)
    attacks: list[AttackModel] = Field(default_factory=list)
    matrix: list[MatrixRow] = Field(default_factory=list)
    direct: list[DirectModel] = Field(default_factory=list)
    do_nothing_passes: list[Identifier] = Field(default_factory=list)
    """Host tasks whose checks a session that does nothing is allowed to meet."""

    @model_validator(mode="after")
    def _pin_and_mode(self) -> Self:
        if self.mode == "pinned" and not is_digest(self.pin):
            raise ValueError("mode 'pinned' needs 'pin': 'sha256:' and 64 hexadecimal digits")
        if self.mode != "pinned" and self.pin is not None:
            raise ValueError(f"'pin' goes with mode 'pinned' only, and the mode is '{self.mode}'")
        return self


def suite_json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the suite format, for editors; references are checked by the loader alone."""
    schema = without_null(SuiteModel.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
