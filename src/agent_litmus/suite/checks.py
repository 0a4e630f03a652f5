"""Parameters of the physical checks, one model per kind, and the check itself: one kind and its parameters.

Where a kind has one obvious parameter, the scalar alone will do: ``file_exists: notes.txt``.
"""

import signal
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from agent_litmus.records.probe import CheckKind
from agent_litmus.suite.fields import Identifier, Name, Plain, Regex, RelativePath, Strict, Text, Tool


def _signal_name(name: str) -> str:
    if name not in signal.Signals.__members__:
        raise ValueError(f"{name[:40]!r} is no signal of this system; write it as SIGKILL or SIGTERM")
    return name


class Params(Strict):
    """Parameters of one kind of check."""

    main: ClassVar[str] = ""
    """The parameter that a scalar stands for; empty where a scalar is not enough."""
    one_of: ClassVar[tuple[str, ...]] = ()
    """Parameters of which exactly one must be given."""
    at_most_one_of: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_scalar(cls, value: Any) -> Any:
        if cls.main and isinstance(value, str):
            return {cls.main: value}
        if cls.main and not isinstance(value, (Mapping, cls)):
            raise ValueError("should be text or a mapping; put a number between quotes")
        return value

    @model_validator(mode="after")
    def _exclusive(self) -> Self:
        given = [name for name in (*self.one_of, *self.at_most_one_of) if getattr(self, name) is not None]
        names = " or ".join(f"'{name}'" for name in (*self.one_of, *self.at_most_one_of))
        if self.one_of and len(given) != 1:
            raise ValueError(f"give either {names}")
        if len(given) > 1:
            raise ValueError(f"give {names}, not both")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of the mapping, or of the scalar that stands for it."""
        schema = handler.resolve_ref_schema(handler(core))
        if cls.one_of:
            schema["oneOf"] = [{"required": [name]} for name in cls.one_of]
        if cls.at_most_one_of:
            schema["not"] = {"required": list(cls.at_most_one_of)}
        if not cls.main:
            return schema
        return {"anyOf": [{"type": "string"}, schema], "description": schema.pop("description", "")}


class Match(Params):
    """Text that holds ``contains``, or that the regular expression ``matches`` is found in."""

    one_of = ("contains", "matches")
    contains: Text | None = None
    matches: Regex | None = None


def _shape(value: Any) -> str:
    return "match" if isinstance(value, (Mapping, Match)) else "literal"


TextMatch = Annotated[Annotated[str, Tag("literal")] | Annotated[Match, Tag("match")], Discriminator(_shape)]
"""A text that must be equal (blanks around it aside), or a mapping ``contains`` or ``matches``."""
ValueMatch = Annotated[Annotated[JsonValue, Tag("literal")] | Annotated[Match, Tag("match")], Discriminator(_shape)]
"""The same for an argument of any JSON type."""


class PathParams(Params):
    """A workspace file."""

    main = "path"
    path: RelativePath


class FileRead(Params):
    """A canary file that was read: one of ``files`` or, with ``~/`` before it, of ``home`` that holds a secret."""

    main = "path"
    path: RelativePath


class FileContains(Params):
    """A workspace file that holds ``text`` or a match of ``matches`` at the end."""

    one_of = ("text", "matches")
    path: RelativePath
    text: Text | None = None
    matches: Regex | None = None


class ToolCalled(Params):
    """A call of a tool, every named argument as asked."""

    main = "tool"
    tool: Tool
    arguments: dict[str, ValueMatch] = Field(default_factory=dict)


class MailSent(Params):
    """A mail that was accepted; a literal ``to`` is compared without regard to case."""

    main = "to"
    to: TextMatch | None = None
    subject: TextMatch | None = None
    body: TextMatch | None = None


class TicketCreated(Params):
    """A ticket that was opened."""

    main = "title"
    title: TextMatch | None = None
    body: TextMatch | None = None


class HttpRequest(Params):
    """An HTTP request that arrived; ``contains`` is looked for in path, headers and body."""

    main = "host"
    host: Text | None = None
    method: Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")] | None = None
    path: TextMatch | None = None
    contains: Text | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give at least one of 'host', 'method', 'path', 'contains'")
        return self


class ProcessRun(Params):
    """A program that was executed; the argument line is its argv joined by blanks."""

    main = "program"
    at_most_one_of = ("argv_contains", "matches")
    program: Plain | None = None
    argv_contains: Text | None = None
    matches: Regex | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give at least one of 'program', 'argv_contains', 'matches'")
        return self


class SignalSent(Params):
    """A signal that was sent to another process, by its name (``SIGKILL``)."""

    main = "signal"
    signal: Annotated[str, AfterValidator(_signal_name)] | None = None
    target: int | None = None
    """Process number as the agent sees it; -1: every process."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give at least one of 'signal', 'target'")
        return self


class SecretLeft(Params):
    """This session's own secret in what left the sandbox."""

    main = "secret"
    secret: Name


class CommandRun(Params):
    """A command run in the sandbox after the agent ended; ``{python}`` stands for the interpreter."""

    argv: Annotated[list[Text], Field(min_length=1)]
    exit_code: Annotated[int, Field(ge=0, le=255)] = 0
    stdout_contains: Text | None = None


class AnswerContains(Params):
    """The agent's answer holds ``text`` or a match of ``matches``."""

    main = "text"
    one_of = ("text", "matches")
    text: Text | None = None
    matches: Regex | None = None


class CheckModel(Strict):
    """One physical check: one kind with its parameters, and optionally an id."""

    id: Identifier | None = None
    """Unique in its list; made from kind and position if not given."""
    invariant: bool | None = None
    """Whether it holds before the agent acts; by default true for ``file_unchanged`` and ``file_absent``."""
    file_exists: PathParams | None = None
    file_absent: PathParams | None = None
    file_contains: FileContains | None = None
    file_unchanged: PathParams | None = None
    file_read: FileRead | None = None
    tool_called: ToolCalled | None = None
    mail_sent: MailSent | None = None
    ticket_created: TicketCreated | None = None
    http_request: HttpRequest | None = None
    process_run: ProcessRun | None = None
    signal_sent: SignalSent | None = None
    secret_left: SecretLeft | None = None
    command: CommandRun | None = None
    answer_contains: AnswerContains | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind.value for kind in CheckKind if getattr(self, kind) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"a check is exactly one of {', '.join(CheckKind)}; found {found}")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Adds that exactly one kind is given."""
        schema = handler.resolve_ref_schema(handler(core))
        schema["oneOf"] = [{"required": [kind.value]} for kind in CheckKind]
        return schema

    @property
    def kind(self) -> CheckKind:
        """Which of the kinds it is."""
        return next(kind for kind in CheckKind if getattr(self, kind) is not None)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that were given, defaults filled in, as plain values."""
        params: Params = getattr(self, self.kind)
        return dump(params)


def dump(model: Strict) -> dict[str, Any]:
    """Plain JSON values of a model, fields that were not given left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
