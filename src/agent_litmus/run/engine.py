"""Runs a plan: several sessions at a time, each journalled before it counts."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import anyio

from agent_litmus.errors import LitmusJournalError
from agent_litmus.records.probe import Condition, EpisodeKey, Plan, PlannedEpisode, Probe
from agent_litmus.records.session import SessionRecord
from agent_litmus.run.beside import Beside, SessionRunner
from agent_litmus.run.context import RunContext
from agent_litmus.run.journal import Journal
from agent_litmus.run.session import run_session

__all__ = ["Progress", "SessionRunner", "run_plan"]

Progress = Callable[[SessionRecord], None]


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the workers share."""

    context: RunContext
    todo: Iterator[PlannedEpisode]
    probes: Mapping[tuple[str, Condition], Probe]
    journal: Journal
    done: dict[EpisodeKey, SessionRecord]
    progress: Progress
    runner: SessionRunner
    beside: Beside
    begun: float


async def run_plan(
    context: RunContext,
    plan: Plan,
    journal: Journal,
    progress: Progress = lambda _record: None,
    runner: SessionRunner = run_session,
    beside: Beside | None = None,
) -> tuple[SessionRecord, ...]:
    """Run every episode of ``plan`` that ``journal`` does not hold yet; return all records in plan order.

    Up to ``context.run.jobs`` sessions run at once. When it is cancelled, sessions in flight are torn down and the
    journal holds every finished one. ``beside`` makes leak pairs and calibration calls on the way.

    Raises:
        LitmusJournalError: A record could not be written; sessions in flight are torn down.
    """
    done = _journalled(journal, plan)
    work = _Shared(
        context,
        iter([episode for episode in plan.episodes if episode.key not in done]),
        {(probe.id, probe.condition): probe for probe in context.suite.probes},
        journal,
        done,
        progress,
        runner,
        beside or Beside(journal, total=len(plan.episodes)),
        time.monotonic(),
    )
    try:
        async with anyio.create_task_group() as group:
            for number in range(context.run.jobs):
                group.start_soon(_work, work, number)
    except ExceptionGroup as group_error:
        raise _first(group_error) from group_error
    return tuple(done[episode.key] for episode in plan.episodes)


def _journalled(journal: Journal, plan: Plan) -> dict[EpisodeKey, SessionRecord]:
    """The journal's records by key; a stranger or a duplicate means the journal is not this run's alone."""
    planned = {episode.key for episode in plan.episodes}
    done: dict[EpisodeKey, SessionRecord] = {}
    for record in journal.records:
        if record.key in done or record.key not in planned:
            what = "stands in it twice" if record.key in done else "is not in the plan"
            raise LitmusJournalError(
                f"{journal.path}: damaged journal: episode {record.key} {what}",
                hint="start a new run; a damaged journal is never scored",
                slug="damaged-journal",
            )
        done[record.key] = record
    return done


async def _work(work: _Shared, number: int) -> None:
    def finished() -> int:
        return len(work.done)

    await work.beside.calibrate(finished)
    for planned in work.todo:
        probe = work.probes[planned.key.probe, planned.key.condition]
        started = time.monotonic() - work.begun
        record = replace(await work.runner(work.context, probe, planned), worker=number, started=started)
        pair = await work.beside.ask(work.context, work.runner, probe, planned, record)
        await anyio.to_thread.run_sync(work.journal.append, record, pair)
        work.done[record.key] = record
        work.progress(record)
        await work.beside.calibrate(finished)


def _first(group: ExceptionGroup[Exception]) -> Exception:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
