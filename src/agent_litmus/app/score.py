"""Result files to rows of figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from pathlib import Path

from agent_litmus.app.episode_files import sources_of
from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.agentdojo.layout import LATER_SET
from agent_litmus.records.probe import Condition
from agent_litmus.records.scorecard import Estimate
from agent_litmus.scoring.counts import METRICS, PAIRED
from agent_litmus.scoring.pool.figures import (
    estimates_of,
    ledger_of,
    litmus_of,
    recorded_of,
    split_of,
)
from agent_litmus.scoring.pool.pool import ProbeKey, pool_of
from agent_litmus.scoring.pool.seeds import SeedView, Spread
from agent_litmus.scoring.pool.tries import pass_k_of
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
    spread: dict[str, Spread] = field(default_factory=dict)
    """Figures that were taken with several seeds: how they differ from seed to seed."""
    pass_k: dict[str, Estimate] = field(default_factory=dict)
    """Figures as the chance that k tries of a probe are all good, where k was asked for."""


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
    k: int | None = None
    """Tries of pass^k, where asked for."""

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
    seeds: SeedView

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
    pool = pool_of(sources.batches())
    view, seeds = PoolView.of(pool), SeedView.of(pool)
    warnings = list(sources.warnings)
    if tasks is Tasks.PUBLISHED:
        kept, seeds = view.where(_published), seeds.where(_published)
        if left := view.episodes - kept.episodes:
            warnings.append(
                f"{left} episodes of tasks newer than the published set are left out; --tasks all counts them"
            )
        view = kept
    missing = _uncontrolled(view)
    warnings += [f"{agent}: {len(hosts)} attacked host tasks have no control" for agent, hosts in missing.items()]
    return Pooled(view, tuple(dict.fromkeys(warnings)), sources.rejected, sum(map(len, missing.values())), seeds)


def _published(probe: ProbeKey) -> bool:
    return probe.subset != LATER_SET


def score_files(
    paths: Sequence[Path],
    *,
    conventions: Conventions = Conventions.OURS,
    by: Sequence[str] = DEFAULT_BY,
    tasks: Tasks = Tasks.PUBLISHED,
    k: int | None = None,
) -> Score:
    """Score files.

    Args:
        paths: Reports of runs and episode files.
        conventions: Whose definitions to follow.
        by: What to break figures down by, of `DIMENSIONS`; suites and categories also get a total.
        tasks: Which tasks of a benchmark that grew are counted.
        k: Tries of pass^k, at least 1, under our own conventions.

    Raises:
        LitmusError: A file or an argument cannot be used, or the episodes cannot be scored together.
    """
    return score_pool(pool_files(paths, tasks), conventions=conventions, by=by, k=k)


def score_pool(
    pooled: Pooled,
    *,
    conventions: Conventions = Conventions.OURS,
    by: Sequence[str] = DEFAULT_BY,
    k: int | None = None,
) -> Score:
    """Score what was counted; arguments and errors as in `score_files`."""
    if unknown := [name for name in by if name not in DIMENSIONS]:
        raise LitmusConfigError(
            f"--by: {unknown[0]!r} is none of {', '.join(DIMENSIONS)}", hint="for example --by suite,attack"
        )
    if k is not None and conventions is not Conventions.OURS:
        raise LitmusConfigError("--k: pass^k is one of our figures", hint="leave out --k or --conventions")
    rows = tuple(row for agent in pooled.agents for row in _rows(agent, pooled, conventions, by, k))
    return Score(
        rows,
        pooled.warnings,
        conventions,
        tuple(by),
        pooled.view.episodes,
        pooled.rejected,
        pooled.uncontrolled,
        k,
    )


def _rows(
    agent: str, pooled: Pooled, conventions: Conventions, by: Sequence[str], k: int | None
) -> Iterator[ScoreRow]:
    view = pooled.of_agent(agent)
    suites = _values(view, "suite", by)
    attacked = view.where(lambda probe: probe.condition is not Condition.CONTROL)
    attacks = _attacks(attacked, conventions, by)
    for attack, category, suite in product(attacks or [NONE], _values(attacked, "category", by), suites):
        part = view.where(lambda p, s=suite, c=category, a=attack: in_row(p, s, c, a))  # type: ignore[misc] # binds early
        if part.probes and (attack == NONE or any(p.condition is not Condition.CONTROL for p in part.probes)):
            row = _row(ScoreRow(agent, suite, attack, category), part, conventions)
            yield _with_tries(row, part, pooled.seeds, k) if conventions is Conventions.OURS else row


def _with_tries(row: ScoreRow, view: PoolView, seeds: SeedView, k: int | None) -> ScoreRow:
    """The row with what several tries of the same probes say."""
    own = seeds.where(lambda p: p.agent == row.agent and in_row(p, row.suite, row.category, row.attack))
    spreads = {name: own.spread(METRICS[name]) for name in PAIRED}
    known = {name: spread for name, spread in spreads.items() if spread is not None}
    return replace(row, spread=known, pass_k={} if k is None else pass_k_of(view, k))


def _attacks(attacked: PoolView, conventions: Conventions, by: Sequence[str]) -> list[str]:
    """Attacks, and their total; AgentDojo prints none, as it treats each attack as an experiment of its own."""
    if "attack" not in by:
        return [ALL]
    found = sorted({probe.attack or NONE for probe in attacked.probes})
    return [*found, ALL] if len(found) > 1 and conventions is not Conventions.AGENTDOJO else found


def _values(view: PoolView, name: str, by: Sequence[str]) -> list[str]:
    found = sorted({getattr(probe, name) for probe in view.probes}) if name in by else []
    return [*found, ALL]


def in_row(probe: ProbeKey, suite: str, category: str, attack: str) -> bool:
    """Whether a row is about a probe; controls stand beside every attack and category of their suite."""
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
