"""What a well-formed suite must also satisfy so that its checks can mean something."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from agent_litmus.located import KeyPath, suggest
from agent_litmus.records.probe import TokenAlphabet
from agent_litmus.suite.checks import CheckModel, dump
from agent_litmus.suite.convert import environment, is_invariant
from agent_litmus.suite.references import texts
from agent_litmus.suite.render import canaries, placeholders
from agent_litmus.suite.schema import EnvironmentModel, HostTaskModel, InjectionModel, StepModel, SuiteModel
from agent_litmus.suite.tokens import pattern

Problem = tuple[KeyPath, str]

_ONLY_INVARIANTS = (
    "every check holds before the agent acts, so doing nothing would pass; add one that does not, "
    "or name the task in 'do_nothing_passes'"
)
_NO_FORBIDDEN = (
    "no 'forbidden' check, so its harm could never be seen; add one (answer_contains where it shows in words alone)"
)
_IN_WORDS = "is no answer_contains, but 'effects: none' declares that the harm shows in the answer alone"
_NO_ORACLE = "no 'oracle', so nothing can prove that its forbidden checks fire; add steps that do the harm"


def rule_problems(model: SuiteModel) -> list[Problem]:
    """Checks and oracle steps that could never hold, or always would."""
    worlds = {world.id: world for world in model.environments}
    problems: list[Problem] = []
    for index, world in enumerate(model.environments):
        problems += _environment(("environments", index), world)
    for index, host in enumerate(model.host_tasks):
        if host.environment in worlds:
            exempt = host.id in model.do_nothing_passes
            problems += _host(("host_tasks", index), host, worlds[host.environment], exempt=exempt)
    for index, injection in enumerate(model.injections):
        problems += _injection(("injections", index), injection)
    for index, attack in enumerate(model.attacks):
        if "{{injection}}" not in attack.template and "{{goal}}" not in attack.template:
            problems.append((("attacks", index, "template"), "holds neither {{injection}} nor {{goal}}"))
    return [*problems, *_false_tokens(model), *_no_canaries(model)]


def readable(world: Mapping[str, object]) -> Iterator[str]:
    """Every text of an environment, as plain values, that an agent in it can come to read."""
    for part in ("files", "home", "mailbox", "tickets", "pages", "tool_descriptions"):
        yield from (text for _, text in texts(world.get(part), ()))


def _environment(path: KeyPath, world: EnvironmentModel) -> Iterator[Problem]:
    for name in world.files:
        for parent in PurePosixPath(name).parents:
            if str(parent) in world.files:
                yield (*path, "files", name), f"'{parent}' is a file here, so it cannot hold another"
    for tool in world.tool_descriptions:
        if world.tools and tool not in world.tools:
            yield (*path, "tool_descriptions", tool), f"'{tool}' is not among this environment's 'tools'"


def _no_canaries(model: SuiteModel) -> Iterator[Problem]:
    """Checks of reading what nobody is told of."""
    worlds = {world.id: canaries(environment(world)) for world in model.environments}
    lists = [
        (("host_tasks", at, "checks"), host.checks, worlds.get(host.environment, ()))
        for at, host in enumerate(model.host_tasks)
    ]
    everywhere = tuple(path for found in worlds.values() for path in found)
    lists += [
        (("injections", at, "forbidden"), each.forbidden, everywhere) for at, each in enumerate(model.injections)
    ]
    for where, checks, known in lists:
        for index, check in enumerate(checks):
            if check.file_read is not None and check.file_read.path not in known:
                name = check.file_read.path
                why = f"'{name}' is no file that holds a {{{{secret.NAME}}}}{suggest(name, known)}"
                yield (*where, index, "file_read"), why


def _host(path: KeyPath, host: HostTaskModel, world: EnvironmentModel, *, exempt: bool) -> Iterator[Problem]:
    if not exempt and all(is_invariant(check, world.files) for check in host.checks):
        yield (*path, "checks"), _ONLY_INVARIANTS
    known = _knowable(host, world)
    for index, check in enumerate(host.checks):
        yield from _host_check((*path, "checks", index), check, world)
        for kind, name in sorted(placeholders(check.params) - known):
            where = (*path, "checks", index, check.kind.value)
            yield where, f"{{{{{kind}.{name}}}}} stands neither in the prompt nor in what the agent can read"
    for index, step in enumerate(host.oracle):
        yield from _offered((*path, "oracle", index), step, world)


def _knowable(host: HostTaskModel, world: EnvironmentModel) -> set[tuple[str, str]]:
    """The tokens and secrets an agent can learn."""
    known = placeholders([host.text, *readable(dump(world))])
    secrets = [text for name, text in world.secrets.items() if ("secret", name) in known]
    return known | placeholders(secrets)


def _host_check(path: KeyPath, check: CheckModel, world: EnvironmentModel) -> Iterator[Problem]:
    if check.file_unchanged is not None and check.file_unchanged.path not in world.files:
        name = check.file_unchanged.path
        where = (*path, "file_unchanged")
        yield where, f"environment '{world.id}' has no file '{name}'{suggest(name, world.files)}"
    if check.file_exists is not None and check.file_exists.path in world.files and not check.invariant:
        yield (
            (*path, "file_exists"),
            "the file is there from the start; declare 'invariant: true' or use another check",
        )
    if check.tool_called is not None and world.tools and check.tool_called.tool not in world.tools:
        yield (*path, "tool_called"), _no_tool(check.tool_called.tool, world)


def _offered(path: KeyPath, step: StepModel, world: EnvironmentModel) -> Iterator[Problem]:
    if step.call is not None and world.tools and step.call.tool not in world.tools:
        yield (*path, "call", "tool"), _no_tool(step.call.tool, world)


def _no_tool(tool: str, world: EnvironmentModel) -> str:
    return f"environment '{world.id}' does not offer the tool '{tool}'{suggest(tool, world.tools)}"


def _injection(path: KeyPath, injection: InjectionModel) -> Iterator[Problem]:
    for index, check in enumerate(injection.forbidden):
        where = (*path, "forbidden", index)
        if check.file_unchanged is not None:
            message = "holds when nothing was done; a forbidden check must hold after the harm only"
            yield (*where, "file_unchanged"), message
        if check.invariant is not None:
            yield (*where, "invariant"), "means nothing for a forbidden check; leave it out"
        if injection.effects == "none" and check.answer_contains is None:
            yield where, _IN_WORDS
    if not injection.forbidden:
        yield path, _NO_FORBIDDEN
    if injection.forbidden and not injection.oracle:
        yield path, _NO_ORACLE


def _false_tokens(model: SuiteModel) -> Iterator[Problem]:
    """Literal text that a check would take for a token of any session."""
    sections: Iterable[str] = ("environments", "host_tasks", "injections", "attacks")
    document = dump(model)
    for alphabet in sorted(set(model.tokens.values())):
        token = pattern(TokenAlphabet(alphabet))
        for section in sections:
            for path, text in texts(document[section], (section,)):
                found = token.search(text)
                if found:
                    message = (
                        f"'{found[0]}' looks like a token of the alphabet '{alphabet}'; checks would accept it"
                    )
                    yield path, message
