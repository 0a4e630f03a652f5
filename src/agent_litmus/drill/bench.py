"""The workbench: what the runs of a drill share, made once, and one run on it."""

import asyncio
from dataclasses import replace
from pathlib import Path

from agent_litmus.app.run import RunOutcome, run_config
from agent_litmus.app.seams import Seams
from agent_litmus.app.world import Prepared, prepare
from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.errors import LitmusConfigError
from agent_litmus.mounts import run_mounts
from agent_litmus.records.config import Config
from agent_litmus.records.report import Report
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Provider
from agent_litmus.sandbox.remove import discard
from agent_litmus.targets.protocol import Target


def drill_config(config: Config, work: Path) -> Config:
    """The configuration of a drill's runs: written below ``work``, remembered by no history, asked for no drill."""
    return replace(
        config,
        run=replace(config.run, output=work),
        gate=replace(config.gate, require_drill=False, max_regression=None),
        history=replace(config.history, enabled=False),
    )


class Workbench:
    """Suite, build and verified snapshot of a configuration, made once; every run gets a provider of its own.

    Args:
        config: The user's configuration.
        work: Directory that runs are written below.
        target: What drives the agent, where it is not the configured command alone.

    Raises:
        LitmusError: The configuration, its suite, build or sandbox cannot be used.
    """

    def __init__(self, config: Config, work: Path, *, target: Target | None = None) -> None:
        if config.agent.remote is not None:
            raise LitmusConfigError(
                f"{config.source}: [agent] url: a drill swaps builds and puts faults into sessions, which "
                "cannot be done behind a URL",
                hint="drill suite and gate with `--quick`, where the suite's oracles stand in for the agent; "
                "`litmus audit` works for remote agents",
                slug="remote-drill",
            )
        self.config = drill_config(config, work)
        self.work = work
        self._interpreter = inspect_interpreter(config.agent.python)
        self.first = prepare(self.config)
        assert self.first.snapshot is not None
        self.snapshot = self.first.snapshot
        if target is not None:
            self.first = replace(self.first, target=target)
        asyncio.run(self.first.provider.close())
        self._provider = self.first.provider.report.name

    def prepare(self, config: Config) -> Prepared:
        """The shared parts with a new provider; it hashes the snapshot again at every mount."""
        return replace(self.first, config=config, provider=self.provider(self.snapshot))

    def provider(self, snapshot: Snapshot) -> Provider:
        """A provider that mounts ``snapshot``, of the kind that was found to work."""
        mounts = run_mounts(self._interpreter, snapshot)
        if self._provider == "bubblewrap":
            return BubblewrapProvider(mounts)
        return ProcessProvider(mounts, reason="as in the drill's first run")

    def run(self, seams: Seams, config: Config | None = None) -> RunOutcome:
        """One whole run of the real pipeline."""
        if seams.prepare is prepare:
            seams = replace(seams, prepare=self.prepare)
        return run_config(config or self.config, seams=seams)

    def report(self, seams: Seams) -> Report:
        """The report of one whole run; nothing of it stays on disk."""
        outcome = self.run(seams)
        forget(outcome)
        return outcome.report


def forget(outcome: RunOutcome) -> None:
    """Remove what a run left; a drill has hundreds."""
    discard(outcome.directory)
