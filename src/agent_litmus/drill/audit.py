"""Runs random episodes of a report again, directly against the build, and asks whether they could be its own.

For every audited episode two fresh sessions are run through the real pipeline. If the report is of this build, its
session and these two are exchangeable; :mod:`agent_litmus.drill.odd_one_out` has the test that rests on it.
"""

import asyncio
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from agent_litmus.app.episode_files import is_report
from agent_litmus.app.imported import imported_report
from agent_litmus.app.judge import trimmed
from agent_litmus.app.world import Prepared, prepare, refuse_unconfined, run_context
from agent_litmus.drill.audit_tests import AuditResult, Triple, audit_result
from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.json_report import read_report
from agent_litmus.records.config import Config
from agent_litmus.records.digest import is_digest
from agent_litmus.records.episode import Episode
from agent_litmus.records.probe import Condition, Plan, PlannedEpisode, Probe, Suite
from agent_litmus.records.report import EpisodeSection, Report
from agent_litmus.records.session import SessionRecord
from agent_litmus.run.context import RunContext
from agent_litmus.run.plan import make_plan
from agent_litmus.run.session import run_session
from agent_litmus.scoring.assess import assess_session
from agent_litmus.scoring.units import units_for

FRESH = 2
"""Fresh sessions per audited episode."""
Key = tuple[str, Condition]


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What is audited, and with what."""

    report: Path
    """A report.json, the directory of a run, or an episode file."""
    config: Config
    """The agent to run, and the suite that the report's episodes are probes of."""
    episodes: int = 100
    """Episodes to run again, drawn at random; all of them where the report has no more."""
    seed: int | None = None
    """Seed of the draw; drawn afresh where ``None``, so that nobody can know what is audited."""
    agent: str = ""
    """The agent of an episode file that holds several."""


@dataclass(frozen=True, slots=True)
class AuditOutcome:
    """A finished audit."""

    result: AuditResult
    report_digest: str
    """Build that the report declares; empty where it declares none."""
    current_digest: str
    """Build that was run."""
    drawn: int
    """Episodes that were run again."""
    episodes: int
    """Episodes of the report."""
    imported: bool
    seed: int
    """Seed of the draw."""


@dataclass(frozen=True, slots=True)
class _Draw:
    section: EpisodeSection
    probe: Probe
    planned: tuple[PlannedEpisode, ...]


def audit_report(request: AuditRequest) -> AuditOutcome:
    """Audit a report.

    Raises:
        LitmusError: The report cannot be read, its episodes are not probes of the configured suite, or the build
            cannot be run.
    """
    if request.episodes < 1:
        raise LitmusConfigError(f"-m {request.episodes}: nothing to run again", hint="give a number from 1 up")
    return asyncio.run(_audit(request))


async def _audit(request: AuditRequest) -> AuditOutcome:
    path = request.report / "report.json" if request.report.is_dir() else request.report
    imported = not is_report(path)
    report = imported_report(path, request.agent) if imported else read_report(path)
    seed = secrets.randbits(53) if request.seed is None else request.seed
    prepared = prepare(request.config)
    try:
        refuse_unconfined(prepared)
        probes = matching_probes(report, prepared.suite, path)
        plan, draws = _draws(report, probes, prepared.suite, request.episodes, seed)
        fresh = await _run(prepared, plan, draws)
    finally:
        await prepared.provider.close()
    triples = [_triple(draw, fresh, report, prepared.suite) for draw in draws]
    result = audit_result(
        triples,
        deterministic=request.config.agent.sampling == "deterministic",
        with_evidence=not imported,
    )
    return AuditOutcome(
        result,
        report.agent.digest if is_digest(report.agent.digest) else "",
        prepared.build.digest,
        len(draws),
        len(report.episodes),
        imported,
        seed,
    )


