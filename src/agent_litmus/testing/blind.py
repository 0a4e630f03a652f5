"""A provider that goes around another one and observes nothing: what it gives can never pass."""

from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    Effect,
    ProviderReport,
)
from agent_litmus.sandbox.protocol import (
    CommandResult,
    Launch,
    Listeners,
    Look,
    ProcessResult,
    Provider,
    SandboxPaths,
    SandboxSession,
    SandboxSpec,
    SessionFacts,
)

_WHY = "this provider looks at nothing"
_CHANNELS = tuple(ChannelReport(channel, ChannelState.NOT_OBSERVED, _WHY) for channel in Channel)


class NothingObservedProvider:
    """Runs sessions as another provider does and keeps to itself what that one saw.

    Args:
        inner: The provider that does the work; closed with this one.
    """

    def __init__(self, inner: Provider) -> None:
        self._inner = inner

    @property
    def report(self) -> ProviderReport:
        """Nothing is observed, and nothing is claimed to be held."""
        names = [held.property for held in self._inner.report.containment]
        held = tuple(ContainmentReport(name, ContainmentState.NONE, "not claimed") for name in names)
        return ProviderReport("nothing-observed", "1", _CHANNELS, held)

    async def open(self, spec: SandboxSpec) -> "NothingObservedSession":
        """Make a session of the other provider."""
        return NothingObservedSession(await self._inner.open(spec))

    async def close(self) -> None:
        """Close the other provider."""
        await self._inner.close()


class NothingObservedSession:
    """A session that tells how its agent ended and what it answered, and nothing else."""

    def __init__(self, inner: SandboxSession) -> None:
        self._inner = inner

    @property
    def paths(self) -> SandboxPaths:
        """The other session's."""
        return self._inner.paths

    async def start(self, launch: Launch) -> Listeners:
        """Start the agent; look-ups and requests are caught by nobody."""
        listeners = await self._inner.start(launch)
        if listeners.demand is not None:
            listeners.demand.close()
        for sock in (listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()
        return Listeners(listeners.gateway, listeners.tools)

    async def wait(self) -> ProcessResult:
        """Wait for the agent."""
        return await self._inner.wait()

    async def command(self, argv: tuple[str, ...], timeout: float) -> CommandResult:  # noqa: ARG002, ASYNC109  the protocol's
        """Run nothing."""
        return CommandResult(None, b"", b"", _WHY)

    def effects(self) -> tuple[Effect, ...]:
        """None were seen."""
        return ()

    def look(self, path: str, limit: int = 64 << 20) -> Look:  # noqa: ARG002  the protocol's
        """Nothing can be read."""
        return Look("unreadable")

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:  # noqa: ARG002  the protocol's
        """Nothing can be read."""
        return None

    def facts(self) -> SessionFacts:
        """Nothing was witnessed."""
        return SessionFacts("", process_fresh=None, workspace_fresh=None, base_unchanged=None, channels=_CHANNELS)

    async def close(self) -> None:
        """Close the other session."""
        await self._inner.close()
