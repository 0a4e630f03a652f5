"""The text of a check: problems with their lines, and what this configuration can prove."""

import os
from collections.abc import Iterator

from agent_litmus.app.check import CheckOutcome, Problem, eligible_counts
from agent_litmus.app.check_remote import remote_barriers, remote_lines
from agent_litmus.app.judge import target_kind
from agent_litmus.app.rejudge import effective_policy
from agent_litmus.build.manifest import agent_files
from agent_litmus.coupling.table import obligation_table
from agent_litmus.formats.columns import columns
from agent_litmus.located import Located, load_yaml
from agent_litmus.records.config import Config
from agent_litmus.records.finding import Obligation
from agent_litmus.records.probe import Condition
from agent_litmus.verdict.policy import unreachable_floors

_LISTED = 12


def located_problems(config: Config, outcome: CheckOutcome) -> tuple[str, ...]:
    """Every problem as ``file:line: $.path: message``: disproved claims, floors and proofs out of reach."""
    located = load_yaml(config.suite)
    found = [located.problem(_path(located, problem), problem.text) for problem in outcome.problems]
    eligible = eligible_counts(outcome.suite, config.run.seeds * config.run.repeats)
    policy = effective_policy(config.gate, direct=_asks_directly(outcome))
    found += [f"{config.source}: $.gate: {text}" for text in unreachable_floors(policy, eligible)]
    for obligation, why in barriers(config, outcome).items():
        found.append(f"{config.source}: a run of this configuration can never PASS: {obligation}: {why}")
    return tuple(dict.fromkeys(found))


def _asks_directly(outcome: CheckOutcome) -> bool:
    return any(probe.condition is Condition.DIRECT for probe in outcome.suite.probes)


def barriers(config: Config, outcome: CheckOutcome) -> dict[Obligation, str]:
    """Obligations that no run of this configuration can discharge, each with the reason."""
    rows = obligation_table((outcome.provider.name,), (target_kind(config),))
    found = {row.obligation: row.why for row in rows if not row.able}
    if config.agent.remote is not None:
        found |= remote_barriers(config.run, outcome.suite)
    if not outcome.suite.tokens:
        found[Obligation.FRESHNESS] = (
            "the suite declares no tokens; add `tokens` and put {{token.x}} into its world"
        )
    if config.agent.sampling == "deterministic":
        if config.run.repeats < 2 and config.run.seeds < 2:
            found[Obligation.REPLICATION] = "a deterministic agent needs two repeats or seeds; set run.repeats = 2"
    elif config.run.seeds < 2:
        found[Obligation.REPLICATION] = "one seed shows no variation; set run.seeds = 2 or more"
    return found


def obligation_lines(config: Config, outcome: CheckOutcome) -> Iterator[str]:
    """Which obligations a run of this configuration can discharge."""
    target = target_kind(config)
    rows = obligation_table((outcome.provider.name,), (target,))
    blocked = barriers(config, outcome)
    under = f" under {outcome.provider.name}" if config.agent.remote is None else ""
    yield f"obligations of a {target} agent{under}, {config.run.seeds} seeds:"
    yield from columns((row.obligation, _ability(row.why, blocked.get(row.obligation))) for row in rows)
    if not rows:
        yield f"  provider {outcome.provider.name} is not built in; its own report decides"


def table_lines() -> Iterator[str]:
    """Every obligation for every kind of agent under every built-in provider."""
    rows = obligation_table()
    yield "what can be proven of which kind of agent under which provider:"
    places = list(dict.fromkeys((row.target, row.provider) for row in rows))
    able = {(row.obligation, row.target, row.provider): row.able for row in rows}
    yield from columns(
        (obligation, ", ".join(f"{t}/{p} {'yes' if able[obligation, t, p] else 'NO'}" for t, p in places))
        for obligation in Obligation
    )


def _ability(why: str, barrier: str | None) -> str:
    return f"CANNOT be proven: {barrier}" if barrier else f"can be proven: {why}"


def agent_lines(config: Config, outcome: CheckOutcome) -> Iterator[str]:
    """The agent's build: its files, and what was left out of it."""
    if config.agent.remote is not None:
        yield f"agent  {config.agent.name}  {outcome.build.digest}  as its endpoint reports"
        yield from columns(remote_lines(config, config.agent.remote))
        return
    selection = agent_files(config.agent)
    yield f"agent  {config.agent.name}  {outcome.build.digest}  {len(outcome.build.components)} components"
    rows = [("files", _some([entry.path for entry in selection.entries]))]
    if selection.denied:
        rows.append(("left out", f"{_some(list(selection.denied))} (names that hold secrets, caches or results)"))
    key = config.agent.model.api_key_env
    if key and not os.environ.get(key):
        rows.append(("note", f"{key} is not set here; `litmus run` will need it"))
    yield from columns(rows)


def _some(names: list[str]) -> str:
    more = f" … and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{len(names)}: {', '.join(names[:_LISTED])}{more}"


def _path(located: Located, problem: Problem) -> tuple[str | int, ...]:
    entries = located.value.get(problem.section, [])
    for index, entry in enumerate(entries):
        if entry.get("id") == problem.id:
            return (problem.section, index)
    return (problem.section,)
