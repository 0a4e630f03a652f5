"""Turns what services and sandbox saw in a session into its record."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_litmus.records.digest import digest_of, sha256_of
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState, Effect, Outcome
from agent_litmus.records.probe import Condition, PlannedEpisode
from agent_litmus.records.session import (
    ExitKind,
    ModelCall,
    SessionCounts,
    SessionProof,
    SessionRecord,
)
from agent_litmus.run.check_tokens import Outputs, with_tokens
from agent_litmus.run.context import Rendered, RunContext
from agent_litmus.run.delivery import DeliveryEvidence, effect_texts, observe_delivery
from agent_litmus.run.evaluate import evaluate
from agent_litmus.run.matching import Matcher
from agent_litmus.run.observed import UNREAD_TRAFFIC, Observed, is_unread
from agent_litmus.run.sightings import find_sightings
from agent_litmus.run.watermarks import read_back
from agent_litmus.sandbox.protocol import CommandResult, Look, ProcessResult, SandboxPaths, SessionFacts

_STDERR_TAIL = 2000
_READ_BACK = 50
_COMPARED_PARTS = 8
_LOCAL_FAMILIES = {"unix", "family 16"}
"""Address families that lead nowhere outside: local sockets, and netlink, which asks the kernel."""
_COMPARED = 200
_EMPTY_ANSWERS = frozenset({"", "{}", "[]", "null", "none", '""'})


@dataclass(frozen=True, slots=True)
class Served:
    """What the session's services saw."""

    model_calls: tuple[ModelCall, ...]
    tool_effects: tuple[Effect, ...]
    tool_calls: int
    gateway_calls: int
    marks: frozenset[str] | None
    """Watermarks that the tool server sent; ``None``: the world holds none."""
    sink_effects: tuple[Effect, ...]
    sent: frozenset[str]
    dropped: Mapping[Channel, int]
    """Channel to the number of records that did not fit its buffer."""
    catches_http: bool
    catches_dns: bool


@dataclass(frozen=True, slots=True)
class Witnessed:
    """What the sandbox saw."""

    session_id: str
    paths: SandboxPaths
    argv: tuple[str, ...]
    """The command that the build declares, filled in for this session."""
    result: ProcessResult
    effects: tuple[Effect, ...]
    facts: SessionFacts
    look: Callable[[str], Look]
    commands: Mapping[str, CommandResult]


def assemble(
    context: RunContext, rendered: Rendered, planned: PlannedEpisode, served: Served, seen: Witnessed
) -> SessionRecord:
    """The record of one session."""
    probe = rendered.probe
    answer, answer_why = read_answer(seen.result)
    effects = tuple(sorted((*seen.effects, *served.tool_effects, *served.sink_effects), key=lambda e: e.at))
    channels = session_channels(context.provider.report.channels, served, seen, effects)
    delivery, delivery_why = observe_delivery(
        probe, _delivery_evidence(rendered, served, effects, answer, scripted=not context.target.executes_snapshot)
    )
    matcher = Matcher(context.suite.tokens, probe.host.environment.secrets)
    world = rendered.environment
    observed = Observed(
        effects, channels, answer, answer_why, seen.look, world.files, world.secrets, matcher, seen.commands
    )
    given, texts = _given(rendered), _texts(answer, effects, served.model_calls, seen)
    sightings = find_sightings(context.book, planned.tokens, given, texts)
    host_checks = with_tokens(
        probe.host.checks,
        evaluate(probe.host.checks, observed),
        observed,
        Outputs(sightings, texts, given),
        context.book,
    )
    raw = _behaviour(answer, effects, served.model_calls)
    return SessionRecord(
        key=planned.key,
        order=planned.order,
        host_id=probe.host.id,
        exit=seen.result.exit,
        answer=answer,
        answer_why=answer_why,
        injection_id=probe.injection.id if probe.injection else "",
        category=probe.injection.category if probe.injection else "",
        carrier_id=probe.carrier.id if probe.carrier else "",
        carrier_kind=probe.carrier.kind.value if probe.carrier else "",
        attack_id=probe.attack.id if probe.attack else "",
        injected_text=rendered.injected_text if probe.condition is not Condition.DIRECT else rendered.prompt,
        delivery=delivery,
        delivery_why=delivery_why,
        host_checks=host_checks,
        forbidden_checks=evaluate(context.forbidden(probe), observed),
        effects=effects,
        model_calls=served.model_calls,
        tool_calls=served.tool_calls,
        tokens=planned.tokens,
        sightings=sightings,
        channels=channels,
        proof=_proof(context, seen),
        duration=seen.result.duration,
        output_truncated=seen.result.truncated,
        stderr_tail=seen.result.stderr.decode("utf-8", "replace")[-_STDERR_TAIL:],
        response_digest=digest_of(raw),
        normalised_digest=digest_of(_strip(raw, planned.tokens)),
        output_digest=sha256_of(seen.result.said),
        counts=_counts(served, effects),
        watermarks=None if served.marks is None else read_back(served.marks, sightings),
    )


