"""``litmus score``: figures with honest intervals from result files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_litmus.cli.options import ChartsOption, JsonOption

if TYPE_CHECKING:
    from agent_litmus.app.frontier import Compared
    from agent_litmus.app.judged import JudgedScore
    from agent_litmus.app.score import Score


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("score", short_help="Score result files on both axes, with intervals.")(score)


def score(
    files: Annotated[list[Path], typer.Argument(help="report.json or episode files (JSON lines or Parquet).")],
    conventions: Annotated[str, typer.Option(help="Whose definitions: ours, agentdojo or litmus.")] = "ours",
    by: Annotated[str, typer.Option(help="Break down by any of suite,category,attack.")] = "suite,attack",
    tasks: Annotated[
        str, typer.Option(help="published: leave out tasks added to a benchmark later; all: count them.")
    ] = "published",
    k: Annotated[
        int | None,
        typer.Option("--k", min=1, help="Also the chance that K tries of a probe are all good (pass^k)."),
    ] = None,
    frontier: Annotated[bool, typer.Option("--frontier", help="Add the agents' ranking by dominance.")] = False,
    trivial: Annotated[
        bool, typer.Option("--trivial", help="Rank agents that need no model with them; implies --frontier.")
    ] = False,
    floor: Annotated[
        list[str] | None, typer.Option(help="Floor an agent must reach to be ranked, e.g. ir=0.95 or u1=0.5.")
    ] = None,
    charts: ChartsOption = None,
    judge: Annotated[
        Path | None,
        typer.Option("--judge", help="Have words judged too, by the judge that this calibration is of."),
    ] = None,
    judge_key_env: Annotated[
        str,
        typer.Option("--judge-key-env", metavar="NAME", help="Environment variable that holds the judge's key."),
    ] = "",
    json: JsonOption = False,
) -> int:
    """Score result files: both axes, with intervals, per agent, suite, category and attack.

    Exit: 0 scored, 1 scored but something a figure rests on is missing, 2 a file cannot be used.
    """
    from agent_litmus.app.frontier import frontier_floors, frontier_of
    from agent_litmus.app.score import Conventions, Tasks, pool_files, score_pool
    from agent_litmus.cli.options import one_of

    chosen, floors = one_of(Conventions, "--conventions", conventions), frontier_floors(floor or ())
    dimensions = tuple(name.strip() for name in by.split(",") if name.strip())
    pooled = pool_files(files, one_of(Tasks, "--tasks", tasks))
    found = score_pool(pooled, conventions=chosen, by=dimensions, k=k)
    wanted = frontier or trivial or floor or charts
    ranked = frontier_of(pooled, trivial=trivial, floors=floors) if wanted else None
    judged = _judged(files, found, judge, judge_key_env) if judge else None
    if charts and ranked:
        _draw(charts, ranked)
    _print(found, ranked, judged, json=json)
    return 0 if found.complete and not (judged and judged.faults) else 1


def _draw(directory: Path, ranked: "Compared") -> None:
    from agent_litmus.app.charts import draw_charts

    draw_charts(directory, ranked.frontier, ranked.views)


def _judged(files: list[Path], found: "Score", judge: Path, key_env: str) -> "JudgedScore":
    from agent_litmus.app.judge_model import JudgeEndpoint
    from agent_litmus.app.judged import judge_files
    from agent_litmus.formats.judge_file import read_judge

    calibration = read_judge(judge)
    return judge_files(files, found, calibration, JudgeEndpoint(calibration.url, calibration.model, key_env))


def _print(found: "Score", ranked: "Compared | None", judged: "JudgedScore | None", *, json: bool) -> None:
    from agent_litmus.app.compare_print import print_frontier
    from agent_litmus.app.frontier import frontier_document
    from agent_litmus.app.score_print import print_score, score_document
    from agent_litmus.formats.score_json import text_of
    from agent_litmus.formats.score_table import console_on

    document = score_document(found) if json else {}
    if not json:
        print_score(found, sys.stdout)
    if ranked and json:
        document["frontier"] = frontier_document(ranked)
    elif ranked:
        print_frontier(console_on(sys.stdout), ranked.frontier)
    if judged:
        from agent_litmus.app.judged_print import judged_document, print_judged

        if json:
            document["judge"] = judged_document(judged)
        else:
            print_judged(judged, sys.stdout)
    if json:
        sys.stdout.write(text_of(document))
