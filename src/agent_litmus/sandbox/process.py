"""The degraded provider for hosts without namespaces: plain processes, contained by nothing.

It runs the agent in a temporary directory with the harness's own rights and compares the workspace before and
after. What it cannot see or enforce it says, and a run under it can never pass.
"""

import tempfile
from pathlib import Path

from agent_litmus.finish import Once, in_thread
from agent_litmus.records.effect import ProviderReport
from agent_litmus.sandbox.base import Base, existing
from agent_litmus.sandbox.process_report import process_report
from agent_litmus.sandbox.process_session import ProcessSession
from agent_litmus.sandbox.protocol import RunMounts, SandboxSpec
from agent_litmus.sandbox.remove import discard
from agent_litmus.sandbox.sessions import Sessions
from agent_litmus.sandbox.state import RunState, temporary_files


class ProcessProvider:
    """Makes uncontained sessions.

    Args:
        mounts: What every session may read; used at the places where it lies.
        base: Directory for temporary state; ``None``: the system's.
        reason: Why no better provider is used, for the report.

    Raises:
        LitmusSandboxError: A directory is missing.
    """

    def __init__(self, mounts: RunMounts, *, base: Path | None = None, reason: str = "") -> None:
        self._mounts = existing(mounts)
        self.reason = reason
        self._base = Base(mounts.snapshot)
        self._run = RunState(base)
        self._sessions: Sessions[ProcessSession] = Sessions()
        self._closing = Once(self._close)

    @property
    def report(self) -> ProviderReport:
        """What this provider observes and enforces: little."""
        return process_report(self.reason)

    async def open(self, spec: SandboxSpec) -> ProcessSession:
        """Make a session's workspace and paths; nothing runs yet.

        Raises:
            LitmusSandboxError: The workspace could not be made, or the provider was closed.
        """
        return await self._sessions.open(self._open(spec))

    async def _open(self, spec: SandboxSpec) -> ProcessSession:
        with temporary_files(self._run.directory):
            directory = Path(tempfile.mkdtemp(dir=self._run.directory))
        try:
            session = ProcessSession(spec, self._mounts, self._base.verify, directory)
        except BaseException:
            discard(directory)
            raise
        session.on_close = lambda: self._sessions.forget(session)
        try:
            with temporary_files(self._run.directory):
                await in_thread(session.prepare)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """Close every session, those being opened included, and remove the run's state.

        Safe to call twice, also at once; when it is cancelled it closes all the same before it says so.
        """
        await self._closing()

    async def _close(self) -> None:
        errors = await self._sessions.close()
        await in_thread(self._run.remove)
        if errors:
            raise errors[0]
