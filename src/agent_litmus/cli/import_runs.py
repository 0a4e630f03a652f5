"""``litmus import``: other benchmarks' runs into an episode file."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_litmus.cli.options import JsonOption

_group = typer.Typer(
    help="Turn other benchmarks' runs into an episode file.", no_args_is_help=True, rich_markup_mode=None
)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_group, name="import")


@_group.command("agentdojo", short_help="Import AgentDojo runs, file by file.")
def agentdojo(
    source: Annotated[Path, typer.Argument(help="AgentDojo's runs: a directory, .tar or .tar.zst.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; .parquet makes it Parquet.")],
    json: JsonOption = False,
) -> int:
    """Import AgentDojo runs, file by file; what cannot be trusted is rejected and counted.

    Exit: 0 all imported, 1 written but something a figure rests on is missing, 2 nothing could be used or written.
    """
    from agent_litmus.app.import_agentdojo import import_agentdojo
    from agent_litmus.app.import_print import import_document, print_import
    from agent_litmus.formats.score_json import text_of

    outcome = import_agentdojo(source, output)
    if json:
        sys.stdout.write(text_of(import_document(outcome)))
    else:
        print_import(outcome, output, sys.stdout)
    return 0 if outcome.complete else 1


@_group.command("schema")
def schema() -> int:
    """Print the JSON Schema of an episode's line."""
    import json

    from agent_litmus.formats.episodes import episodes_schema

    sys.stdout.write(json.dumps(episodes_schema(), indent=1, sort_keys=True) + "\n")
    return 0
