"""Options that several verbs share."""

import os
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from agent_litmus.errors import LitmusConfigError

Choice = TypeVar("Choice", bound=StrEnum)

ConfigOption = Annotated[
    Path, typer.Option("--config", "-c", help="Configuration file, or the directory of its litmus.toml.")
]
DEFAULT_CONFIG = Path("litmus.toml")
ProviderOption = Annotated[
    str | None, typer.Option("--provider", help="Sandbox provider: auto, bubblewrap or process.")
]
JobsOption = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Sessions run at once.")]
ChartsOption = Annotated[
    Path | None, typer.Option("--charts", metavar="DIR", help="Also write charts (SVG) into this directory.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]


SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override any configuration key: KEY=VALUE, e.g. gate.floors.ir=0.9 (TOML values)."),
]


def config_file(path: Path) -> Path:
    """The configuration that ``-c`` means; a directory stands for its ``litmus.toml``.

    Raises:
        LitmusConfigError: There is none in that directory.
    """
    if path != DEFAULT_CONFIG and not path.is_dir():
        return path
    directory = path if path.is_dir() and path != DEFAULT_CONFIG else Path()
    found = directory / DEFAULT_CONFIG
    if not os.path.lexists(found):
        make = "litmus init" if directory == Path() else f"litmus init {directory}"
        raise LitmusConfigError(
            f"{directory.absolute()}: this directory has no litmus.toml",
            hint=f"make one with `{make}`, or name one with -c FILE",
            slug="no-file",
        )
    return found


def overrides(assignments: list[str] | None = None, **values: object) -> dict[str, object]:
    """Dotted configuration keys (``run__jobs`` is ``run.jobs``) for the options that were given.

    Raises:
        LitmusConfigError: An assignment is not ``KEY=VALUE``.
    """
    given = {name.replace("__", "."): value for name, value in values.items() if value is not None}
    return dict(_assignment(text) for text in assignments or ()) | given


def _assignment(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise LitmusConfigError(f"--set {text!r}: not KEY=VALUE", hint="write it as --set run.jobs=4")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value  # plain words need no quotes
    return key.strip(), parsed


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