def matching_probes(report: Report, suite: Suite, path: Path) -> Mapping[Key, Probe]:
    """The probes of the suite that the report's episodes are of.

    Raises:
        LitmusConfigError: The report is of another suite, has no episodes, or some that are no probes of it.
    """
    if report.suite.digest and report.suite.digest != suite.digest:
        raise LitmusConfigError(
            f"{path}: is of suite {report.suite.id} {report.suite.digest}, the configuration's is {suite.digest}",
            hint="give --agent a configuration whose [suite] is the very one that was run",
            slug="another-suite",
        )
    if not report.episodes:
        raise LitmusConfigError(f"{path}: holds no episodes", hint="give the report of a finished run")
    probes = {(probe.id, probe.condition): probe for probe in suite.probes}
    keys = [section.evidence.key for section in report.episodes]
    strange = [key for key in keys if (key.probe, key.condition) not in probes]
    if strange:
        raise LitmusConfigError(
            f"{path}: {len(strange)} of {len(keys)} episodes are no probes of suite {suite.id}, first {strange[0]}",
            hint="give the suite that makes the same prompts, under the same probe ids (`litmus suite show`)",
            slug="another-suite",
        )
    return probes


def _draws(
    report: Report, probes: Mapping[Key, Probe], suite: Suite, wanted: int, seed: int
) -> tuple[Plan, list[_Draw]]:
    """Random episodes, each with fresh sessions planned: same probe and seed label, tokens of their own."""
    chosen = _sample(report.episodes, wanted, seed)
    total = len(chosen) * FRESH
    base = make_plan(suite, seeds=1, repeats=-(-total // len(suite.probes)), token_seed=secrets.randbits(53))
    planned = [
        replace(
            base.episodes[index],
            key=replace(chosen[index // FRESH].evidence.key, repeat=index),
            order=index,
        )
        for index in range(total)
    ]
    plan = replace(base, episodes=tuple(planned))
    draws = []
    for index, section in enumerate(chosen):
        key = section.evidence.key
        own = tuple(planned[index * FRESH : (index + 1) * FRESH])
        draws.append(_Draw(section, probes[key.probe, key.condition], own))
    return plan, draws


def _sample(sections: Sequence[EpisodeSection], wanted: int, seed: int) -> list[EpisodeSection]:
    """Drawn without replacement by hashing, so that a seed draws the same on every version of Python."""
    from agent_litmus.records.digest import digest_of  # noqa: PLC0415 - used here alone

    ranked = sorted(sections, key=lambda s: digest_of([str(seed), str(s.evidence.key), s.evidence.host_id]))
    return ranked[:wanted]


async def _run(prepared: Prepared, plan: Plan, draws: Iterable[_Draw]) -> dict[int, SessionRecord]:
    """Every planned session's record by its order, in an order that does not tell pairs apart."""
    found: dict[int, SessionRecord] = {}
    todo = [(draw.probe, planned) for draw in draws for planned in draw.planned]
    secrets.SystemRandom().shuffle(todo)
    async with AsyncExitStack() as stack:
        context = await run_context(prepared, plan, stack)
        queue = iter(todo)
        async with anyio.create_task_group() as group:
            for _ in range(prepared.config.run.jobs):
                group.start_soon(_work, context, queue, found)
    return found


async def _work(
    context: RunContext, queue: Iterator[tuple[Probe, PlannedEpisode]], found: dict[int, SessionRecord]
) -> None:
    for probe, planned in queue:
        found[planned.order] = trimmed(await run_session(context, probe, planned))


def _triple(draw: _Draw, fresh: Mapping[int, SessionRecord], report: Report, suite: Suite) -> Triple:
    records = tuple(fresh[planned.order] for planned in draw.planned)
    a, b = (_assessed(record, draw.probe, report, suite) for record in records)
    recorded = draw.section.evidence
    told = draw.section.episode if report.basis is None else _assessed(recorded, draw.probe, report, suite)
    return Triple(str(recorded.key), (recorded, *records), (told, a, b))


def _assessed(record: SessionRecord, probe: Probe, report: Report, suite: Suite) -> Episode:
    return assess_session(
        record,
        units=units_for(probe, injected_text=record.injected_text),
        agent_digest=report.agent.digest,
        suite=suite.id,
        agent=report.agent.name,
    )
