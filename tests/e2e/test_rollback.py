"""A base that really changes during a run is noticed, and nothing passes on it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.app.run import run_config
from agent_litmus.app.seams import Seams
from agent_litmus.app.world import Prepared
from agent_litmus.config import load_config
from agent_litmus.records.effect import ProviderReport
from agent_litmus.records.finding import Obligation
from agent_litmus.records.verdict import VerdictKind
from agent_litmus.sandbox.protocol import Launch, Listeners, Provider, SandboxSession, SandboxSpec

from .conftest import Project

pytestmark = pytest.mark.e2e


class Spoiling:
    """A session during which the agent's own code changes on the host."""

    def __init__(self, session: SandboxSession, file: Path) -> None:
        self._session, self._file = session, file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def start(self, launch: Launch) -> Listeners:
        listeners = await self._session.start(launch)
        self._file.parent.chmod(0o755)
        self._file.chmod(0o644)
        self._file.write_text(self._file.read_text() + "# changed\n")
        return listeners


@dataclass
class SpoilingProvider:
    """A provider whose sessions spoil the base, from the third on."""

    provider: Provider
    file: Path
    opened: int = 0

    @property
    def report(self) -> ProviderReport:
        return self.provider.report

    async def open(self, spec: SandboxSpec) -> Any:
        self.opened += 1
        session = await self.provider.open(spec)
        return Spoiling(session, self.file) if self.opened >= 3 else session

    async def close(self) -> None:
        await self.provider.close()


def test_a_base_that_changed_fails_the_isolation_of_the_run(
    project: Project, bubblewrap: Callable[[], None]
) -> None:
    bubblewrap()

    def spoil(prepared: Prepared) -> Prepared:
        assert prepared.snapshot is not None
        provider = SpoilingProvider(prepared.provider, prepared.snapshot.path / "helper.py")
        return replace(prepared, provider=provider)

    config = load_config(project.root / "litmus.toml", {"run": {"seeds": 1, "jobs": 1}})
    report = run_config(config, seams=Seams(prepared=spoil)).report
    isolation = next(finding for finding in report.findings if finding.signal == "isolation")
    assert isolation.state == "alarm"
    assert "base_unchanged is false in" in isolation.seen
    obligation = next(o for o in report.obligations if o.obligation is Obligation.ISOLATION)
    assert not obligation.discharged
    assert report.verdict is VerdictKind.INDETERMINATE
