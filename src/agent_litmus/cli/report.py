"""``litmus report``: look at a report again, or at its format."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

_group = typer.Typer(help="Look at a report again, or at its format.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_group, name="report")


@_group.command("show")
def show(
    path: Annotated[Path, typer.Argument(help="A report.json, or the directory of a run.")],
    episode: Annotated[str | None, typer.Option(help="Print the evidence of one episode, by its key.")] = None,
) -> int:
    """Print a report's summary. The exit code says only whether it could be read; to judge it, run again."""
    from agent_litmus.formats.json_report import episode_json, read_report
    from agent_litmus.formats.terminal import last_line, print_summary

    report = read_report(path / "report.json" if path.is_dir() else path)
    if episode is not None:
        sys.stdout.write(episode_json(report, episode))
        return 0
    print_summary(report, sys.stdout)
    sys.stdout.write(f"recorded verdict, not judged again: {last_line(report)}\n")
    return 0


@_group.command("schema")
def schema() -> int:
    """Print the JSON Schema of report.json."""
    from agent_litmus.formats.json_report import report_schema

    sys.stdout.write(json.dumps(report_schema(), indent=1, sort_keys=True) + "\n")
    return 0
