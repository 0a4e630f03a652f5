"""From a played case to its result.

A provider is held to its own word. What it declares ``enforced`` must have held and what it declares ``observed``
must have been seen; what it declares as less is reported as not held or not seen, and where it says so. A case
whose act was not tried is never ok.
"""

from collections.abc import Iterator

from agent_litmus.exam.case import Case, Hold, Sighting
from agent_litmus.exam.result import CaseResult
from agent_litmus.exam.scene import Scene
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState, ContainmentState, ProviderReport
from agent_litmus.records.session import ExitKind

REHEARSED = "only rehearsed"


def state_of(report: ProviderReport, name: str) -> ContainmentState:
    """How firmly a provider says that it holds a property; what it does not name it does not hold."""
    return next((c.state for c in report.containment if c.property == name), ContainmentState.NONE)


def judge(case: Case, scene: Scene, report: ProviderReport, *, rehearsed: bool) -> CaseResult:
    """The result of a case; ``rehearsed``: its act itself was not tried, because the provider does not hold it."""
    untried = _untried(scene)
    if untried:
        return CaseResult(
            case.name, ok=False, contained=False, observed=False, detail=f"the act was not tried: {untried}"
        )
    escapes, ok_held = _judged_holds(case, scene, report)
    unseen, ok_seen = _judged_sightings(case, scene, report)
    if rehearsed:
        escapes.append(f"{REHEARSED}, against a stand-in (declared none: {', '.join(unclaimed(case, report))})")
    return CaseResult(
        name=case.name,
        ok=ok_held and ok_seen,
        contained=not escapes,
        observed=not unseen,
        detail="; ".join(escapes + unseen) or case.title,
    )


def unclaimed(case: Case, report: ProviderReport) -> tuple[str, ...]:
    """What a provider would have to hold for the act itself to be tried, and declares that it does not."""
    return tuple(name for name in case.needs if state_of(report, name) is ContainmentState.NONE)


def held(case: Case, scene: Scene) -> bool:
    """Whether the act was tried and did no harm at all, whatever the provider declares."""
    return not _untried(scene) and not any(hold.broken(scene) for hold in (*case.holds, *EVERYWHERE))


def _untried(scene: Scene) -> str:
    if scene.said:
        return ""
    end = scene.result.exit
    last = scene.result.stderr.decode("utf-8", "backslashreplace").strip().splitlines()[-1:]
    return " ".join([f"{end.kind} {end.code if end.code is not None else ''} {end.why}".strip(), *last])


def _judged_holds(case: Case, scene: Scene, report: ProviderReport) -> tuple[list[str], bool]:
    texts, ok = [], True
    for hold in (*case.holds, *EVERYWHERE):
        broken = hold.broken(scene)
        if broken:
            state = state_of(report, hold.property)
            texts.append(f"not contained: {broken} (declared {state}: {hold.property})")
            ok = ok and state is not ContainmentState.ENFORCED
    return texts, ok


def _judged_sightings(case: Case, scene: Scene, report: ProviderReport) -> tuple[list[str], bool]:
    missed: dict[ChannelReport, list[str]] = {}
    for sighting in (*case.sightings, OWN_START):
        if sighting.missing(scene):
            declared = _weakest(scene.channel(sighting.channel), report.channel(sighting.channel))
            missed.setdefault(declared, []).append(sighting.what)
    texts = [
        f"not seen: {', '.join(what)} ({declared.channel} declared {declared.state}: {declared.why})"
        for declared, what in missed.items()
    ]
    return texts, all(declared.state is not ChannelState.OBSERVED for declared in missed)


def _weakest(session: ChannelReport | None, run: ChannelReport) -> ChannelReport:
    """What a session says of a channel counts where it says less than its provider."""
    if session is None or session.state is ChannelState.OBSERVED:
        return run
    return session


def _everywhere() -> Iterator[Hold]:
    yield Hold("pid", lambda s: f"the stand-in process {s.host.process}" if s.host.process else "")
    yield Hold("filesystem", lambda s: f"files of the host changed: {s.host.files}" if s.host.files else "")
    yield Hold("network", lambda s: f"reached on the host: {', '.join(s.host.reached)}" if s.host.reached else "")
    yield Hold("time", lambda s: f"{len(s.host.alive)} processes outlived the session" if s.host.alive else "")
    yield Hold("filesystem", lambda s: "the base was changed" if s.facts.base_unchanged is False else "")
    yield Hold("filesystem", lambda s: f"left on the host: {', '.join(s.host.left)}" if s.host.left else "")
    yield Hold("filesystem", lambda s: _gives(s, s.secrets.file, "a file of the host was read"))
    yield Hold("environment", lambda s: _gives(s, s.secrets.environment, "the environment of the host was read"))
    yield Hold("filesystem", lambda s: _gives(s, s.secrets.neighbour, "another session's world was read"))
    yield Hold("syscalls", lambda s: "the host's clock was changed" if abs(s.host.clock_shift) > 60 else "")
    yield Hold("time", lambda s: "the harness failed" if s.result.exit.kind is ExitKind.HARNESS_ERROR else "")


def _gives(scene: Scene, secret: str, what: str) -> str:
    return what if secret.encode() in scene.output else ""


EVERYWHERE = tuple(_everywhere())
"""What must hold whatever the agent does."""
OWN_START = Sighting(
    Channel.EXEC, "the agent's own start", lambda e, s: s.token in [str(part) for part in e.detail.get("argv", ())]
)
"""What must be seen of every agent."""
