"""Options that several verbs share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from agent_litmus.errors import LitmusConfigError

Choice = TypeVar("Choice", bound=StrEnum)

ConfigOption = Annotated[Path, typer.Option("--config", "-c", help="Configuration file.")]
DEFAULT_CONFIG = Path("litmus.toml")
ProviderOption = Annotated[
    str | None, typer.Option("--provider", help="Sandbox provider: auto, bubblewrap or process.")
]
JobsOption = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Sessions run at once.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]


def overrides(**values: object) -> dict[str, object]:
    """Dotted configuration keys (``run__jobs`` is ``run.jobs``) for the options that were given."""
    return {name.replace("__", "."): value for name, value in values.items() if value is not None}


def one_of(kind: type[Choice], option: str, value: str) -> Choice:
    """The member of ``kind`` that an option names.

    Raises:
        LitmusConfigError: It names none.
    """
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(kind)
        raise LitmusConfigError(
            f"{option}: {value[:40]!r} is none of {known}", hint=f"give one of {known}"
        ) from error
