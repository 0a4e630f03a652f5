"""Result files to rows of figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from pathlib import Path

from agent_litmus.app.episode_files import sources_of
from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.agentdojo.layout import LATER_SET
from agent_litmus.records.probe import Condition
from agent_litmus.records.scorecard import Estimate
from agent_litmus.scoring.pool.figures import (
    estimates_of,
    ledger_of,
    litmus_of,
    recorded_of,
    split_of,
)
from agent_litmus.scoring.pool.pool import ProbeKey, pool_of
from agent_litmus.scoring.pool.view import PoolView

ALL = "all"
NONE = "none"
DIMENSIONS = ("suite", "category", "attack")
DEFAULT_BY = ("suite", "attack")


class Conventions(StrEnum):
    """Whose definitions the figures follow."""

    OURS = "ours"
    AGENTDOJO = "agentdojo"
    LITMUS = "litmus"


class Tasks(StrEnum):
    """Which tasks of a benchmark that grew are counted."""

    PUBLISHED = "published"
    """Those behind the published figures; what was added later is left out."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The figures of one agent on one part of the episodes."""

    agent: str
    suite: str
    attack: str
    category: str
    estimates: dict[str, Estimate] = field(default_factory=dict)
    numbers: dict[str, float | int | None] = field(default_factory=dict)
    """Figures without an interval: AgentDojo's percentages, LITMUS quadrants."""
    split: dict[str, float] = field(default_factory=dict)
    ledger: dict[str, float | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """Everything `litmus score` prints."""

    rows: tuple[ScoreRow, ...]
    warnings: tuple[str, ...]
    conventions: Conventions
    by: tuple[str, ...]
    episodes: int
    rejected: int
    uncontrolled: int
    """Attacked host tasks without a control, over all agents."""

    @property
    def complete(self) -> bool:
        """Whether nothing that a figure rests on is missing."""
        return not self.rejected and not self.uncontrolled


@dataclass(frozen=True, slots=True)
class Pooled:
    """Files, counted."""

    view: PoolView
    warnings: tuple[str, ...]
    rejected: int
    uncontrolled: int

    @property
    def agents(self) -> tuple[str, ...]:
        """Names, in order."""
        return tuple(sorted({probe.agent for probe in self.view.probes}))

    def of_agent(self, agent: str) -> PoolView:
        """One agent's part."""
        return self.view.where(lambda probe: probe.agent == agent)


def pool_files(paths: Sequence[Path], tasks: Tasks = Tasks.PUBLISHED) -> Pooled:
    """Read files and count them.

    Raises:
        LitmusError: A file cannot be used, or its episodes cannot be scored together.
    """
    sources = sources_of(paths)
    view = PoolView.of(pool_of(sources.batches()))
    warnings = list(sources.warnings)
    if tasks is Tasks.PUBLISHED:
        kept = view.where(lambda probe: probe.subset != LATER_SET)
        if left := view.episodes - kept.episodes:
            warnings.append(
                f"{left} episodes of tasks newer than the published set are left out; --tasks all counts them"
            )
        view = kept
    missing = _uncontrolled(view)
    warnings += [f"{agent}: {len(hosts)} attacked host tasks have no control" for agent, hosts in missing.items()]
    return Pooled(view, tuple(dict.fromkeys(warnings)), sources.rejected, sum(map(len, missing.values())))


def score_files(
    paths: Sequence[Path],
    *,
    conventions: Conventions = Conventions.OURS,
    by: Sequence[str] = DEFAULT_BY,
    tasks: Tasks = Tasks.PUBLISHED,
) -> Score:
    """Score files.

    Args:
        paths: Reports of runs and episode files.
        conventions: Whose definitions to follow.
        by: What to break figures down by, of `DIMENSIONS`; suites and categories also get a total.
        tasks: Which tasks of a benchmark that grew are counted.

    Raises:
        LitmusError: A file or an argument cannot be used, or the episodes cannot be scored together.
    """
    return score_pool(pool_files(paths, tasks), conventions=conventions, by=by)


def score_pool(
    pooled: Pooled, *, conventions: Conventions = Conventions.OURS, by: Sequence[str] = DEFAULT_BY
) -> Score:
    """Score what was counted; arguments and errors as in `score_files`."""
    if unknown := [name for name in by if name not in DIMENSIONS]:
        raise LitmusConfigError(
            f"--by: {unknown[0]!r} is none of {', '.join(DIMENSIONS)}", hint="for example --by suite,attack"
        )
    rows = tuple(row for agent in pooled.agents for row in _rows(agent, pooled.of_agent(agent), conventions, by))
    return Score(
        rows,
        pooled.warnings,
        conventions,
        tuple(by),
        pooled.view.episodes,
        pooled.rejected,
        pooled.uncontrolled,
    )


def _rows(agent: str, view: PoolView, conventions: Conventions, by: Sequence[str]) -> Iterator[ScoreRow]:
    suites = _values(view, "suite", by)
    attacked = view.where(lambda probe: probe.condition is not Condition.CONTROL)
    attacks = _attacks(attacked, conventions, by)
    for attack, category, suite in product(attacks or [NONE], _values(attacked, "category", by), suites):
        part = view.where(lambda p, s=suite, c=category, a=attack: _in(p, s, c, a))  # type: ignore[misc] # binds early
        if part.probes and (attack == NONE or any(p.condition is not Condition.CONTROL for p in part.probes)):
            yield _row(ScoreRow(agent, suite, attack, category), part, conventions)


def _attacks(attacked: PoolView, conventions: Conventions, by: Sequence[str]) -> list[str]:
    """Attacks, and their total; AgentDojo prints none, as it treats each attack as an experiment of its own."""
    if "attack" not in by:
        return [ALL]
    found = sorted({probe.attack or NONE for probe in attacked.probes})
    return [*found, ALL] if len(found) > 1 and conventions is not Conventions.AGENTDOJO else found


def _values(view: PoolView, name: str, by: Sequence[str]) -> list[str]:
    found = sorted({getattr(probe, name) for probe in view.probes}) if name in by else []
    return [*found, ALL]


def _in(probe: ProbeKey, suite: str, category: str, attack: str) -> bool:
    """Controls stand beside every attack and category of their suite."""
    if suite not in {ALL, probe.suite}:
        return False
    if probe.condition is Condition.CONTROL:
        return True
    return category in {ALL, probe.category} and attack in {ALL, probe.attack or NONE}


def _row(row: ScoreRow, view: PoolView, conventions: Conventions) -> ScoreRow:
    names = (row.agent, row.suite, row.attack, row.category)
    if conventions is Conventions.AGENTDOJO:
        return ScoreRow(*names, numbers=recorded_of(view))
    if conventions is Conventions.LITMUS:
        estimates, quadrants = litmus_of(view)
        return ScoreRow(*names, estimates=estimates, numbers=dict(quadrants))
    ledger = ledger_of(view)
    shares = {name: float(share) for name, share in ledger.shares().items()}
    counts = {"pairs": ledger.pairs, "unknown_pairs": ledger.unknown}
    return ScoreRow(*names, estimates=estimates_of(view), split=split_of(view), ledger={**shares, **counts})


def _uncontrolled(view: PoolView) -> dict[str, set[tuple[str, str]]]:
    controlled = {(p.agent, p.suite, p.host) for p in view.probes if p.condition is Condition.CONTROL}
    missing: dict[str, set[tuple[str, str]]] = {}
    for probe in view.probes:
        key = (probe.agent, probe.suite, probe.host)
        if probe.condition is Condition.INJECTED and key not in controlled:
            missing.setdefault(probe.agent, set()).add(key[1:])
    return dict(sorted(missing.items()))
