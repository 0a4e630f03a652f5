"""``litmus init``: a first configuration to edit."""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from agent_litmus.errors import LitmusConfigError


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("init", short_help="Write a first litmus.toml, which runs the built-in suite.")(init)


def init(directory: Annotated[Path, typer.Argument(help="The agent's directory.")] = Path()) -> int:
    """Write a commented litmus.toml that runs the built-in suite; an existing one is left alone."""
    path = directory / "litmus.toml"
    text = files("agent_litmus.cli").joinpath("litmus.toml.template").read_text("utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise LitmusConfigError(f"{path}: exists already", hint="edit it, or remove it first") from error
    except OSError as error:
        raise LitmusConfigError(
            f"{path}: cannot be written: {error.strerror}", hint="choose another directory"
        ) from error
    sys.stdout.write(f"wrote {path}\nnext: set [agent] command, then run `litmus check` and `litmus run`\n")
    return 0
