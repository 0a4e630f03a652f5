"""Runs the exam on one provider."""

import asyncio
from collections.abc import Callable, Sequence

from agent_litmus.exam.case import Case
from agent_litmus.exam.cases import ALL
from agent_litmus.exam.host import Host, changes, look_at_host
from agent_litmus.exam.judging import held, judge, unclaimed
from agent_litmus.exam.play import play
from agent_litmus.exam.result import CaseResult, ExamResult
from agent_litmus.exam.scene import Scene
from agent_litmus.exam.stand_ins import stand_ins
from agent_litmus.records.effect import ProviderReport
from agent_litmus.sandbox.protocol import Provider

HOST_CASE = "host-unchanged"


async def examine(
    provider: Provider, cases: Sequence[Case] = ALL, done: Callable[[CaseResult], None] | None = None
) -> ExamResult:
    """Put a provider through the exam, one case after the other, and look at the host before and after.

    Args:
        provider: An open provider; the caller closes it. It needs a bare Python interpreter as ``{python}``.
        cases: The cases to run.
        done: Called after every case.
    """
    results: list[CaseResult] = []

    def note(result: CaseResult) -> None:
        results.append(result)
        if done is not None:
            done(result)

    before = look_at_host()
    for index, case in enumerate(cases):
        note(await _case(provider, case))
        if index == 0:  # what the harness itself opens once and keeps is there now
            before = Host(before.facts, before.children, look_at_host().descriptors)
    note(_host_case(changes(before, look_at_host())))
    return ExamResult(provider.report, tuple(results))


def _host_case(changed: list[str]) -> CaseResult:
    detail = f"changed: {', '.join(changed)}" if changed else "the host is as it was before all cases"
    return CaseResult(HOST_CASE, ok=not changed, contained=not changed, observed=True, detail=detail)


async def _case(provider: Provider, case: Case) -> CaseResult:
    """One case; whatever goes wrong in it is never ok."""
    report = provider.report
    try:
        if not case.rehearsal:
            return judge(case, await _play(provider, case, case.script), report, rehearsed=False)
        scene = await _play(provider, case, case.rehearsal)
        claimed = _claimed(case, report)
        if not (claimed and held(case, scene)):
            return judge(case, scene, report, rehearsed=not claimed)
        return judge(case, await _play(provider, case, case.script), report, rehearsed=False)
    except TimeoutError:
        why = "the session did not end"
    except Exception as error:  # noqa: BLE001  a provider is somebody else's; the exam goes on and says so
        why = f"the session could not be run: {type(error).__name__}: {error}"
    return CaseResult(case.name, ok=False, contained=False, observed=False, detail=why)


def _claimed(case: Case, report: ProviderReport) -> bool:
    """Whether the provider claims to hold the act at all: nothing that could harm the host is tried otherwise."""
    return not unclaimed(case, report)


async def _play(provider: Provider, case: Case, script: str) -> Scene:
    with stand_ins() as host:
        return await play(provider, case, script, host)


def examine_now(
    provider: Provider, cases: Sequence[Case] = ALL, done: Callable[[CaseResult], None] | None = None
) -> ExamResult:
    """:func:`examine` from outside an event loop; the provider is closed."""

    async def work() -> ExamResult:
        try:
            return await examine(provider, cases, done)
        finally:
            await provider.close()

    return asyncio.run(work())
