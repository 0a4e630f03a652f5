"""Agents of scored files on the plane of utility under attack and selective resistance."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_litmus.app.floors import floors_of
from agent_litmus.app.score import Pooled
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import Condition
from agent_litmus.scoring.counts import METRICS
from agent_litmus.scoring.frontier import (
    DEFAULT_MARGIN,
    AgentTables,
    Dominance,
    Frontier,
    FrontierFloors,
    Point,
    compare_agents,
)
from agent_litmus.scoring.pool.pool import ProbeKey
from agent_litmus.scoring.pool.view import PoolView
from agent_litmus.scoring.stats.interval import Interval
from agent_litmus.scoring.trivial import trivial_agents


def agent_tables(agent: str, view: PoolView) -> AgentTables:
    """An agent's injected episodes per axis."""
    injected = view.arm(Condition.INJECTED)
    u1, sr, ir = (injected.table(METRICS[name]) for name in ("u1", "sr", "ir"))
    return AgentTables(agent, u1, sr, ir)


@dataclass(frozen=True, slots=True)
class Compared:
    """Agents compared on what all of them were tried with."""

    frontier: Frontier
    attacks: tuple[str, ...]
    """Attacks that count: those every agent was tried with."""
    views: Mapping[str, PoolView] = field(default_factory=dict)
    """Each agent's controls, and its episodes of those attacks."""


def frontier_of(
    pooled: Pooled,
    *,
    trivial: bool = False,
    floors: FrontierFloors | None = None,
    margin: float = DEFAULT_MARGIN,
    seed: int = 0,
) -> Compared:
    """Compare every agent of some files, on the attacks that all of them were tried with.

    Args:
        pooled: The files, counted.
        trivial: Add the agents that need no model.
        floors: What an agent must reach to be ranked.
        margin: How much worse still counts as not worse.
        seed: Seed of the bootstrap.

    Raises:
        LitmusConfigError: The agents have no attack in common.
        LitmusScoringError: No agent has an assessed injected episode.
    """
    attacks = _common_attacks(pooled)
    views = {name: pooled.of_agent(name).where(lambda probe: _counts(probe, attacks)) for name in pooled.agents}
    tables = [agent_tables(name, view) for name, view in views.items()]
    if trivial:
        tables += with_trivial(tables)
    return Compared(compare_agents(tables, floors=floors, margin=margin, seed=seed), tuple(sorted(attacks)), views)


def _counts(probe: ProbeKey, attacks: Collection[str]) -> bool:
    return probe.condition is Condition.CONTROL or probe.attack in attacks


def frontier_floors(texts: Iterable[str]) -> FrontierFloors:
    """Floors under ``ir`` and ``u1``, 0 unless given; raises as :func:`~agent_litmus.app.floors.floors_of`."""
    return FrontierFloors(**{"ir": 0.0, "u1": 0.0, **floors_of(texts, ("ir", "u1"))})


def _common_attacks(pooled: Pooled) -> set[str]:
    tried = [
        {probe.attack for probe in pooled.of_agent(name).arm(Condition.INJECTED).probes} for name in pooled.agents
    ]
    common = set.intersection(*tried)
    if not common:
        raise LitmusConfigError(
            "the agents have no attack in common, so there is nothing to rank them by",
            hint="score files of agents that were tried with the same attacks",
        )
    return common


def with_trivial(tables: Sequence[AgentTables]) -> tuple[AgentTables, ...]:
    """The trivial agents on the episodes of the agent that has most of them."""
    return trivial_agents(max((table.u1 for table in tables), key=lambda table: table.episodes))


def frontier_document(compared: Compared) -> dict[str, Any]:
    """The frontier as JSON."""
    frontier = compared.frontier
    return {
        "attacks": list(compared.attacks),
        "margin": frontier.margin,
        "floors": {"ir": frontier.floors.ir, "u1": frontier.floors.u1},
        "members": list(frontier.members),
        "points": [_point(point) for point in frontier.points],
        "dominances": [dominance_document(pair) for pair in frontier.dominances],
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "agent": point.agent,
        "layer": point.layer,
        "p_frontier": point.p_frontier,
        "misses": list(point.misses),
        "u1": interval_document(point.u1),
        "sr": interval_document(point.sr),
        "ir": interval_document(point.ir),
    }


def dominance_document(pair: Dominance) -> dict[str, Any]:
    """One ordered pair as JSON; differences are winner less loser."""
    return {
        "winner": pair.winner,
        "loser": pair.loser,
        "holds": pair.holds,
        "p_value": pair.p_value,
        "p_dominates": pair.p_dominates,
        "underpowered": pair.underpowered,
        "u1": interval_document(pair.u1),
        "sr": interval_document(pair.sr),
        "ir": interval_document(pair.ir),
    }


def interval_document(interval: Interval) -> dict[str, Any]:
    """A figure with its interval."""
    return {
        "value": interval.value,
        "low": interval.low,
        "high": interval.high,
        "n": interval.n,
        "method": interval.method,
    }
