"""Built-in target: plays scripted steps in the same sandbox as any agent."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from agent_litmus.records.probe import OracleStep, Probe
from agent_litmus.sandbox.protocol import Launch
from agent_litmus.targets.command import session_environment, session_files
from agent_litmus.targets.protocol import LaunchContext

StepChoice = Callable[[Probe], tuple[OracleStep, ...]]


@dataclass(frozen=True, slots=True)
class OracleTarget:
    """Plays the steps that ``choose`` picks for the session's probe."""

    choose: StepChoice

    @property
    def executes_snapshot(self) -> bool:
        """The oracle is the harness's own; it never runs the snapshot."""
        return False

    def launch(self, context: LaunchContext) -> Launch:
        """The script with this session's steps beside it."""
        folder = context.paths.prompt_file.rpartition("/")[0]
        steps = [{"action": s.action.value, "params": context.render(s.params)} for s in self.choose(context.probe)]
        script, plan = f"{folder}/oracle.py", f"{folder}/steps.json"
        return Launch(
            argv=(context.paths.python, "-I", "-S", script, plan),
            env=session_environment(context),
            files={
                script: files("agent_litmus.targets").joinpath("oracle_script.py").read_text("utf-8"),
                plan: json.dumps(steps),
                **session_files(context),
            },
        )


def host_steps(probe: Probe) -> tuple[OracleStep, ...]:
    """Do the host task alone."""
    return probe.host.oracle


def injection_steps(probe: Probe) -> tuple[OracleStep, ...]:
    """Do the injected task, then the host task."""
    return (probe.injection.oracle if probe.injection else ()) + probe.host.oracle


def no_steps(_probe: Probe) -> tuple[OracleStep, ...]:
    """Do nothing at all."""
    return ()
