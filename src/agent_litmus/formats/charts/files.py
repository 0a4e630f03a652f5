"""Charts as files, each written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.charts.data import (
    CategoryRate,
    Floored,
    FrontierPoint,
    OutcomeSplit,
    UtilityLoss,
    chart_error,
)
from agent_litmus.formats.charts.frontier import frontier_svg
from agent_litmus.formats.charts.heatmap import heatmap_svg
from agent_litmus.formats.charts.ledger import ledger_svg
from agent_litmus.formats.charts.losses import losses_svg
from agent_litmus.formats.json_report import write_whole


def write_charts(
    directory: Path,
    *,
    points: Sequence[FrontierPoint] = (),
    floors: Floored | None = None,
    delta: float = 0.02,
    splits: Sequence[OutcomeSplit] = (),
    losses: Sequence[UtilityLoss] = (),
    rates: Sequence[CategoryRate] = (),
) -> tuple[Path, ...]:
    """Write ``frontier.svg``, ``ledger.svg``, ``losses.svg`` and ``categories.svg``, each if it was given data.

    All are drawn before the first is written, so a picture that cannot be drawn leaves the directory as it was.

    Args:
        directory: Where to; made if it is not there.
        points: Agents of the frontier; needs ``floors``.
        floors: Floors of the comparison.
        delta: Margin of the comparison.
        splits: Agents of the contamination ledger.
        losses: Agents of the utility losses.
        rates: Rates of the heat map.

    Returns:
        The files written.

    Raises:
        LitmusError: There is nothing to draw, the extra ``charts`` is not installed, or a file cannot be written.
    """
    drawn: dict[str, str] = {}
    if points:
        if floors is None:
            raise chart_error("the frontier was given no floors", "give the comparison's floors, 0 for none")
        drawn["frontier.svg"] = frontier_svg(points, floors=floors, delta=delta)
    if splits:
        drawn["ledger.svg"] = ledger_svg(splits)
    if losses:
        drawn["losses.svg"] = losses_svg(losses)
    if rates:
        drawn["categories.svg"] = heatmap_svg(rates)
    if not drawn:
        raise chart_error("there is nothing to draw", "score at least one agent with assessed episodes")
    return tuple(_written(directory, name, svg) for name, svg in drawn.items())


def _written(directory: Path, name: str, svg: str) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LitmusConfigError(
            f"{directory}: cannot be made: {error.strerror}", hint="choose another directory for the charts"
        ) from error
    write_whole(directory / name, svg.encode() + b"\n")
    return directory / name
