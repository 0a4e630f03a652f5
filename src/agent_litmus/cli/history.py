"""``litmus history``: earlier runs."""

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_litmus.cli.options import DEFAULT_CONFIG, JsonOption, SetOption, config_file, overrides
from agent_litmus.errors import LitmusConfigError

if TYPE_CHECKING:
    from agent_litmus.history.store import History

_group = typer.Typer(help="Look at earlier runs, and prune them.", no_args_is_help=True, rich_markup_mode=None)

ConfigOption = Annotated[
    Path,
    typer.Option(
        "--config", "-c", help="Configuration whose history is meant, or the directory of its litmus.toml."
    ),
]
UrlOption = Annotated[
    str,
    typer.Option("--url", help="URL of the history, in place of a configuration; a password belongs elsewhere."),
]
SuiteOption = Annotated[
    str, typer.Option("--suite", help="Only of this suite: its id, or the start of its digest.")
]
RefOption = Annotated[str, typer.Option("--ref", help="Only on refs that match this shell pattern.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_group, name="history")


@_group.callback()
def history() -> None:
    """Look at earlier runs, and remove them."""


@_group.command("list")
def list_runs(
    config: ConfigOption = DEFAULT_CONFIG,
    url: UrlOption = "",
    suite: SuiteOption = "",
    ref: RefOption = "",
    limit: Annotated[int, typer.Option(min=1, help="Most runs to list, the newest.")] = 20,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> None:
    """List earlier runs, newest first; a ref marked * is protected."""
    from agent_litmus.app.history_print import print_runs, runs_document
    from agent_litmus.history.queries import Wanted

    runs = _open(config, url, assignments).list(Wanted(suite, ref), limit)
    if json:
        _json(runs_document(runs))
    elif runs:
        print_runs(runs, sys.stdout)
    else:
        sys.stdout.write("no run\n")


@_group.command("show")
def show(
    run: Annotated[str, typer.Argument(help="Id of the run, or the beginning of it.")],
    config: ConfigOption = DEFAULT_CONFIG,
    url: UrlOption = "",
    assignments: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Show all that is kept of one run."""
    from agent_litmus.app.history_print import print_run, run_document

    found = _open(config, url, assignments).show(run)
    if json:
        _json(run_document(found))
    else:
        print_run(found, sys.stdout)


@_group.command("prune", short_help="Remove earlier runs, never the last accepted ones.")
def prune(
    config: ConfigOption = DEFAULT_CONFIG,
    url: UrlOption = "",
    keep: Annotated[int | None, typer.Option(min=0, help="Spare the newest N runs of each suite.")] = None,
    older_than: Annotated[
        float | None, typer.Option("--older-than", metavar="DAYS", help="Spare runs that are not older.")
    ] = None,
    suite: SuiteOption = "",
    ref: RefOption = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Remove earlier runs without asking, and print them; the last accepted run of each suite always stays.

    With --keep and --older-than a run is removed only if neither spares it. A build whose FAIL is removed starts
    again from nothing.
    """
    from agent_litmus.app.history_print import print_runs, runs_document
    from agent_litmus.history.queries import Wanted

    if keep is None and older_than is None:
        raise LitmusConfigError(
            "prune: nothing says what to remove", hint="give --keep N, --older-than DAYS or both"
        )
    if older_than is not None and not (math.isfinite(older_than) and older_than >= 0):
        raise LitmusConfigError(f"--older-than {older_than}: not a number of days", hint="give 0 or more")
    opened = _open(config, url, assignments)
    wanted = Wanted(suite, ref)
    removed = opened.prune(now=time.time(), keep=keep, older_than=older_than, wanted=wanted, dry_run=dry_run)
    if json:
        _json({"dry_run": dry_run, **runs_document(removed)})
        return
    if removed:
        print_runs(removed, sys.stdout)
    count = "1 run" if len(removed) == 1 else f"{len(removed)} runs"
    sys.stdout.write(f"{'would remove' if dry_run else 'removed'} {count}\n")


def _open(config: Path, url: str, assignments: list[str] | None) -> "History":
    from agent_litmus.config import load_config
    from agent_litmus.history.place import place_of
    from agent_litmus.history.store import History, open_history

    if not url:
        return open_history(load_config(config_file(config), overrides(assignments)))
    if config != DEFAULT_CONFIG or assignments:
        raise LitmusConfigError("--url: takes the place of a configuration", hint="leave out -c and --set")
    return History(place_of(url))


def _json(document: object) -> None:
    from agent_litmus.formats.score_json import text_of

    sys.stdout.write(text_of(document))
