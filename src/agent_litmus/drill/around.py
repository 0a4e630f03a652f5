"""Parts that stand in front of real ones: what they do not change is the real part's own."""

import asyncio
import random
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agent_litmus.records.probe import Condition, TokenAlphabet
from agent_litmus.run.context import RunContext
from agent_litmus.sandbox.protocol import Launch, Listeners, ProcessResult, Provider, SandboxSession, SandboxSpec
from agent_litmus.services.gateway import Gateway
from agent_litmus.suite.tokens import pattern
from agent_litmus.targets.protocol import LaunchContext, Target


@dataclass(frozen=True, slots=True)
class Spot:
    """What a careless cache takes for the whole identity of a session: the probe, not its tokens."""

    probe: str
    condition: Condition
    prompt: str
    """The prompt with tokens left out; a question that is not the probe's own is another spot."""


@dataclass(slots=True)
class Touch:
    """Which sessions a fault really changed, and the dice that chose them."""

    share: float = 1.0
    """Share of the sessions, in (0, 1], that the fault is tried on."""
    rng: random.Random = field(default_factory=random.SystemRandom)
    sessions: set[str] = field(default_factory=set)
    """Ids of the sessions, or keys of the episodes, that were changed."""
    _drawn: dict[str, bool] = field(default_factory=dict)

    def chosen(self, session: str) -> bool:
        """Whether the fault is tried on a session; asked twice, it answers the same."""
        if session not in self._drawn:
            self._drawn[session] = self.rng.random() < self.share
        return self._drawn[session]

    def mark(self, session: str) -> None:
        """The session was changed."""
        self.sessions.add(session)


class Around:
    """Stands in front of a part; what it does not define is the part's own."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Tap:
    """Stands at the seams between the sessions' parts; every method is the honest one until it is overridden.

    One object serves one run. Sessions are told apart by their ids; sessions of one worker by their task.
    """

    def __init__(self, touch: Touch | None = None) -> None:
        self.touch = touch or Touch()
        self.spots: dict[str, tuple[Spot, int]] = {}
        """Session id to the spot it is at and its seed; known from the launch on."""

    def context(self, context: RunContext) -> RunContext:
        """The context with this tap in front of provider, target and gateway."""
        return replace(
            context,
            provider=cast("Provider", _Provider(context.provider, self)),
            target=cast("Target", _Target(context.target, self)),
            gateway=cast("Gateway", _Gateway(context.gateway, self)),
        )

    def spec(self, spec: SandboxSpec) -> SandboxSpec:
        """What a session is opened with."""
        return spec

    def launch_context(self, context: LaunchContext) -> LaunchContext:
        """What the target is told."""
        return context

    def launch(self, context: LaunchContext, launch: Launch) -> Launch:  # noqa: ARG002 - for those who override it
        """How the agent is started."""
        return launch

    async def listeners(self, session_id: str, listeners: Listeners) -> Listeners:  # noqa: ARG002 - as above
        """The sockets that the harness serves on."""
        return listeners

    async def result(self, session_id: str, result: ProcessResult) -> ProcessResult:  # noqa: ARG002 - as above
        """What the harness takes for the agent's end."""
        return result

    async def closing(self, session_id: str, session: SandboxSession) -> None:
        """A session is about to be removed."""

    def gateway(self, session_id: str, gateway: Gateway) -> Gateway:  # noqa: ARG002 - as above
        """The gateway of one session."""
        return gateway


def worker() -> int:
    """Which worker of the run this is: its sessions follow each other."""
    return id(asyncio.current_task())


class _Provider(Around):
    def __init__(self, inner: Provider, tap: Tap) -> None:
        super().__init__(inner)
        self._tap = tap

    async def open(self, spec: SandboxSpec) -> Any:
        changed = self._tap.spec(spec)
        return _Session(await self._inner.open(changed), self._tap, spec.session_id)


class _Session(Around):
    def __init__(self, inner: SandboxSession, tap: Tap, session_id: str) -> None:
        super().__init__(inner)
        self._tap, self._id = tap, session_id

    async def start(self, launch: Launch) -> Listeners:
        return await self._tap.listeners(self._id, await self._inner.start(launch))

    async def wait(self) -> ProcessResult:
        return await self._tap.result(self._id, await self._inner.wait())

    async def close(self) -> None:
        await self._tap.closing(self._id, self._inner)
        await self._inner.close()


class _Target(Around):
    def __init__(self, inner: Target, tap: Tap) -> None:
        super().__init__(inner)
        self._tap = tap

    def launch(self, context: LaunchContext) -> Launch:
        prompt = without_tokens(context.prompt)
        spot = Spot(context.probe.id, context.probe.condition, prompt)
        self._tap.spots[context.session_id] = (spot, context.seed)
        return self._tap.launch(context, self._inner.launch(self._tap.launch_context(context)))


class _Gateway(Around):
    def __init__(self, inner: Gateway, tap: Tap) -> None:
        super().__init__(inner)
        self._tap = tap

    def session(self, session_id: str, **how: Any) -> Any:
        return self._tap.gateway(session_id, self._inner).session(session_id, **how)


def without_tokens(text: str) -> str:
    """The text with everything that looks like a session token left out."""
    for alphabet in TokenAlphabet:
        text = pattern(alphabet).sub("*", text)
    return text
