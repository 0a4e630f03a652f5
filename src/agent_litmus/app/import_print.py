"""An import's summary as a document or as a table."""

from pathlib import Path
from typing import Any, TextIO

from rich.text import Text

from agent_litmus.app.import_agentdojo import ImportOutcome, PipelineTally
from agent_litmus.app.import_warnings import warnings_of
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.score_table import console_on, grid, print_warnings


def import_document(outcome: ImportOutcome) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "schema_version": 1,
        "accepted": outcome.episodes,
        "rejected": outcome.rejected.total(),
        "reasons": dict(outcome.rejected.most_common()),
        "examples": outcome.examples,
        "complete": outcome.complete,
        "bytes": outcome.bytes,
        "pipelines": {name: _pipeline(tally) for name, tally in sorted(outcome.pipelines.items())},
        "warnings": list(warnings_of(outcome)),
    }


def _pipeline(tally: PipelineTally) -> dict[str, Any]:
    return {
        "clean": tally.clean,
        "attacked": dict(sorted(tally.attacked.items())),
        "later_tasks": tally.later,
        "rejected": tally.rejected,
        "empty_transcripts": tally.empty.total(),
        "errored": tally.errored,
        "errored_attacked": tally.errored_attacked,
        "errored_scored_as_success": tally.scored_as_success,
        "recorded_names": sorted(tally.names),
        "versions": {version or "unrecorded": count for version, count in sorted(tally.versions.items())},
    }


def print_import(outcome: ImportOutcome, output: Path, file: TextIO) -> None:
    """Print what was accepted, what was rejected and why, and what to know about it."""
    console = console_on(file)
    columns = ("pipeline", "clean", "attacked", "attacks", "rejected", "empty", "errored")
    rows = [
        (
            name,
            str(tally.clean),
            str(tally.attacked.total()),
            str(len(tally.attacked)),
            str(tally.rejected),
            str(tally.empty.total()),
            str(tally.errored),
        )
        for name, tally in sorted(outcome.pipelines.items())
    ]
    console.print(grid(columns, rows, 1))
    rejected = outcome.rejected.total()
    console.print(
        Text(f"accepted {outcome.episodes} episodes, rejected {rejected} files; wrote {output}"), soft_wrap=True
    )
    for kind, count in outcome.rejected.most_common():
        console.print(Text(f"  {count} x {one_line(kind, 200)}"), soft_wrap=True)
    for example in outcome.examples:
        console.print(Text(f"  for example {one_line(example, 300)}"), soft_wrap=True)
    print_warnings(console, warnings_of(outcome))