def _counts(served: Served, effects: tuple[Effect, ...]) -> SessionCounts:
    return SessionCounts(
        gateway_calls=served.gateway_calls,
        tool_server_calls=served.tool_calls,
        tool_effects=sum(e.channel is Channel.TOOLS and e.action == "call" for e in effects),
        model_calls=len(served.model_calls),
        effects=len(effects),
    )


def read_answer(result: ProcessResult) -> tuple[str | None, str]:
    """The answer and, where it cannot be assessed, why. The answer file wins over standard output."""
    answer = result.said.decode("utf-8", "replace").strip()
    ended = result.exit
    if ended.kind is ExitKind.NOT_STARTED:
        return None, f"the agent could not be started: {ended.why}"
    if ended.kind is ExitKind.TIMEOUT:
        return answer, f"the agent did not end in time: {ended.why}"
    if ended.kind is ExitKind.HARNESS_ERROR:
        return answer, ended.why
    if ended.kind is ExitKind.SIGNALED:
        return answer, f"the agent was killed by signal {ended.code}"
    if not ended.clean:
        return answer, ended.why or f"the agent ended with exit status {ended.code}"
    if result.truncated:
        return answer, "the agent's answer exceeded the cap and was cut"
    if answer.lower() in _EMPTY_ANSWERS:
        what = f"the answer is {answer}" if answer else "the answer is empty"
        return answer, f"{what}: an agent answers on standard output or in the file $LITMUS_ANSWER"
    return answer, ""


def session_channels(
    provider: Iterable[ChannelReport], served: Served, seen: Witnessed, effects: Iterable[Effect]
) -> tuple[ChannelReport, ...]:
    """The channels of this very session: the provider's, what the services caught, and what slipped by them."""
    states = {report.channel: report for report in provider}
    states.update({report.channel: report for report in seen.facts.channels})
    for channel in (Channel.TOOLS, Channel.MODEL, Channel.ANSWER):
        states[channel] = _service_state(channel, states.get(channel), served)
    if served.catches_dns:
        states[Channel.DNS] = ChannelReport(Channel.DNS, ChannelState.OBSERVED)
    if served.catches_http:
        states[Channel.HTTP] = _http_state(states.get(Channel.CONNECT), effects)
    for channel, count in served.dropped.items():
        states[channel] = ChannelReport(channel, ChannelState.PARTIAL, f"{count} records did not fit the buffer")
    return tuple(states[channel] for channel in Channel if channel in states)


def _service_state(channel: Channel, claimed: ChannelReport | None, served: Served) -> ChannelReport:
    """A service sees all that reaches it; an agent that no provider holds to it must be seen to reach it."""
    if claimed is None or claimed.state is ChannelState.OBSERVED:
        return ChannelReport(channel, ChannelState.OBSERVED)
    if channel is not Channel.TOOLS:
        return claimed
    if served.tool_effects:
        return ChannelReport(channel, ChannelState.OBSERVED)
    return ChannelReport(channel, ChannelState.NOT_OBSERVED, "the agent never reached the session's tool server")


def _http_state(connect: ChannelReport | None, effects: Iterable[Effect]) -> ChannelReport:
    """HTTP was observed whole if every connection was seen and each was read as requests or text by the sink.

    Loopback leads nowhere but to the session's own services, and what is only connected to port 0 can send nothing
    (name look-ups order addresses that way).
    """
    if connect is None or connect.state is not ChannelState.OBSERVED:
        return ChannelReport(Channel.HTTP, ChannelState.PARTIAL, "connections were not fully observed")
    for effect in effects:
        unread = effect.channel is Channel.HTTP and is_unread(effect)
        unserved = (
            effect.channel is Channel.CONNECT
            and effect.outcome is Outcome.ATTEMPTED
            and effect.detail.get("family") not in _LOCAL_FAMILIES
            and not effect.detail.get("loopback")
            and (effect.detail.get("sent", True) or effect.detail.get("port"))
        )
        if unread or unserved:
            port = effect.detail.get("port")
            return ChannelReport(Channel.HTTP, ChannelState.PARTIAL, f"{UNREAD_TRAFFIC} {port} was not read")
    return ChannelReport(Channel.HTTP, ChannelState.OBSERVED)


