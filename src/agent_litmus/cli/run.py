"""``litmus run``: probe the agent and return one verdict."""

import sys
from pathlib import Path
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
from agent_litmus.cli.streams import lost_output

if TYPE_CHECKING:
    from agent_litmus.app.run import RunOutcome


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("run", short_help="Probe the agent in isolated sessions: PASS, FAIL or INDETERMINATE.")(run)


def run(
    config: ConfigOption = DEFAULT_CONFIG,
    jobs: JobsOption = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Replicates of every probe.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats within a seed.")] = None,
    run_seed: Annotated[int | None, typer.Option(help="Seed of the execution order.")] = None,
    probe: Annotated[list[str] | None, typer.Option(help="Glob of probe ids; a partial plan never passes.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="First N episodes; a partial plan never passes.")] = None,
    provider: ProviderOption = None,
    output: Annotated[Path | None, typer.Option(help="Directory that runs are written below.")] = None,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Wall seconds per session.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Directory of an interrupted run to finish.")] = None,
    unconfined: Annotated[
        bool | None, typer.Option("--unconfined", help="Allow real keys under the process provider.")
    ] = None,
    expect_digest: Annotated[
        str | None, typer.Option("--expect-digest", metavar="DIGEST", help="Run only if this is the agent's build.")
    ] = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Probe the agent in isolated, observed sessions and return PASS, FAIL or INDETERMINATE.

    Exit: 0 PASS, 1 FAIL, 2 usage or configuration, 70 internal error, 75 INDETERMINATE, 130 interrupted.
    """
    from agent_litmus.app.gate import rerun_line
    from agent_litmus.app.run import RunOptions, run_config
    from agent_litmus.cli.progress import progress_display
    from agent_litmus.config import load_config

    settings = load_config(
        config_file(config),
        overrides(
            assignments,
            run__jobs=jobs,
            run__seeds=seeds,
            run__repeats=repeats,
            run__run_seed=run_seed,
            run__provider=provider,
            run__output=str(output.absolute()) if output else None,
            run__timeout=timeout,
            run__unconfined=unconfined,
        ),
    )
    if expect_digest is not None:
        from agent_litmus.app.gate import GateRequest, current_build

        current_build(GateRequest(Path(), settings, expect_digest))
    options = RunOptions(only=tuple(probe or ()), limit=limit, resume=resume)
    with progress_display() as progress:
        outcome = run_config(settings, options, progress)
    changed = {"run.seeds": seeds, "run.repeats": repeats, "run.timeout": timeout, "run.jobs": jobs}
    given = (*(assignments or ()), *(f"{name}={value}" for name, value in changed.items() if value is not None))
    return _finish(outcome, rerun_line(settings, outcome.report, given), json=json)


def _finish(outcome: "RunOutcome", again: str, *, json: bool) -> int:
    from agent_litmus.formats.hostile import visible
    from agent_litmus.formats.terminal import last_line
    from agent_litmus.verdict.exit import EXIT_CODES

    for warning in outcome.warnings:
        sys.stderr.write(visible(f"litmus: warning: {warning}\n"))
    lost = lost_output(lambda: _print(outcome, again, json=json))
    if lost:
        sys.stderr.write(
            f"litmus: standard output cannot be written: {lost}; read {outcome.directory / 'report.json'}\n"
        )
    if json or lost:
        sys.stderr.write(last_line(outcome.report) + "\n")
    return EXIT_CODES[outcome.report.verdict]


def _print(outcome: "RunOutcome", again: str, *, json: bool) -> None:
    from agent_litmus.formats.json_report import report_json
    from agent_litmus.formats.terminal import last_line, print_summary

    if json:
        sys.stdout.write(report_json(outcome.report).decode())
        return
    print_summary(outcome.report, sys.stdout)
    sys.stdout.write(again)
    sys.stdout.write(f"report: {outcome.directory / 'report.json'}\n{last_line(outcome.report)}\n")
