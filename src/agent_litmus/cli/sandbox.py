"""``litmus sandbox``: examine a sandbox provider."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from agent_litmus.cli.options import JsonOption

if TYPE_CHECKING:
    from agent_litmus.exam.result import CaseResult

_group = typer.Typer(help="Examine a sandbox provider.", no_args_is_help=True, rich_markup_mode=None)


@_group.callback()
def _verbs() -> None:
    """Examine a sandbox provider."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_group, name="sandbox")


@_group.command("self-check", short_help="Run hostile agents under a provider.")
def self_check(
    provider: Annotated[
        str,
        typer.Option(
            "--provider", help="auto, bubblewrap, process, or package.module:factory for a provider of your own."
        ),
    ] = "auto",
    case: Annotated[list[str] | None, typer.Option("--case", help="Run this case alone; may be repeated.")] = None,
    json_output: JsonOption = False,
) -> int:
    """Run hostile agents under a provider and hold it to what it declares; exit 1 where it breaks its word."""
    from agent_litmus.app.self_check import as_json, lines
    from agent_litmus.app.self_check import self_check as examine

    result = examine(provider, case or (), _show if sys.stderr.isatty() else None)
    sys.stdout.write(as_json(result) if json_output else "\n".join(lines(result)) + "\n")
    return 0 if result.ok else 1


def _show(case: "CaseResult") -> None:
    """Progress on a terminal; a log gets the whole result at the end."""
    sys.stderr.write(f"litmus: {case.name} {'ok' if case.ok else 'NOT OK'}\n")
