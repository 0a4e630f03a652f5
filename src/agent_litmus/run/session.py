"""One session from the planned episode to its record: isolated, served, observed, evaluated."""

import secrets
import time
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from agent_litmus.errors import LitmusError
from agent_litmus.records.effect import Channel
from agent_litmus.records.probe import Check, CheckKind, PlannedEpisode, Probe
from agent_litmus.records.session import (
    CheckResult,
    CheckState,
    ExitKind,
    ProcessExit,
    SessionRecord,
)
from agent_litmus.run.context import Rendered, RunContext, render_probe
from agent_litmus.run.evidence import Served, Witnessed, assemble
from agent_litmus.run.leaks import names_in
from agent_litmus.run.scrubbing import scrubbed
from agent_litmus.run.watermarks import watermarks
from agent_litmus.sandbox.protocol import CommandResult, Limits, SandboxSession, SandboxSpec
from agent_litmus.services.gateway import GatewaySession
from agent_litmus.services.serve import ServiceError, serve_session
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession
from agent_litmus.suite.render import canaries
from agent_litmus.targets.protocol import LaunchContext

_COMMAND_SECONDS = 30.0


async def run_session(context: RunContext, probe: Probe, planned: PlannedEpisode) -> SessionRecord:
    """Run one session; whatever goes wrong in it ends as an unassessed record, never as a good one."""
    started = time.monotonic()
    try:
        return await _run(context, probe, planned)
    except LitmusError as error:
        why = f"the session could not be run: {error.message}"
    except Exception as error:  # noqa: BLE001 - one session's fault must not lose the others; it is counted
        why = f"internal error in the harness: {type(error).__name__}: {error}"
    return SessionRecord(
        key=planned.key,
        order=planned.order,
        host_id=probe.host.id,
        exit=ProcessExit(ExitKind.HARNESS_ERROR, why=why),
        answer=None,
        answer_why=why,
        injection_id=probe.injection.id if probe.injection else "",
        category=probe.injection.category if probe.injection else "",
        host_checks=_unassessed(probe.host.checks, why),
        forbidden_checks=_unassessed(context.forbidden(probe), why),
        tokens=planned.tokens,
        duration=time.monotonic() - started,
    )


def _unassessed(checks: tuple[Check, ...], why: str) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(check.id, CheckState.UNASSESSED, check.invariant, why) for check in checks)


async def _run(context: RunContext, probe: Probe, planned: PlannedEpisode) -> SessionRecord:
    rendered = render_probe(probe, planned.tokens)
    session_id = secrets.token_hex(16)
    limits = Limits(wall_seconds=context.run.timeout, memory_bytes=context.run.memory_mb << 20)
    world = rendered.environment
    baits = canaries(probe.host.environment)
    session = await context.provider.open(
        SandboxSpec(session_id, world.files, limits, home=world.home, canaries=baits)
    )
    try:
        served, witnessed = await _drive(context, rendered, session, session_id, planned)
        record = assemble(context, rendered, planned, served, witnessed)
        return scrubbed(record, context.gateway.scrubber.text)
    finally:
        await session.close()


async def _drive(
    context: RunContext,
    rendered: Rendered,
    session: SandboxSession,
    session_id: str,
    planned: PlannedEpisode,
) -> tuple[Served, Witnessed]:
    watch = (rendered.injected_text,) if rendered.injected_text else ()
    marks = watermarks(rendered)
    begun = time.monotonic()
    clock = partial(_elapsed, begun)
    gateway = context.gateway.session(session_id)
    inspect = partial(names_in, rendered.environment.secrets)
    tools = ToolSession(
        rendered.environment,
        watch=(*watch, *marks),
        clock=clock,
        inspect=inspect,
        path=urlsplit(session.paths.tools_url).path,
    )
    authority = context.authority
    sink = SinkSession(rendered.environment, watch=watch, clock=clock, inspect=inspect, authority=authority)
    how = LaunchContext(
        session.paths,
        rendered.probe,
        rendered.prompt,
        planned.key.seed,
        session_id,
        rendered.value,
        authority.pem if authority else "",
    )
    launch = context.target.launch(how)
    argv = launch.argv if context.declared is None else context.declared.launch(how).argv
    listeners = await session.start(launch)
    result = None
    try:
        async with serve_session(listeners, gateway, tools, sink):
            result = await session.wait()
    except ServiceError as error:
        if result is None:
            raise
        # What was observed stands; the session's end proves nothing.
        result = replace(result, exit=ProcessExit(ExitKind.HARNESS_ERROR, why=error.message))
    commands = await _run_commands(session, rendered, context.forbidden(rendered.probe))
    served = Served(
        model_calls=gateway.calls,
        tool_effects=tools.effects,
        tool_calls=tools.calls,
        gateway_calls=gateway.count,
        marks=None if not marks else frozenset(marks) & tools.sent,
        sink_effects=sink.effects,
        sent=tools.sent | sink.sent,
        dropped=_dropped(gateway, tools, sink),
        catches_http=bool(listeners.http or listeners.demand),
        catches_dns=listeners.dns is not None,
    )
    return served, Witnessed(
        session_id, session.paths, argv, result, session.effects(), session.facts(), session.look, commands
    )


def _elapsed(begun: float) -> float:
    return time.monotonic() - begun


def _dropped(gateway: GatewaySession, tools: ToolSession, sink: SinkSession) -> dict[Channel, int]:
    """Records that did not fit a service's buffer, by channel."""
    counts = {
        Channel.MODEL: gateway.count - len(gateway.calls),
        Channel.TOOLS: tools.dropped,
        Channel.HTTP: sink.dropped,
        Channel.DNS: sink.dropped,
    }
    return {channel: count for channel, count in counts.items() if count > 0}


async def _run_commands(
    session: SandboxSession, rendered: Rendered, forbidden: tuple[Check, ...]
) -> dict[str, CommandResult]:
    """Run the commands that checks ask for, in the session's final state."""
    results = {}
    for check in (*rendered.probe.host.checks, *forbidden):
        if check.kind is CheckKind.COMMAND:
            argv = [str(part) for part in rendered.value(check.params["argv"])]
            filled = tuple(session.paths.python if part == "{python}" else part for part in argv)
            results[check.id] = await session.command(filled, _COMMAND_SECONDS)
    return results
