"""Runs a suite against a build: everything from the configuration to the written report."""

import asyncio
import secrets
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from agent_litmus.app.descriptors import raise_limit
from agent_litmus.app.history import recall, remember
from agent_litmus.app.judge import Measured, judge
from agent_litmus.app.seams import HONEST, Seams
from agent_litmus.app.world import Prepared, refuse_unconfined, run_context
from agent_litmus.errors import RunInterrupted
from agent_litmus.formats.json_report import report_json, write_whole
from agent_litmus.records.config import Config
from agent_litmus.records.digest import digest_of
from agent_litmus.records.probe import Plan
from agent_litmus.records.report import Report
from agent_litmus.records.session import SessionRecord
from agent_litmus.run.beside import Beside
from agent_litmus.run.engine import run_plan
from agent_litmus.run.journal import SCHEMA_VERSION, Journal, JournalHeader, create, ensure_same_run, resume
from agent_litmus.run.pairs import plan_pairs, with_pairs
from agent_litmus.run.plan import make_plan
from agent_litmus.run.session import run_session


class RunProgress(Protocol):
    """Something that shows how far a run is."""

    def start(self, total: int, done: int, what: str) -> None:
        """Called once, before the first session."""

    def session(self, record: SessionRecord) -> None:
        """Called after every finished session."""


class Silent:
    """Shows nothing."""

    def start(self, total: int, done: int, what: str) -> None:
        """Ignore."""

    def session(self, record: SessionRecord) -> None:
        """Ignore."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What one invocation adds to the configuration."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    resume: Path | None = None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A finished run."""

    report: Report
    directory: Path
    warnings: tuple[str, ...] = ()
    """What went wrong beside the run without touching its report, such as a history that cannot be written."""


def run_config(
    config: Config,
    options: RunOptions | None = None,
    progress: RunProgress | None = None,
    seams: Seams = HONEST,
) -> RunOutcome:
    """Run ``config``'s suite against its agent and write ``report.json``; ``seams`` are for drills alone.

    Raises:
        LitmusError: Configuration, suite, sandbox or journal cannot be used; nothing is scored.
        RunInterrupted: Interrupted; the journal holds every finished session and can be resumed.
    """
    opened: list[Path] = []
    try:
        return asyncio.run(_run(config, options or RunOptions(), progress or Silent(), opened, seams))
    except KeyboardInterrupt as interrupt:
        if not opened:
            raise
        raise RunInterrupted(
            f"the run in {opened[0]} is not finished; finish it with the same options and --resume {opened[0]}"
        ) from interrupt


async def _run(
    config: Config, options: RunOptions, progress: RunProgress, opened: list[Path], seams: Seams
) -> RunOutcome:
    raise_limit()
    async with AsyncExitStack() as stack:
        prepared = seams.prepared(seams.prepare(config))
        stack.push_async_callback(prepared.provider.close)
        refuse_unconfined(prepared)
        journal = _open_journal(config, options, prepared)
        stack.callback(journal.close)
        directory = journal.path.parent
        opened.append(directory)
        plan = _plan(config, options, prepared, journal.header.token_seed)
        ensure_same_run(journal, _header(config, options, prepared, plan, journal.header))
        if prepared.remote is not None:
            journal.append_endpoint(prepared.remote.asked)
        share, seed = config.run.leak_pairs, journal.header.token_seed
        pairs = plan_pairs(prepared.suite, plan, share=share, token_seed=seed)
        context = await run_context(prepared, plan, stack)
        context = seams.context(replace(context, book=with_pairs(context.book, pairs)))
        total, provider = len(plan.episodes), prepared.provider.report.name
        what = f"run {journal.header.run_id}, {total} episodes, provider {provider}"
        progress.start(total, len(journal.records), what)
        beside = Beside(
            journal, total=total, pairs=pairs, calibrator=context.calibrator, calls=config.run.calibration
        )
        records = await run_plan(context, plan, journal, progress.session, seams.runner(run_session), beside)
        proofs = beside.proofs()
        if prepared.remote is not None:
            asked = (*journal.endpoint, *prepared.remote.asked)
            again = await prepared.remote.ask_again(records)
            proofs = replace(proofs, endpoint_start=asked, endpoint_end=again)
    measured = Measured(records, plan, prepared.suite, prepared.build, prepared.provider.report, config, proofs)
    run_id, suite, build = journal.header.run_id, prepared.suite.digest, prepared.build.digest
    earlier = recall(config, suite_digest=suite, agent_digest=build, run_id=run_id)
    report = seams.report(judge(seams.measured(measured), run_id=run_id, history=seams.history(earlier.facts)))
    document = report_json(report)
    write_whole(directory / "report.json", document)
    warnings = (earlier.warning, remember(config, report, document))
    return RunOutcome(report, directory, tuple(filter(None, warnings)))


def _plan(config: Config, options: RunOptions, prepared: Prepared, token_seed: int) -> Plan:
    return make_plan(
        prepared.suite,
        seeds=config.run.seeds,
        repeats=config.run.repeats,
        run_seed=config.run.run_seed,
        token_seed=token_seed,
        only=options.only,
        limit=options.limit,
    )


def _open_journal(config: Config, options: RunOptions, prepared: Prepared) -> Journal:
    if options.resume is not None:
        return resume(options.resume / "journal.jsonl")
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
    token_seed = secrets.randbits(53)
    plan = _plan(config, options, prepared, token_seed)
    blank = JournalHeader(run_id, "", "", "", "", token_seed, {})
    header = _header(config, options, prepared, plan, blank)
    return create(config.run.output / run_id / "journal.jsonl", header)


def _header(
    config: Config, options: RunOptions, prepared: Prepared, plan: Plan, base: JournalHeader
) -> JournalHeader:
    run = asdict(config.run)
    measured = {name: run[name] for name in run.keys() - {"jobs", "output", "provider", "tools_host"}}
    settings = {
        **{f"run.{name}": value for name, value in measured.items()},
        **{f"gate.{name}": value for name, value in asdict(config.gate).items()},
        "--probe": list(options.only),
        "--limit": options.limit,
        "provider": prepared.provider.report.name,
        "agent.sampling": config.agent.sampling,
    }
    return replace(
        base,
        agent_digest=prepared.build.digest,
        suite_digest=prepared.suite.digest,
        config_digest=digest_of(settings),
        settings=settings,
        plan_digest=plan.digest,
        schema_version=SCHEMA_VERSION,
    )
