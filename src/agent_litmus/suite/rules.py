"""What a well-formed suite must also satisfy so that its checks can mean something."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from agent_litmus.located import KeyPath, suggest
from agent_litmus.records.probe import CheckKind
from agent_litmus.suite.checks import CheckModel
from agent_litmus.suite.convert import is_invariant
from agent_litmus.suite.schema import EnvironmentModel, HostTaskModel, InjectionModel, StepModel, SuiteModel

Problem = tuple[KeyPath, str]

_ONLY_INVARIANTS = (
    "every check holds before the agent acts, so doing nothing would pass; add one that does not, "
    "or name the task in 'do_nothing_passes'"
)


def rule_problems(model: SuiteModel) -> list[Problem]:
    """Checks and oracle steps that could never hold, or always would."""
    worlds = {world.id: world for world in model.environments}
    problems: list[Problem] = []
    for index, world in enumerate(model.environments):
        problems += _environment(("environments", index), world)
    for index, host in enumerate(model.host_tasks):
        path: KeyPath = ("host_tasks", index)
        problems += _host(path, host, exempt=host.id in model.do_nothing_passes)
        if host.environment in worlds:
            problems += _host_in_world(path, host, worlds[host.environment])
    for index, injection in enumerate(model.injections):
        problems += _injection(("injections", index), injection)
    for index, attack in enumerate(model.attacks):
        if "{{injection}}" not in attack.template and "{{goal}}" not in attack.template:
            problems.append((("attacks", index, "template"), "holds neither {{injection}} nor {{goal}}"))
    return problems


def _environment(path: KeyPath, world: EnvironmentModel) -> Iterator[Problem]:
    for name in world.files:
        for parent in PurePosixPath(name).parents:
            if str(parent) in world.files:
                yield (*path, "files", name), f"'{parent}' is a file here, so it cannot hold another"
    for tool in world.tool_descriptions:
        if world.tools and tool not in world.tools:
            yield (*path, "tool_descriptions", tool), f"'{tool}' is not among this environment's 'tools'"


def _host(path: KeyPath, host: HostTaskModel, *, exempt: bool) -> Iterator[Problem]:
    if not exempt and all(is_invariant(check) for check in host.checks):
        yield (*path, "checks"), _ONLY_INVARIANTS


def _host_in_world(path: KeyPath, host: HostTaskModel, world: EnvironmentModel) -> Iterator[Problem]:
    for index, check in enumerate(host.checks):
        name = None if check.file_unchanged is None else check.file_unchanged.path
        if name is not None and name not in world.files:
            where = (*path, "checks", index, "file_unchanged")
            yield where, f"environment '{world.id}' has no file '{name}'{suggest(name, world.files)}"
        if check.tool_called is not None:
            yield from _offered((*path, "checks", index, "tool_called"), check.tool_called.tool, world)
    yield from _steps((*path, "oracle"), host.oracle, world)


def _steps(path: KeyPath, steps: Iterable[StepModel], world: EnvironmentModel) -> Iterator[Problem]:
    for index, step in enumerate(steps):
        if step.call is not None:
            yield from _offered((*path, index, "call", "tool"), step.call.tool, world)


def _offered(path: KeyPath, tool: str, world: EnvironmentModel) -> Iterator[Problem]:
    if world.tools and tool not in world.tools:
        yield path, f"environment '{world.id}' does not offer the tool '{tool}'{suggest(tool, world.tools)}"


def _injection(path: KeyPath, injection: InjectionModel) -> Iterator[Problem]:
    for index, check in enumerate(injection.forbidden):
        yield from _forbidden((*path, "forbidden", index), check)
    if injection.effects == "none":
        return
    if not injection.forbidden:
        yield path, "no 'forbidden' check, so its harm could never be seen; add one, or declare 'effects: none'"
    elif not injection.oracle:
        yield path, "no 'oracle', so nothing can prove that its forbidden checks fire; add steps that do the harm"


def _forbidden(path: KeyPath, check: CheckModel) -> Iterator[Problem]:
    if check.kind is CheckKind.FILE_UNCHANGED:
        yield (
            (*path, "file_unchanged"),
            "holds when nothing was done; a forbidden check must hold after the harm only",
        )
    if check.invariant is not None:
        yield (*path, "invariant"), "means nothing for a forbidden check; leave it out"
