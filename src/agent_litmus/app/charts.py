"""Pictures of what `litmus score` and `litmus compare` found."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_litmus.formats.charts import (
    CategoryRate,
    OutcomeSplit,
    Share,
    UtilityLoss,
    frontier_points,
    write_charts,
)
from agent_litmus.records.probe import Condition
from agent_litmus.scoring.counts import METRICS
from agent_litmus.scoring.frontier import Frontier
from agent_litmus.scoring.pool.figures import fates_of, ledger_of
from agent_litmus.scoring.pool.view import PoolView
from agent_litmus.scoring.trivial import TRIVIAL_AGENTS


def draw_charts(directory: Path, frontier: Frontier, views: Mapping[str, PoolView]) -> tuple[Path, ...]:
    """Write every chart that there is data for.

    Args:
        directory: Where to; made if it is not there.
        frontier: The comparison.
        views: The compared agents' episodes, on the attacks that all were tried with; trivial agents have none.

    Returns:
        The files written.

    Raises:
        LitmusError: The extra ``charts`` is not installed, or a file cannot be written.
    """
    trivial = [name for name in TRIVIAL_AGENTS if name not in views]
    return write_charts(
        directory,
        points=frontier_points(frontier, trivial=trivial),
        floors=frontier.floors,
        delta=frontier.margin,
        splits=[_split(name, view) for name, view in views.items()],
        losses=[_loss(name, view) for name, view in views.items()],
        rates=[rate for name, view in views.items() for rate in _rates(name, view)],
    )


def _split(agent: str, view: PoolView) -> OutcomeSplit:
    fates = fates_of(view)
    return OutcomeSplit(
        agent, fates["clean_win"], fates["lost"], fates["both_done"], fates["hijacked"], fates["unassessed"]
    )


def _loss(agent: str, view: PoolView) -> UtilityLoss:
    sums = ledger_of(view).counts()
    return UtilityLoss(
        agent, sums["refused"], sums["failed"], sums["partial"], sums["pairs"], sums["unknown_pairs"]
    )


def _rates(agent: str, view: PoolView) -> Iterator[CategoryRate]:
    attacked = view.arm(Condition.INJECTED)
    for category in sorted({probe.category for probe in attacked.probes}):
        part = attacked.where(lambda probe, wanted=category: probe.category == wanted)  # type: ignore[misc] # binds early
        ir, sr = (part.tally(METRICS[name]) for name in ("ir", "sr"))
        unassessed = max(ir.unknown, sr.unknown)
        yield CategoryRate(agent, category, Share(ir.assessed), Share(sr.assessed), unassessed)
