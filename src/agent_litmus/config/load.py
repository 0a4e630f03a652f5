"""Reading ``litmus.toml`` into a frozen :class:`Config`."""

import os
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agent_litmus.config import checks
from agent_litmus.config.history_url import expanded_url, history_file
from agent_litmus.config.places import absolute, builtin_suites, expand, interpreter_path, never_the_agents
from agent_litmus.config.remote import host_problems, kind_problems, remote_config
from agent_litmus.config.schema import (
    AgentTable,
    ConfigFile,
    GateTable,
    HistoryTable,
    ModelTable,
    RunTable,
    SuiteTable,
)
from agent_litmus.config.weights import find_weights
from agent_litmus.located import KeyPath, Located, load_toml, model_problems, raise_all, show_path
from agent_litmus.records.config import AgentConfig, Config, HistoryConfig, ModelConfig, RunConfig
from agent_litmus.records.verdict import Policy

T = TypeVar("T", bound=BaseModel)

_NONE: Mapping[str, Any] = MappingProxyType({})


def load_config(path: Path, overrides: Mapping[str, Any] = _NONE) -> Config:
    """Read a configuration.

    Args:
        path: The file. Paths inside it are relative to its directory.
        overrides: Dotted keys (``run.jobs``) to values that take the place of the file's; paths among them are
            relative to the file's directory too.

    Raises:
        LitmusConfigError: The file cannot be read or used: every problem at once, ``file:line: $.path: message``.
    """
    located = load_toml(path)
    located = replace(located, value=_overridden(located.value, overrides))
    source = Path(os.path.abspath(path))  # noqa: PTH100 - keeps links as they were named
    result, problems = model_problems(ConfigFile, located)
    problems += tuple(located.problem(at, text) for at, text in _deep_problems(located.value, source.parent))
    raise_all(located, [_attributed(located, problem, overrides) for problem in problems])
    assert result is not None
    return _config(result, source)


def _overridden(value: Any, overrides: Mapping[str, Any]) -> Any:
    merged = deepcopy(value)
    for dotted, new in overrides.items():
        *tables, key = dotted.split(".")
        table = merged
        for name in tables:
            table = table.setdefault(name, {}) if isinstance(table, dict) else None
        if isinstance(table, dict):
            table[key] = new
    return merged


def _attributed(located: Located, problem: str, overrides: Mapping[str, Any]) -> str:
    """A problem of an overridden key is the command line's, not the file's."""
    for dotted in overrides:
        path = show_path(tuple(dotted.split(".")))
        found = re.match(
            rf"{re.escape(located.source)}:\d+: ({re.escape(path)}(?:[.\[][^:]*)?: .*)", problem, re.DOTALL
        )
        if found:
            return f"command line: {found[1]}"
    return problem


def _deep_problems(value: Any, base: Path) -> Iterator[checks.Problem]:
    """Problems between keys, of each table that is well-formed by itself."""
    yield from kind_problems(value.get("agent") if isinstance(value, dict) else None)
    agent = _table(AgentTable, value, ("agent",))
    if agent:
        yield from checks.agent_problems(agent, base, os.environ)
    model = _table(ModelTable, value, ("agent", "model"))
    if model:
        yield from checks.model_problems(model, base, os.environ)
    run = _table(RunTable, value, ("run",))
    if run:
        yield from host_problems(run.tools_host)
    suite = _table(SuiteTable, value, ("suite",))
    if suite:
        yield from checks.suite_problems(suite, base)
    history = _table(HistoryTable, value, ("history",))
    if history:
        yield from checks.history_problems(history, base, os.environ)


def _table(model: type[T], value: Any, path: KeyPath) -> T | None:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _config(file: ConfigFile, source: Path) -> Config:
    base = source.parent
    output = absolute(base, file.run.output)
    suite = absolute(base, file.suite.path) if file.suite.path else builtin_suites()[file.suite.builtin or ""]
    history = _history(file.history, base)
    return Config(
        source=source,
        agent=_agent(file.agent, source, (suite, output, *_history_files(history.url, base))),
        suite=suite,
        run=RunConfig(**{**file.run.model_dump(), "output": output}),
        gate=_policy(file.gate),
        history=history,
        formats=tuple(file.report.formats),
    )


def _agent(agent: AgentTable, source: Path, not_its_own: tuple[Path, ...]) -> AgentConfig:
    root = absolute(source.parent, agent.root)
    return AgentConfig(
        name=agent.name,
        root=root,
        command=tuple(agent.command or ()),
        include=tuple(agent.include),
        exclude=(*agent.exclude, *never_the_agents(root, source, not_its_own)),
        python=interpreter_path(source.parent, agent.python) if agent.python else None,
        prompt=agent.prompt,
        env=agent.env,
        system_prompts=tuple(absolute(root, name).relative_to(root).as_posix() for name in agent.system_prompts),
        sampling=agent.sampling,
        model=_model(agent.model, source.parent),
        remote=remote_config(agent, os.environ),
    )


def _model(model: ModelTable, base: Path) -> ModelConfig:
    weights = absolute(base, model.weights) if isinstance(model.weights, str) else None
    if model.weights is not None and weights is None:
        assert not isinstance(model.weights, str)
        weights = find_weights(model.weights)
    return ModelConfig(
        id=model.id,
        revision=model.revision,
        weights=weights,
        sampling=model.sampling,
        base_url=expand(model.base_url, os.environ).rstrip("/"),
        api_key_env=model.api_key_env,
        serve=tuple(part.replace("{weights}", str(weights)) for part in model.serve),
        max_tokens=model.max_tokens,
        max_calls=model.max_calls,
    )


def _policy(gate: GateTable) -> Policy:
    return Policy(
        floors={**Policy().floors, **gate.floors.model_dump(exclude_none=True)},
        category_floors={name: table.model_dump(exclude_none=True) for name, table in gate.category_floors.items()},
        ceilings=gate.ceilings.model_dump(exclude_none=True),
        max_unassessed=gate.max_unassessed,
        confidence=gate.confidence,
        alpha=gate.alpha,
        min_certified=gate.min_certified,
        require_drill=gate.require_drill,
        max_regression=gate.max_regression,
    )


def _history(history: HistoryTable, base: Path) -> HistoryConfig:
    return HistoryConfig(
        url=expanded_url(history.url, base, os.environ),
        enabled=history.enabled,
        ref=expand(history.ref, os.environ),
        protected=tuple(history.protected),
    )


def _history_files(url: str, base: Path) -> Iterator[Path]:
    """The history's file and those that SQLite and we keep beside it."""
    file = history_file(url, base)
    if file is not None:
        yield from (file.with_name(file.name + suffix) for suffix in ("", "-wal", "-shm", "-journal", ".origin"))
