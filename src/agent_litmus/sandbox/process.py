"""The degraded provider for hosts without namespaces: plain processes, contained by nothing.

It runs the agent in a temporary directory with the harness's own rights and compares the workspace before and
after. What it cannot see or enforce it says, and a run under it can never pass.
"""

import asyncio
import tempfile
from pathlib import Path

from agent_litmus.records.effect import ProviderReport
from agent_litmus.sandbox.base import Base, existing
from agent_litmus.sandbox.process_report import process_report
from agent_litmus.sandbox.process_session import ProcessSession
from agent_litmus.sandbox.protocol import RunMounts, SandboxSpec
from agent_litmus.sandbox.state import RunState


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
        self._sessions: set[ProcessSession] = set()

    @property
    def report(self) -> ProviderReport:
        """What this provider observes and enforces: little."""
        return process_report(self.reason)

    async def open(self, spec: SandboxSpec) -> ProcessSession:
        """Make a session's workspace and paths; nothing runs yet.

        Raises:
            LitmusSandboxError: The workspace could not be made.
        """
        session = ProcessSession(
            spec, self._mounts, self._base.verify, Path(tempfile.mkdtemp(dir=self._run.directory))
        )
        self._sessions.add(session)
        try:
            await asyncio.to_thread(session.prepare)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """Close every session and remove the run's state; safe to call twice."""
        while self._sessions:
            await self._sessions.pop().close()
        await asyncio.to_thread(self._run.remove)
