"""``litmus compare``: is B worse than A?"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_litmus.cli.options import ChartsOption, JsonOption


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("compare", short_help="Compare two agents on the probes that both were tried with.")(compare)


def compare(
    a: Annotated[Path, typer.Argument(help="Result file of the agent to measure against.")],
    b: Annotated[Path, typer.Argument(help="Result file of the agent in question.")],
    agent_a: Annotated[
        str | None, typer.Option("--a", help="Agent in the first file, where there are several.")
    ] = None,
    agent_b: Annotated[str | None, typer.Option("--b", help="Agent in the second file.")] = None,
    attack: Annotated[str | None, typer.Option(help="Only episodes of this attack.")] = None,
    tasks: Annotated[str, typer.Option(help="published or all, as in score.")] = "published",
    margin: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How much lower still counts as not worse.")
    ] = 0.02,
    trivial: Annotated[
        bool, typer.Option("--trivial", help="Add agents that need no model to the frontier.")
    ] = False,
    charts: ChartsOption = None,
    json: JsonOption = False,
) -> int:
    """Compare two agents on the probes both were tried with: differences, flipped probes, dominance.

    Exit: 0 B holds, 1 B regressed or is dominated, 2 a file cannot be used, 75 undecided.
    """
    from agent_litmus.app.compare import Outcome, Pick, compare_files
    from agent_litmus.app.compare_print import comparison_document, print_comparison
    from agent_litmus.app.score import Tasks
    from agent_litmus.cli.options import one_of
    from agent_litmus.formats.score_json import text_of

    found = compare_files(
        Pick(a, agent_a),
        Pick(b, agent_b),
        attack=attack,
        tasks=one_of(Tasks, "--tasks", tasks),
        trivial=trivial,
        margin=margin,
    )
    if charts:
        from agent_litmus.app.charts import draw_charts

        draw_charts(charts, found.frontier, {side.name: side.view for side in (found.a, found.b)})
    if json:
        sys.stdout.write(text_of(comparison_document(found)))
    else:
        print_comparison(found, sys.stdout)
    return {Outcome.HOLDS: 0, Outcome.REGRESSED: 1, Outcome.UNDECIDED: 75}[found.outcome]
