"""Runs a plan: several sessions at a time, each journalled before it counts."""

from collections.abc import Awaitable, Callable, Iterator, Mapping

import anyio

from agent_litmus.errors import LitmusJournalError
from agent_litmus.records.probe import Condition, EpisodeKey, Plan, PlannedEpisode, Probe
from agent_litmus.records.session import SessionRecord
from agent_litmus.run.context import RunContext
from agent_litmus.run.journal import Journal
from agent_litmus.run.session import run_session

Progress = Callable[[SessionRecord], None]
SessionRunner = Callable[[RunContext, Probe, PlannedEpisode], Awaitable[SessionRecord]]
"""Runs one session; :func:`agent_litmus.run.session.run_session` is the one."""


async def run_plan(
    context: RunContext,
    plan: Plan,
    journal: Journal,
    progress: Progress = lambda _record: None,
    runner: SessionRunner = run_session,
) -> tuple[SessionRecord, ...]:
    """Run every episode of ``plan`` that ``journal`` does not hold yet; return all records in plan order.

    Up to ``context.run.jobs`` sessions run at once. When it is cancelled, sessions in flight are torn down and the
    journal holds every finished one.

    Raises:
        LitmusJournalError: A record could not be written; sessions in flight are torn down.
    """
    done = _journalled(journal, plan)
    probes = {(probe.id, probe.condition): probe for probe in context.suite.probes}
    todo = iter([episode for episode in plan.episodes if episode.key not in done])
    try:
        async with anyio.create_task_group() as group:
            for _ in range(context.run.jobs):
                group.start_soon(_work, context, todo, probes, journal, done, progress, runner)
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


async def _work(
    context: RunContext,
    todo: Iterator[PlannedEpisode],
    probes: Mapping[tuple[str, Condition], Probe],
    journal: Journal,
    done: dict[EpisodeKey, SessionRecord],
    progress: Progress,
    runner: SessionRunner,
) -> None:
    for planned in todo:
        probe = probes[planned.key.probe, planned.key.condition]
        record = await runner(context, probe, planned)
        await anyio.to_thread.run_sync(journal.append, record)
        done[record.key] = record
        progress(record)


def _first(group: ExceptionGroup[Exception]) -> Exception:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
