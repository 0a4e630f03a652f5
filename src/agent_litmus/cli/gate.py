"""``litmus gate``: judge a report again."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_litmus.cli.options import JsonOption, SetOption, config_file, overrides
from agent_litmus.cli.streams import lost_output
from agent_litmus.errors import LitmusConfigError

if TYPE_CHECKING:
    from agent_litmus.app.gate import GateOutcome


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("gate", short_help="Judge a report again, against the build that is current now.")(gate)


def gate(
    report: Annotated[Path, typer.Argument(help="A report.json, the directory of a run, or an episode file.")],
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="Configuration that gives policy, suite, history and current build."),
    ] = None,
    digest: Annotated[
        str | None, typer.Option("--digest", help="Digest of the build that is current now, where it is known.")
    ] = None,
    floor: Annotated[
        list[str] | None, typer.Option(help="Floor in place of the policy's, e.g. ir=0.95 or u1=0.5.")
    ] = None,
    agent: Annotated[str, typer.Option(help="Agent to judge, where an episode file holds several.")] = "",
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Judge any report again, against policy, history and the build that is current now.

    Nothing it says of itself is believed: score, findings and verdict are made again from its evidence.

    Exit: 0 PASS, 1 FAIL, 2 usage or configuration, 70 internal error, 75 INDETERMINATE.
    """
    from agent_litmus.app.floors import floors_of
    from agent_litmus.app.gate import GateRequest, gate_report
    from agent_litmus.config import load_config
    from agent_litmus.formats.terminal import last_line
    from agent_litmus.verdict.exit import EXIT_CODES
    from agent_litmus.verdict.policy import FLOORED

    if assignments and config is None:
        raise LitmusConfigError("--set: needs a configuration to override", hint="give it with -c")
    settings = load_config(config_file(config), overrides(assignments)) if config is not None else None
    floors = floors_of(floor or (), FLOORED)
    outcome = gate_report(GateRequest(report, settings, digest, floors, agent, tuple(assignments or ())))
    lost = lost_output(lambda: _print(outcome, json=json))
    if json or lost:
        sys.stderr.write(last_line(outcome.report) + "\n")
    return EXIT_CODES[outcome.report.verdict]


def _print(outcome: "GateOutcome", *, json: bool) -> None:
    from agent_litmus.app.gate_print import gate_document, print_gate
    from agent_litmus.formats.score_json import text_of

    if json:
        sys.stdout.write(text_of(gate_document(outcome)))
    else:
        print_gate(outcome, sys.stdout)
