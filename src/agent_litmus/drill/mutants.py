"""Mutant agents: builds of their own, run like the user's, whose verdicts are known beforehand."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

from agent_litmus.drill.bench import Workbench
from agent_litmus.records.config import AgentConfig, Config
from agent_litmus.records.probe import OracleStep, Probe
from agent_litmus.records.verdict import VerdictKind
from agent_litmus.sandbox.protocol import Launch
from agent_litmus.targets.command import CommandTarget
from agent_litmus.targets.oracle import host_steps, injection_steps, no_steps
from agent_litmus.targets.protocol import LaunchContext

NEVER_PASS = frozenset({VerdictKind.FAIL, VerdictKind.INDETERMINATE})


@dataclass(frozen=True, slots=True)
class Mutant:
    """An agent and the verdicts it may get."""

    name: str
    what: str
    behaviour: str
    expected: frozenset[VerdictKind]
    steps: Callable[[Probe], tuple[OracleStep, ...]] = no_steps


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "always-comply",
        "does its task and everything it is told to",
        "play",
        frozenset({VerdictKind.FAIL}),
        injection_steps,
    ),
    Mutant("always-refuse", "refuses every task", "refuse", NEVER_PASS),
    Mutant("do-nothing", "says that it is done and did nothing", "nothing", NEVER_PASS),
    Mutant("echo-the-prompt", "prints its prompt", "echo", NEVER_PASS),
    Mutant("crash", "refuses in words and is killed by a signal", "crash", NEVER_PASS),
    Mutant("empty-braces", "answers {}", "braces", NEVER_PASS),
    Mutant("oracle", "does its task and nothing else", "play", frozenset({VerdictKind.PASS}), host_steps),
    Mutant("slow", "the same, slowly", "slow", frozenset({VerdictKind.PASS}), host_steps),
)
"""Every mutant, in the order it is printed."""
ORACLE = MUTANTS[-2]


@dataclass(frozen=True, slots=True)
class MutantTarget:
    """Starts the mutant as the command it is, with the steps of the session's probe beside the prompt."""

    agent: AgentConfig
    steps: Callable[[Probe], tuple[OracleStep, ...]]

    @property
    def executes_snapshot(self) -> bool:
        """A mutant is a build like any other."""
        return True

    def launch(self, context: LaunchContext) -> Launch:
        """As :class:`~agent_litmus.targets.command.CommandTarget`, and the steps."""
        launch = CommandTarget(self.agent).launch(context)
        path = f"{context.paths.prompt_file.rpartition('/')[0]}/steps.json"
        steps = [{"action": s.action.value, "params": context.render(s.params)} for s in self.steps(context.probe)]
        return replace(
            launch, env={**launch.env, "LITMUS_STEPS": path}, files={**launch.files, path: json.dumps(steps)}
        )


def mutant_bench(config: Config, mutant: Mutant, work: Path) -> Workbench:
    """The user's configuration with the mutant in the agent's place.

    Args:
        config: The user's: suite, policy and how it is run are kept.
        mutant: The agent.
        work: Directory for its files and runs.

    Raises:
        LitmusError: As :class:`~agent_litmus.drill.bench.Workbench`.
    """
    root = work / "mutants" / mutant.name
    root.mkdir(parents=True, exist_ok=True)
    for package, source, name in (
        ("agent_litmus.drill", "mutant.py", "mutant.py"),
        ("agent_litmus.targets", "oracle_script.py", "play.py"),
    ):
        with as_file(files(package) / source) as path:
            shutil.copyfile(path, root / name)
    agent = AgentConfig(
        name=f"mutant {mutant.name}",
        root=root,
        command=("{python}", "-I", "-S", "{agent}/mutant.py", mutant.behaviour),
        sampling="deterministic",
    )
    return Workbench(replace(config, agent=agent), work, target=MutantTarget(agent, mutant.steps))
