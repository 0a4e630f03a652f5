"""Other builds of the same agent: as it was before, or with a changed helper under an unchanged entry file."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from agent_litmus.app.world import Prepared
from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.manifest import agent_files, compute_build
from agent_litmus.build.snapshot import Snapshot, SnapshotStore
from agent_litmus.drill.bench import Workbench
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import AgentConfig, Config


@dataclass(frozen=True, slots=True)
class OtherBuild:
    """A build that differs by an empty line at the end of some files; it behaves the same."""

    build: AgentBuild
    snapshot: Snapshot
    changed: tuple[str, ...]


def helpers(agent: AgentConfig) -> tuple[str, ...]:
    """Files of the agent that its command does not name."""
    files = [entry.path for entry in agent_files(agent).entries if entry.link is None]
    return tuple(path for path in files if not any(path in part for part in agent.command))


def other_build(config: Config, changed: tuple[str, ...]) -> OtherBuild:
    """The agent with an empty line more at the end of the named files; of all its files where none are named.

    Raises:
        LitmusError: The build or its snapshot cannot be made.
    """
    agent, interpreter = config.agent, inspect_interpreter(config.agent.python)
    entries = [entry for entry in agent_files(agent).entries if entry.link is None]
    names = changed or tuple(entry.path for entry in entries)
    with tempfile.TemporaryDirectory(prefix="litmus-drill-") as place:
        root = Path(place) / "agent"
        for entry in entries:
            target = root / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(agent.root / entry.path, target)
        for name in names:
            with (root / name).open("ab") as file:
                file.write(b"\n")
        moved = replace(agent, root=root)
        build = compute_build(moved, interpreter)
        snapshot = SnapshotStore(config.run.output / ".snapshots").make(moved, build, interpreter)
    return OtherBuild(build, snapshot, names)


def served_instead(bench: Workbench, other: OtherBuild) -> Callable[[Config], Prepared]:
    """Fixed parts that declare the current build and mount the other one."""

    def prepare(config: Config) -> Prepared:
        return replace(bench.first, config=config, provider=bench.provider(other.snapshot))

    return prepare


def honestly(bench: Workbench, other: OtherBuild) -> Callable[[Config], Prepared]:
    """Fixed parts of an honest run of the other build."""
    served = served_instead(bench, other)

    def prepare(config: Config) -> Prepared:
        return replace(
            served(config), build=other.build, snapshot=other.snapshot, verified_build=other.build.digest
        )

    return prepare