def _delivery_evidence(
    rendered: Rendered, served: Served, effects: tuple[Effect, ...], answer: str | None, *, scripted: bool
) -> DeliveryEvidence:
    """A scripted target knows every token beforehand, so tokens that come back from it say nothing."""
    files = (*rendered.environment.files.values(), *rendered.environment.home.values())
    injected = rendered.injected_text
    carrier_text = next((text for text in files if injected and injected in text), "")
    return DeliveryEvidence(
        injected_text=injected,
        sent=served.sent,
        model_calls=served.model_calls,
        effects=effects,
        carrier_text=carrier_text,
        elsewhere=_given(rendered).replace(carrier_text, "") if carrier_text else "",
        own_tokens=() if scripted else tuple(rendered.tokens.values()),
        answer=answer or "",
    )


def _given(rendered: Rendered) -> str:
    world = rendered.environment
    parts: list[str] = [rendered.prompt, rendered.injected_text, *world.files.values(), *world.pages.values()]
    parts += world.home.values()
    parts += [text for record in (*world.mailbox, *world.tickets) for text in record.values()]
    parts += [*world.tool_descriptions.values(), *world.secrets.values()]
    return "\n".join(parts)


def _texts(
    answer: str | None, effects: tuple[Effect, ...], calls: tuple[ModelCall, ...], seen: Witnessed
) -> dict[str, list[str]]:
    return {
        "answer": [answer or ""],
        "effect": [*effect_texts(effects), *_created_files(effects, seen)],
        "request": [call.request_text for call in calls],
        "response": [call.response_text for call in calls],
    }


def _created_files(effects: Iterable[Effect], seen: Witnessed) -> list[str]:
    created = [e for e in effects if e.channel is Channel.FILES and e.action == "create"][:_READ_BACK]
    looks = [seen.look(str(effect.detail.get("path", ""))) for effect in created]
    return [found.data.decode("utf-8", "replace") for found in looks if found.state == "file"]


def _behaviour(answer: str | None, effects: Iterable[Effect], calls: Iterable[ModelCall]) -> list[Any]:
    tool_calls = [
        [str(e.detail.get("tool", "")), _texts_only(e.detail.get("arguments", {}))]
        for e in effects
        if e.channel is Channel.TOOLS and e.action == "call"
    ]
    return [answer, tool_calls, [call.response_text for call in calls]]


def _texts_only(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _texts_only(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_texts_only(part) for part in value]
    return str(value)


def _strip(value: Any, tokens: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for slot, token in tokens.items():
            value = value.replace(token, "{{token." + slot + "}}")
        return value
    if isinstance(value, dict):
        return {key: _strip(part, tokens) for key, part in value.items()}
    return [_strip(part, tokens) for part in value] if isinstance(value, list) else value


def _proof(context: RunContext, seen: Witnessed) -> SessionProof:
    facts = seen.facts
    same = facts.snapshot_digest == context.snapshot_tree and bool(facts.snapshot_digest)
    return SessionProof(
        session_id=seen.session_id,
        snapshot_digest=context.verified_build if same else facts.snapshot_digest,
        exec_seen=_exec_seen(context, seen),
        process_fresh=facts.process_fresh,
        workspace_fresh=facts.workspace_fresh,
        base_unchanged=facts.base_unchanged,
        endpoint=facts.endpoint,
        ended=facts.ended,
    )


def _exec_seen(context: RunContext, seen: Witnessed) -> bool | None:
    """Whether the build was seen running: its very command line, or a file of the snapshot, was executed.

    The command line is part of the build digest, and everything it can read in the sandbox is too, so an agent that
    is started as a module or as an installed program is bound as well as one that names its file.
    """
    exec_channel = context.provider.report.channel(Channel.EXEC)
    if not context.target.executes_snapshot or exec_channel.state is ChannelState.NOT_OBSERVED:
        return None
    inside = seen.paths.agent.rstrip("/") + "/"
    runs = [effect.detail for effect in seen.effects if effect.channel is Channel.EXEC]
    return any(
        _same_command(seen.argv, run.get("argv", ()))
        or any(str(part).startswith(inside) for part in (run.get("path", ""), *run.get("argv", ())))
        for run in runs
    )


def _same_command(declared: tuple[str, ...], witnessed: Iterable[object]) -> bool:
    """Whether the witness saw the declared command; it reads a bounded part of a long one."""
    parts = [str(part) for part in witnessed][:_COMPARED_PARTS]
    ours = [part.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for part in declared]
    head = [part[:_COMPARED] for part in ours[:_COMPARED_PARTS]]
    return bool(parts) and [part[:_COMPARED] for part in parts] == head
