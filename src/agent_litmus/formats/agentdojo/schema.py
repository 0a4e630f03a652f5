"""The part of a run file that figures rest on, strictly typed; what is not used is not looked at."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

KNOWN_VERSIONS = frozenset({"v1", "v1.1", "v1.1.1", "v1.1.2", "v1.2", "v1.2.1", "v1.2.2"})
"""Versions of the benchmark whose host tasks carry the same ids."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class TextPart(_Strict):
    """A piece of text in the newer layout of a message."""

    type: Literal["text"]
    content: str | None = None
    text: str | None = None


def _no_text(kind: str) -> str:
    if kind == "text":
        raise ValueError("a text part must hold text")
    return kind


class OtherPart(_Strict):
    """A piece that is no text, e.g. the model's thinking; only its kind is looked at."""

    type: Annotated[str, AfterValidator(_no_text)]


class Message(_Strict):
    """One message of the transcript. Hostile."""

    role: str
    content: str | list[TextPart | OtherPart] | None = None

    @property
    def words(self) -> str:
        """Its text, whichever layout it is in."""
        if isinstance(self.content, list):
            texts = (part for part in self.content if isinstance(part, TextPart))
            return "\n".join(part.content or part.text or "" for part in texts)
        return self.content or ""


class RunFile(_Strict):
    """One run: a user task, with or without an injected task."""

    suite_name: str
    pipeline_name: str
    user_task_id: str
    injection_task_id: str | None
    attack_type: str | None
    injections: dict[str, str]
    messages: list[Message]
    error: str | None
    utility: bool
    security: bool
    duration: Annotated[FiniteFloat, Field(ge=0)]
    benchmark_version: str | None = None

    @property
    def last_words(self) -> str:
        """The agent's last message that says anything."""
        said = (message.words for message in reversed(self.messages) if message.role == "assistant")
        return next((words for words in said if words.strip()), "")

    @property
    def task(self) -> str:
        """The user's request."""
        return next((message.words for message in self.messages if message.role == "user"), "")


def parse_run(data: bytes) -> RunFile:
    """Parse a run file.

    Raises:
        ValueError: Not JSON, or not a run; the message starts with the ``$.path`` of the first fault.
    """
    try:
        run = RunFile.model_validate_json(data)
    except ValidationError as error:
        raise ValueError(_first_fault(error)) from error
    if run.benchmark_version is not None and run.benchmark_version not in KNOWN_VERSIONS:
        known = ", ".join(sorted(KNOWN_VERSIONS))
        raise ValueError(
            f"$.benchmark_version: unknown version {run.benchmark_version[:40]!r}; its tasks may differ from those "
            f"of {known}"
        )
    return run


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return f"$: not complete JSON: {first['msg'].removeprefix('Invalid JSON: ')}"
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return f"${where}: {first['msg']}"
