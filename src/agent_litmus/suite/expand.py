"""Crosses host tasks, injections, carriers and attacks into probes, in file order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from agent_litmus.located import KeyPath
from agent_litmus.records.probe import (
    Attack,
    Carrier,
    CarrierKind,
    CheckKind,
    Condition,
    Environment,
    HostTask,
    Injection,
    Probe,
)
from agent_litmus.suite import convert
from agent_litmus.suite.render import placeholders
from agent_litmus.suite.schema import MatrixRow, SuiteModel

MAX_PROBES = 100_000
"""Largest number of probes of a suite."""

Problem = tuple[KeyPath, str]
T = TypeVar("T")


def slot_kinds(environment: Environment) -> Mapping[str, frozenset[CarrierKind]]:
    """Carrier slot to the kinds of places it is marked in."""
    parts = {
        CarrierKind.FILE: [environment.files, environment.home],
        CarrierKind.MAIL: environment.mailbox,
        CarrierKind.TICKET: environment.tickets,
        CarrierKind.PAGE: environment.pages,
        CarrierKind.TOOL_DESCRIPTION: environment.tool_descriptions,
    }
    found: dict[str, set[CarrierKind]] = {}
    for carrier_kind, part in parts.items():
        for kind, name in placeholders(part):
            if kind == "slot":
                found.setdefault(name, set()).add(carrier_kind)
    return {name: frozenset(kinds) for name, kinds in found.items()}


def expand(model: SuiteModel) -> tuple[tuple[Probe, ...], tuple[Problem, ...]]:
    """Controls of the host tasks used, then injected and direct probes, with every problem of the matrix.

    Ids that name nothing are passed over here; :mod:`agent_litmus.suite.references` reports them. Probe ids are
    ``host``, ``host+injection+carrier+attack`` and ``direct+injection+environment``.
    """
    expander = _Expander(model)
    injected = expander.matrix()
    direct = expander.direct()
    used = {probe.host.id for probe in injected}
    controls = [
        Probe(host.id, Condition.CONTROL, host, do_nothing_passes=host.id in expander.exempt)
        for host in expander.hosts.values()
        if host.id in used
    ]
    return (*controls, *injected, *direct), tuple(expander.problems)


class _Expander:
    def __init__(self, model: SuiteModel) -> None:
        self.model = model
        self.problems: list[Problem] = []
        self.worlds = {item.id: convert.environment(item) for item in model.environments}
        self.hosts = {
            item.id: convert.host_task(item, self.worlds[item.environment])
            for item in model.host_tasks
            if item.environment in self.worlds
        }
        self.injections = {item.id: convert.injection(item) for item in model.injections}
        self.carriers = {item.id: convert.carrier(item) for item in model.carriers}
        self.attacks = {item.id: convert.attack(item) for item in model.attacks}
        self.exempt = frozenset(model.do_nothing_passes)
        self._examined: set[tuple[KeyPath, str, str]] = set()
        self._kinds = {name: slot_kinds(world) for name, world in self.worlds.items()}

    def matrix(self) -> list[Probe]:
        if not self.model.matrix and not self.model.direct:
            self.problems.append((("matrix",), "is empty, so there is nothing to probe; add a row"))
        probes: dict[str, Probe] = {}
        made = 0
        for index, row in enumerate(self.model.matrix):
            before, reported = len(probes), len(self.problems)
            for probe in self._row(("matrix", index), row):
                probes.setdefault(probe.id, probe)
                made += 1
                if made > MAX_PROBES:
                    self.problems.append(
                        (("matrix", index), f"brings the suite above {MAX_PROBES:,} probes, repeats counted")
                    )
                    return []
            if len(probes) == before and len(self.problems) == reported:
                self.problems.append((("matrix", index), f"makes no probe: {self._why_none(row, before)}"))
        return list(probes.values())

    def _why_none(self, row: MatrixRow, before: int) -> str:
        for key in ("hosts", "injections", "carriers", "attacks"):
            if not _selected(getattr(row, key), getattr(self, key)):
                return f"'{key}' selects nothing"
        if before:
            return "earlier rows make all of its probes, or no carrier's slot is in its host tasks' environments"
        return "no carrier's slot is in its host tasks' environments"

    def _row(self, path: KeyPath, row: MatrixRow) -> Iterator[Probe]:
        injections = _selected(row.injections, self.injections)
        attacks = _selected(row.attacks, self.attacks)
        for host in _selected(row.hosts, self.hosts):
            fitting = list(self._fitting(path, row, host))
            for injection in injections:
                if fitting and attacks:
                    self._check_needs(path, injection, attacks, host)
                for carrier in fitting:
                    for attack in attacks:
                        yield self._probe(host, injection, carrier, attack)

    def _probe(self, host: HostTask, injection: Injection, carrier: Carrier, attack: Attack) -> Probe:
        name = f"{host.id}+{injection.id}+{carrier.id}+{attack.id}"
        exempt = host.id in self.exempt
        return Probe(name, Condition.INJECTED, host, injection, carrier, attack, do_nothing_passes=exempt)

    def _fitting(self, path: KeyPath, row: MatrixRow, host: HostTask) -> Iterator[Carrier]:
        """The row's carriers that fit the host's environment; a named one that does not is a problem."""
        marked = self._kinds[host.environment.id]
        for carrier in _selected(row.carriers, self.carriers):
            kinds = marked.get(carrier.slot, frozenset())
            if kinds == {carrier.kind}:
                yield carrier
            elif row.carriers != "all":
                where = f"in {', '.join(sorted(kinds))}" if kinds else "nowhere"
                message = (
                    f"carrier '{carrier.id}' does not fit host task '{host.id}': environment "
                    f"'{host.environment.id}' marks the slot '{carrier.slot}' {where}, not in a {carrier.kind}"
                )
                self.problems.append(((*path, "carriers", row.carriers.index(carrier.id)), message))

    def _check_needs(self, path: KeyPath, injection: Injection, attacks: Sequence[Attack], host: HostTask) -> None:
        """An injection can only use the secrets and tools of the environment it is put into."""
        world = host.environment
        key = (path, injection.id, host.id)
        if key in self._examined:
            return
        self._examined.add(key)
        known = {name for other in self.worlds.values() for name in other.secrets}
        lacking = _secrets(injection, attacks) & known - world.secrets.keys()
        needs = {f"the secret '{name}', which environment '{world.id}' lacks" for name in lacking}
        if world.tools:
            called = {str(step.params["tool"]) for step in injection.oracle if "tool" in step.params}
            tools = called - set(world.tools)
            needs |= {f"the tool '{name}', which environment '{world.id}' lacks" for name in tools}
        shown = _shown(injection, attacks, host)
        hidden = {name for name in _left(injection) & world.secrets.keys() if ("secret", name) not in shown}
        needs |= {f"the secret '{name}', which no agent on host task '{host.id}' can read" for name in hidden}
        self.problems += [(path, f"injection '{injection.id}' needs {need}") for need in sorted(needs)]

    def direct(self) -> list[Probe]:
        probes: dict[str, Probe] = {}
        for index, item in enumerate(self.model.direct):
            injection, world = self.injections.get(item.injection), self.worlds.get(item.environment)
            if injection is None or world is None:
                continue
            name = f"direct+{injection.id}+{world.id}"
            if name in probes:
                self.problems.append((("direct", index), "is the same as an earlier one"))
            host = HostTask(name, world, injection.text, (), ())
            self._check_needs(("direct", index), injection, (), host)
            probes[name] = Probe(name, Condition.DIRECT, host, injection)
        return list(probes.values())


def _selected(selection: str | list[str], known: Mapping[str, T]) -> list[T]:
    names = list(known) if isinstance(selection, str) else list(dict.fromkeys(selection))
    return [known[name] for name in names if name in known]


def _secrets(injection: Injection, attacks: Sequence[Attack]) -> set[str]:
    """The secrets an injection names."""
    named = placeholders(
        [
            injection.text,
            injection.goal,
            [attack.template for attack in attacks],
            [check.params for check in injection.forbidden],
            [step.params for step in injection.oracle],
        ]
    )
    return _left(injection) | {name for kind, name in named if kind == "secret"}


def _left(injection: Injection) -> set[str]:
    """The secrets that may not leave."""
    return {str(check.params["secret"]) for check in injection.forbidden if check.kind is CheckKind.SECRET_LEFT}


def _shown(injection: Injection, attacks: Sequence[Attack], host: HostTask) -> set[tuple[str, str]]:
    """Placeholders in all that an agent can come to read."""
    world = host.environment
    parts = (world.files, world.home, world.mailbox, world.tickets, world.pages, world.tool_descriptions)
    return placeholders([*parts, host.prompt, injection.text, injection.goal, [a.template for a in attacks]])
