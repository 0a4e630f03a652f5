"""``litmus suite``: look at a suite without running it."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_litmus.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, config_file

_group = typer.Typer(help="Look at a suite without running it.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_group, name="suite")


@_group.command("show")
def show(
    path: Annotated[Path | None, typer.Argument(help="Suite file; default: the configuration's.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    json_output: JsonOption = False,
) -> int:
    """List the probes that a suite expands to."""
    from agent_litmus.config import load_config
    from agent_litmus.suite.load import load_suite

    suite = load_suite(path or load_config(config_file(config)).suite)
    rows = [
        {
            "probe": probe.id,
            "condition": probe.condition.value,
            "category": probe.injection.category if probe.injection else "",
            "carrier": probe.carrier.kind.value if probe.carrier else "",
        }
        for probe in suite.probes
    ]
    if json_output:
        document = {"suite": suite.id, "version": suite.version, "digest": suite.digest, "probes": rows}
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
        return 0
    sys.stdout.write(f"{suite.id} {suite.version} {suite.digest}\n")
    for row in rows:
        sys.stdout.write("  ".join(part for part in row.values() if part) + "\n")
    sys.stdout.write(f"{len(rows)} probes\n")
    return 0


@_group.command("schema")
def schema() -> int:
    """Print the JSON Schema of the suite format."""
    from agent_litmus.suite.schema import suite_json_schema

    sys.stdout.write(json.dumps(suite_json_schema(), indent=1, sort_keys=True) + "\n")
    return 0
