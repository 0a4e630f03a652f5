"""``litmus drill``: does the gate notice when the harness stops measuring the agent?"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from agent_litmus.cli.options import (
    DEFAULT_CONFIG,
    ConfigOption,
    JobsOption,
    JsonOption,
    ProviderOption,
    SetOption,
    config_file,
    overrides,
)

if TYPE_CHECKING:
    from agent_litmus.drill.campaign import DrillResult


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("drill", short_help="Break the harness on purpose and see whether the gate notices.")(drill)


def drill(
    config: ConfigOption = DEFAULT_CONFIG,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs of every fault, and honest runs. Default 3, with --quick 1.")
    ] = None,
    fault: Annotated[list[str] | None, typer.Option(help="Only this fault; may be given again.")] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Let the suite's oracles stand in for the agent: no model is asked."),
    ] = False,
    mutants: Annotated[bool, typer.Option(help="Also run the mutant agents.")] = True,
    table: Annotated[
        bool, typer.Option("--table", help="Print the table; it is the default without --json.")
    ] = False,
    provider: ProviderOption = None,
    jobs: JobsOption = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Put harness faults and mutant agents into the real pipeline and see whether the gate catches them.

    Exit: 0 every fault caught and no honest run alarmed, 1 something missed or an honest run alarmed, 2 usage or
    configuration, 75 nothing shown: honest runs cannot pass here themselves, or a fault could not be made.
    """
    from agent_litmus.config import load_config
    from agent_litmus.drill.campaign import DrillOptions, run_drill
    from agent_litmus.drill.remember import remember
    from agent_litmus.drill.show import last_line
    from agent_litmus.formats.hostile import one_line

    settings = load_config(config_file(config), overrides(assignments, run__provider=provider, run__jobs=jobs))
    options = DrillOptions(
        runs=runs if runs is not None else 1 if quick else 3,
        faults=tuple(fault or ()),
        quick=quick,
        mutants=mutants,
    )
    result = run_drill(settings, options, lambda text: _say(one_line(text, 300)))
    untold = remember(settings, result, whole=mutants and not fault)
    if untold:
        _say(one_line(untold, 500))
    _print(result, json=json, table=table or not json)
    line = last_line(result)
    (sys.stderr if json else sys.stdout).write(f"{line}\n")
    if result.unproven:
        return 75
    return 0 if result.clean else 1


def _say(text: str) -> None:
    sys.stderr.write(f"litmus: {text}\n")


def _print(result: "DrillResult", *, json: bool, table: bool) -> None:
    import json as codec

    from agent_litmus.drill.show import drill_document, print_drill

    if json:
        sys.stdout.write(codec.dumps(drill_document(result), indent=2) + "\n")
    if table:
        print_drill(result, sys.stderr if json else sys.stdout)
