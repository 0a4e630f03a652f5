"""``litmus audit``: run episodes of a report again and compare."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_litmus.cli.options import (
    JobsOption,
    JsonOption,
    ProviderOption,
    SetOption,
    config_file,
    overrides,
)

if TYPE_CHECKING:
    from agent_litmus.drill.audit import AuditOutcome


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("audit", short_help="Run some episodes of a report again and test whether they agree.")(audit)


def audit(
    report: Annotated[Path, typer.Argument(help="A report.json, the directory of a run, or an episode file.")],
    agent: Annotated[
        Path, typer.Option("--agent", "-c", help="Configuration of the agent to run, with the report's suite.")
    ],
    episodes: Annotated[int, typer.Option("-m", "--episodes", min=1, help="Random episodes to run again.")] = 100,
    name: Annotated[str, typer.Option(help="Agent to audit, where an episode file holds several.")] = "",
    draw_seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the draw; drawn afresh if not given.")
    ] = None,
    provider: ProviderOption = None,
    jobs: JobsOption = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run random episodes of any report again, directly against the build, and test whether they agree.

    Exit: 0 CLEAR, 2 usage or configuration, 70 internal error, 75 ALARM, UNDERPOWERED or MISSING.
    """
    from agent_litmus.config import load_config
    from agent_litmus.drill.audit import AuditRequest, audit_report
    from agent_litmus.records.finding import FindingState

    settings = load_config(config_file(agent), overrides(assignments, run__provider=provider, run__jobs=jobs))
    outcome = audit_report(AuditRequest(report, settings, episodes, draw_seed, name))
    code = 0 if outcome.result.state is FindingState.CLEAR else 75
    _print(outcome, code, json=json)
    return code


def _print(outcome: "AuditOutcome", code: int, *, json: bool) -> None:
    from agent_litmus.drill.audit_print import audit_document, print_audit
    from agent_litmus.formats.score_json import text_of

    if json:
        sys.stdout.write(text_of(audit_document(outcome, code)))
    else:
        print_audit(outcome, sys.stdout)
