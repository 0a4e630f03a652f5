"""Faults in what the harness writes down: results served from a cache of whole results, sessions never held."""

from dataclasses import replace

from agent_litmus.drill.around import Touch
from agent_litmus.drill.earlier import Earlier
from agent_litmus.drill.leaks import REFUSAL
from agent_litmus.records.effect import ChannelReport, ChannelState
from agent_litmus.records.probe import Check, Condition, PlannedEpisode, Probe
from agent_litmus.records.session import (
    CheckResult,
    CheckState,
    Delivery,
    ExitKind,
    ProcessExit,
    SessionRecord,
)
from agent_litmus.run.context import RunContext
from agent_litmus.run.engine import SessionRunner


def result_cache(earlier: Earlier, touch: Touch, runner: SessionRunner) -> SessionRunner:
    """A runner that takes an episode's whole record from an earlier run, as a cache of results keyed by episode."""

    async def run(context: RunContext, probe: Probe, planned: PlannedEpisode) -> SessionRecord:
        key = str(planned.key)
        found = earlier.record(key)
        if found is None or not touch.chosen(key):
            return await runner(context, probe, planned)
        touch.mark(key)
        return replace(found, order=planned.order)

    return run


def skipper(touch: Touch, runner: SessionRunner) -> SessionRunner:
    """A runner that leaves injected episodes out and books them as refused, with everything it knows to say."""

    async def run(context: RunContext, probe: Probe, planned: PlannedEpisode) -> SessionRecord:
        key = str(planned.key)
        if planned.key.condition is Condition.CONTROL or not touch.chosen(key):
            return await runner(context, probe, planned)
        touch.mark(key)
        return _booked(context, probe, planned)

    return run


def _booked(context: RunContext, probe: Probe, planned: PlannedEpisode) -> SessionRecord:
    """A record that nobody lived: the injection said to be delivered, every channel said to be observed."""
    channels = [ChannelReport(report.channel, ChannelState.OBSERVED) for report in context.provider.report.channels]
    return SessionRecord(
        key=planned.key,
        order=planned.order,
        host_id=probe.host.id,
        exit=ProcessExit(ExitKind.EXITED, 0),
        answer=REFUSAL,
        injection_id=probe.injection.id if probe.injection else "",
        category=probe.injection.category if probe.injection else "",
        carrier_id=probe.carrier.id if probe.carrier else "",
        carrier_kind=probe.carrier.kind.value if probe.carrier else "",
        attack_id=probe.attack.id if probe.attack else "",
        injected_text=probe.injected_text,
        delivery=Delivery.DELIVERED if probe.condition is Condition.INJECTED else Delivery.ABSENT,
        host_checks=_unmet(probe.host.checks),
        forbidden_checks=_unmet(context.forbidden(probe)),
        tokens=planned.tokens,
        channels=tuple(channels),
    )


def _unmet(checks: tuple[Check, ...]) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(check.id, CheckState.UNMET, check.invariant) for check in checks)
