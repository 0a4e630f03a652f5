"""Proves a suite in real sessions before any agent is judged by it.

Each host task must be solvable by its oracle, each carrier must lie on that path, each injection's oracle must fire
its forbidden check, and a session that does nothing must satisfy nothing.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import anyio

from agent_litmus.app.remote import runnable
from agent_litmus.app.world import Prepared, prepare, refuse_unconfined, run_context
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import Config, ModelConfig
from agent_litmus.records.effect import ProviderReport
from agent_litmus.records.probe import (
    CarrierKind,
    Condition,
    OracleAction,
    Plan,
    PlannedEpisode,
    Probe,
    Suite,
)
from agent_litmus.records.session import CheckResult, CheckState, Delivery, ProcessExit, SessionRecord
from agent_litmus.run.context import RunContext
from agent_litmus.run.plan import make_plan
from agent_litmus.run.session import run_session
from agent_litmus.suite.inband import token_slots
from agent_litmus.targets.oracle import OracleTarget, StepChoice, host_steps, injection_steps, no_steps

Judge = Callable[[Probe, SessionRecord], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a session disproved."""

    section: str
    """Section of the suite, e.g. ``host_tasks``."""
    id: str
    """Id of the entry in that section."""
    text: str


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Result of checking a configuration."""

    suite: Suite
    build: AgentBuild
    provider: ProviderReport
    problems: tuple[Problem, ...]
    sessions: int


@dataclass(frozen=True, slots=True)
class _Trial:
    probe: Probe
    steps: StepChoice
    judge: Judge
    section: str
    id: str


def check_config(config: Config) -> CheckOutcome:
    """Prove ``config``'s suite in sessions of the provider its runs will use.

    Raises:
        LitmusError: Configuration, suite, build or sandbox are unusable.
    """
    return asyncio.run(_check(config))


async def _check(config: Config) -> CheckOutcome:
    meant = prepare(replace(config, agent=replace(config.agent, model=ModelConfig())))
    with runnable(meant.config) as here:
        # The suite's own oracles are commands, so a remote agent's suite is proven in a sandbox all the same.
        prepared = meant if here is meant.config else prepare(here)
        trials = list(_trials(prepared.suite))
        try:
            refuse_unconfined(meant)
            refuse_unconfined(prepared)
            problems = [*_without_tokens(prepared.suite), *await _prove(prepared, trials)]
        finally:
            await prepared.provider.close()
    return CheckOutcome(meant.suite, meant.build, meant.provider.report, tuple(problems), len(trials))


def _trials(suite: Suite) -> Iterable[_Trial]:
    for probe in suite.probes:
        host = probe.host.id
        if probe.condition is Condition.CONTROL:
            yield _Trial(probe, host_steps, _solves, "host_tasks", host)
            yield _Trial(probe, no_steps, _satisfies_nothing, "host_tasks", host)
        elif probe.condition is Condition.INJECTED and probe.injection and probe.carrier:
            yield _Trial(probe, host_steps, _meets_carrier, "carriers", probe.carrier.id)
            yield _Trial(probe, injection_steps, _fires, "injections", probe.injection.id)
        elif probe.injection:
            yield _Trial(probe, injection_steps, _fires, "injections", probe.injection.id)


def _without_tokens(suite: Suite) -> Iterable[Problem]:
    """Probes whose sessions are given nothing that is new in each of them."""
    for probe in suite.probes:
        if suite.tokens and not token_slots(probe):
            own = probe.injection if probe.condition is Condition.DIRECT else None
            section, name = ("host_tasks", probe.host.id) if own is None else ("injections", own.id)
            text = (
                f"probe {probe.id}: neither its prompt nor its world holds a {{{{token.NAME}}}}, so nothing can "
                "show that a session of it is fresh; put one where the task makes the agent repeat it"
            )
            yield Problem(section, name, text)


async def _prove(prepared: Prepared, trials: list[_Trial]) -> list[Problem]:
    plan = _tokens(prepared.suite, len(trials))
    found: dict[int, list[Problem]] = {}
    async with AsyncExitStack() as stack:
        context = await run_context(prepared, plan, stack)
        todo = iter(list(enumerate(zip(trials, plan.episodes, strict=False))))

        async def work() -> None:
            for index, (trial, planned) in todo:
                found[index] = await _run_trial(context, trial, planned)

        async with anyio.create_task_group() as group:
            for _ in range(prepared.config.run.jobs):
                group.start_soon(work)
    return [problem for index in sorted(found) for problem in found[index]]


def _tokens(suite: Suite, sessions: int) -> Plan:
    """A plan with enough episodes to give every session tokens of its own."""
    repeats = -(-sessions // len(suite.probes))
    return make_plan(suite, seeds=1, repeats=repeats, token_seed=secrets.randbits(53))


async def _run_trial(context: RunContext, trial: _Trial, planned: PlannedEpisode) -> list[Problem]:
    key = replace(planned.key, probe=trial.probe.id, condition=trial.probe.condition)
    own = replace(context, target=OracleTarget(trial.steps))
    record = await run_session(own, trial.probe, replace(planned, key=key))
    return [Problem(trial.section, trial.id, text) for text in trial.judge(trial.probe, record)]


def _solves(_probe: Probe, record: SessionRecord) -> Iterable[str]:
    yield from _ended(record)
    if record.exit.clean and record.answer_why:
        yield "its oracle gives no answer, and an empty answer is never assessed; end it with an answer step"
    for check in record.host_checks:
        if check.state is not CheckState.MET:
            yield f"its oracle does not satisfy check {_shown(check)}"
    for check in record.forbidden_checks:
        if check.state in {CheckState.MET, CheckState.ATTEMPTED}:
            yield f"its oracle alone fires the forbidden check {_shown(check)} of an injection it is crossed with"


def _satisfies_nothing(probe: Probe, record: SessionRecord) -> Iterable[str]:
    positive = [check for check in record.host_checks if not check.invariant]
    if not positive:
        yield "it has no check that an act must satisfy: doing nothing would pass"
    if probe.do_nothing_passes:
        return
    for check in positive:
        if check.state is CheckState.MET:
            yield f"a session that does nothing satisfies check {_shown(check)}"
    for check in record.forbidden_checks:
        if check.state in {CheckState.MET, CheckState.ATTEMPTED}:
            yield f"a session that does nothing fires the forbidden check {_shown(check)}"


def _meets_carrier(probe: Probe, record: SessionRecord) -> Iterable[str]:
    yield from _ended(record)
    if record.delivery is not Delivery.DELIVERED and not _reads_the_file(probe):
        yield (
            f"probe {probe.id}: the host oracle does not meet the injection on its way "
            f"({record.delivery}: {record.delivery_why})"
        )


def _reads_the_file(probe: Probe) -> bool:
    """Whether a command of the host oracle names the file carrier; reading it so leaves no other trace."""
    if probe.carrier is None or probe.carrier.kind is not CarrierKind.FILE:
        return False
    marker = "{{slot." + probe.carrier.slot + "}}"
    paths = [path for path, text in probe.host.environment.files.items() if marker in text]
    commands = [str(s.params.get("argv")) for s in probe.host.oracle if s.action is OracleAction.EXEC]
    return any(path in command for path in paths for command in commands)


def _fires(probe: Probe, record: SessionRecord) -> Iterable[str]:
    yield from _ended(record)
    if not any(check.state is CheckState.MET for check in record.forbidden_checks):
        shown = ", ".join(_shown(check) for check in record.forbidden_checks) or "none declared"
        yield f"probe {probe.id}: its oracle fires no forbidden check ({shown})"


def _ended(record: SessionRecord) -> Iterable[str]:
    ended: ProcessExit = record.exit
    if not ended.clean:
        detail = record.stderr_tail.strip().splitlines()[-1:] or [ended.why]
        code = "" if ended.code is None else f" {ended.code}"
        yield f"the oracle's session ended badly ({ended.kind}{code}): {detail[0]}"


def _shown(check: CheckResult) -> str:
    return f"{check.id} ({check.state}: {check.why})"


def eligible_counts(suite: Suite, episodes_per_probe: int) -> Mapping[str, int]:
    """How many episodes each gated metric will have, for floors that no result could reach."""
    injected = sum(probe.condition is Condition.INJECTED for probe in suite.probes) * episodes_per_probe
    controls = sum(probe.condition is Condition.CONTROL for probe in suite.probes) * episodes_per_probe
    direct = sum(probe.condition is Condition.DIRECT for probe in suite.probes) * episodes_per_probe
    counts = {"u0": controls, "u1": injected, "ir": injected, "sr": injected, "dr": direct}
    crossed = [p.injection for p in suite.probes if p.condition is Condition.INJECTED and p.injection]
    for category, probes in Counter(injection.category for injection in crossed).items():
        counts |= {f"{category}/{metric}": probes * episodes_per_probe for metric in ("ir", "sr")}
    return counts
