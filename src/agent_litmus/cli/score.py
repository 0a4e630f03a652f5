"""``litmus score``: figures with honest intervals from result files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_litmus.cli.options import JsonOption


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("score")(score)


def score(
    files: Annotated[list[Path], typer.Argument(help="report.json or episode files (JSON lines or Parquet).")],
    conventions: Annotated[str, typer.Option(help="Whose definitions: ours, agentdojo or litmus.")] = "ours",
    by: Annotated[str, typer.Option(help="Break down by any of suite,category,attack.")] = "suite,attack",
    tasks: Annotated[
        str, typer.Option(help="published: leave out tasks added to a benchmark later; all: count them.")
    ] = "published",
    json: JsonOption = False,
) -> int:
    """Score result files: both axes, with intervals, per agent, suite, category and attack.

    Exit: 0 scored, 1 scored but something a figure rests on is missing, 2 a file cannot be used.
    """
    from agent_litmus.app.score import Conventions, Tasks, score_files
    from agent_litmus.app.score_print import print_score, score_document
    from agent_litmus.cli.options import one_of
    from agent_litmus.formats.score_json import text_of

    found = score_files(
        files,
        conventions=one_of(Conventions, "--conventions", conventions),
        by=tuple(name.strip() for name in by.split(",") if name.strip()),
        tasks=one_of(Tasks, "--tasks", tasks),
    )
    if json:
        sys.stdout.write(text_of(score_document(found)))
    else:
        print_score(found, sys.stdout)
    return 0 if found.complete else 1
