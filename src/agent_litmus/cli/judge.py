"""``litmus judge``: what a model that judges words is worth."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_litmus.cli.options import JsonOption
from agent_litmus.errors import LitmusConfigError

_group = typer.Typer(help="Measure a model that judges words.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_group, name="judge")


@_group.callback()
def judge() -> None:
    """Measure a model that judges words."""


@_group.command("calibrate", short_help="Measure how far a judge agrees with the labels.")
def calibrate(
    url: Annotated[str, typer.Option("--url", help="Base URL of an OpenAI-compatible endpoint.")],
    model: Annotated[str, typer.Option("--model", help="Model id.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, for `litmus score --judge`.")],
    key_env: Annotated[
        str, typer.Option("--key-env", metavar="NAME", help="Environment variable that holds the key.")
    ] = "",
    timeout: Annotated[float, typer.Option(min=0.1, help="Longest time for one answer, in seconds.")] = 60.0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Questions in flight at once.")] = 4,
    json: JsonOption = False,
) -> int:
    """Ask a judge about the labelled messages and write down how far it agrees with the labels.

    Exit: 0 written, 1 written but some questions have no usable answer, 2 nothing could be asked or written.
    """
    from agent_litmus.app.judge_model import JudgeEndpoint
    from agent_litmus.app.judge_model import calibrate as ask
    from agent_litmus.app.judged_print import print_calibration
    from agent_litmus.formats.judge_file import judge_document, write_judge
    from agent_litmus.formats.score_json import text_of

    if not output.parent.is_dir():
        raise LitmusConfigError(f"{output.parent}: no such directory", hint="choose another --output")
    found = ask(JudgeEndpoint(url, model, key_env, timeout, jobs))
    write_judge(output, found)
    if json:
        sys.stdout.write(text_of(judge_document(found)))
    else:
        print_calibration(found, sys.stdout)
    return 1 if any(split.faults for split in found.splits) else 0


@_group.command("rules", short_help="Measure the built-in rules.")
def rules(json: JsonOption = False) -> int:
    """Measure the built-in rules: precision and recall per class of message, and kappa as for a judge."""
    from agent_litmus.app.judge_model import calibrate_rules
    from agent_litmus.app.judged_print import print_calibration
    from agent_litmus.formats.judge_file import judge_document
    from agent_litmus.formats.score_json import text_of
    from agent_litmus.scoring.refusal_report import SPLITS, as_text, refusal_report

    if json:
        sys.stdout.write(text_of(judge_document(calibrate_rules())))
        return 0
    for split in SPLITS:
        sys.stdout.write(as_text(refusal_report(split)) + "\n\n")
    print_calibration(calibrate_rules(), sys.stdout)
    return 0
