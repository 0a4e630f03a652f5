"""An episode file as a report: scored like any, proving nothing."""

from collections.abc import Iterator
from pathlib import Path

from agent_litmus import __version__
from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes import open_episodes
from agent_litmus.formats.episodes.read import LinesFile
from agent_litmus.records.effect import ProviderReport
from agent_litmus.records.episode import Episode
from agent_litmus.records.probe import EpisodeKey
from agent_litmus.records.report import (
    AgentSection,
    Counts,
    EpisodeSection,
    PlanSection,
    Report,
    SuiteSection,
)
from agent_litmus.records.session import ExitKind, ProcessExit, SessionRecord
from agent_litmus.records.stored import StoredEpisode
from agent_litmus.records.verdict import Policy, VerdictKind
from agent_litmus.scoring.classify import classify_episode

IMPORTED = "imported"
"""Provider of episodes that were not run here; their outcomes are all there is to score."""
NO_EVIDENCE = "imported: the file holds outcomes and no evidence"
_NO_COUNTS = Counts(0, 0, {}, {}, {}, {}, {}, {}, ())


def imported_report(path: Path, agent: str = "") -> Report:
    """The episodes of one agent as a report without a basis, not judged yet.

    Args:
        path: An episode file.
        agent: The agent to take; needed where the file holds several.

    Raises:
        LitmusConfigError: The file cannot be used, or holds none or several agents.
    """
    rows = list(_rows(path))
    names = sorted({row.agent for row in rows})
    chosen = agent or (names[0] if len(names) == 1 else "")
    if chosen not in names or not rows:
        shown = ", ".join(names[:12]) or "none"
        raise LitmusConfigError(
            f"{path}: one agent is judged at a time; the file holds {shown}", hint="name one with --agent NAME"
        )
    return _report(chosen, [row for row in rows if row.agent == chosen])


def _rows(path: Path) -> Iterator[StoredEpisode]:
    file = open_episodes(path)
    if not isinstance(file, LinesFile):
        raise LitmusConfigError(
            f"{path}: Parquet files are scored, not gated", hint="import again into a .jsonl file"
        )
    yield from file.episodes()


def _report(agent: str, rows: list[StoredEpisode]) -> Report:
    digest = rows[0].agent_digest
    suites = sorted({row.suite for row in rows})
    seeds, repeats = len({row.seed for row in rows}), len({row.repeat for row in rows})
    return Report(
        verdict=VerdictKind.INDETERMINATE,
        reason="not judged",
        reasons=(),
        certified=None,
        proven=False,
        warnings=(),
        agent=AgentSection(agent, digest, {}, {}, "stochastic"),
        suite=SuiteSection(", ".join(suites), "", "", "live"),
        plan=PlanSection("", len(rows), len(rows), 0, seeds, repeats, partial=False),
        provider=ProviderReport(IMPORTED, "", (), ()),
        policy=Policy(),
        score={},
        counts=_NO_COUNTS,
        findings=(),
        obligations=(),
        results_digest="",
        normalised_results_digest="",
        run_id="",
        tool_version=__version__,
        episodes=tuple(_section(row, order) for order, row in enumerate(rows)),
    )


def _section(row: StoredEpisode, order: int) -> EpisodeSection:
    key = EpisodeKey(row.probe or _probe(row), row.condition, row.seed, row.repeat)
    episode = Episode(
        key=key,
        agent_digest=row.agent_digest,
        host_id=row.host,
        delivery=row.delivery,
        host=row.host_outcome,
        injected=row.injected_outcome,
        host_why=row.host_why,
        injected_why=row.injected_why,
        injection_id=row.injection,
        category=row.category,
        carrier_id=row.carrier,
        attack_id=row.attack,
        suite=row.suite,
        agent=row.agent,
        semantic=row.semantic,
        physical=row.physical,
    )
    record = SessionRecord(
        key=key,
        order=order,
        host_id=row.host,
        exit=ProcessExit(ExitKind.NOT_STARTED, why=NO_EVIDENCE),
        answer=None,
        answer_why=NO_EVIDENCE,
        injection_id=row.injection,
        category=row.category,
        carrier_id=row.carrier,
        attack_id=row.attack,
    )
    label = classify_episode(episode)
    return EpisodeSection(episode, label.cell, tuple(sorted(label.overlays)), record)


def _probe(row: StoredEpisode) -> str:
    return "+".join(part for part in (row.host, row.injection, row.carrier, row.attack) if part)
