"""Prepares what a run stands on: suite, build, verified snapshot, provider, gateway."""

import os
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from agent_litmus.app.remote import RemoteAgent, ask_remote
from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.manifest import compute_build
from agent_litmus.build.snapshot import Snapshot, SnapshotStore
from agent_litmus.errors import LitmusConfigError
from agent_litmus.mounts import run_mounts
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import Config, ModelConfig
from agent_litmus.records.probe import Plan, Suite
from agent_litmus.run.context import RunContext, uninvited_checks
from agent_litmus.run.sightings import TokenBook
from agent_litmus.sandbox.files import tree_digest
from agent_litmus.sandbox.protocol import Provider
from agent_litmus.sandbox.select import choose_provider
from agent_litmus.services.authority import Authority
from agent_litmus.services.calibration import Calibrator
from agent_litmus.services.gateway import Gateway, upstream_client
from agent_litmus.services.upstream import ManagedUpstream
from agent_litmus.suite.load import load_suite
from agent_litmus.targets.command import CommandTarget
from agent_litmus.targets.http import HttpTarget
from agent_litmus.targets.protocol import Target
from agent_litmus.targets.remote import NAME as REMOTE
from agent_litmus.targets.remote import RemoteProvider

_TEXT_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run's fixed parts."""

    config: Config
    suite: Suite
    build: AgentBuild
    snapshot: Snapshot | None
    """``None``: nothing of the agent is here."""
    verified_build: str
    """The build digest that the stored snapshot proves; empty where there is none."""
    provider: Provider
    target: Target
    remote: RemoteAgent | None = None
    """The agent's endpoint, where it runs elsewhere."""


def prepare(config: Config) -> Prepared:
    """Load the suite, fix the build and its snapshot, choose the provider.

    Who calls it closes the provider, and asks :func:`refuse_unconfined` before anything runs.

    Raises:
        LitmusError: Anything is unusable; nothing has run, and nothing is left.
    """
    suite = load_suite(config.suite)
    if config.agent.remote is not None:
        remote = ask_remote(config.agent.remote)
        provider = RemoteProvider(remote.endpoint, config.run.tools_host)
        return Prepared(
            config, suite, remote.build, None, "", provider, HttpTarget(config.agent.remote.url), remote
        )
    interpreter = inspect_interpreter(config.agent.python)
    build = compute_build(config.agent, interpreter)
    store = SnapshotStore(config.run.output / ".snapshots")
    snapshot = store.make(config.agent, build, interpreter)
    verified = store.verify(snapshot)
    sandbox = choose_provider(config.run.provider, run_mounts(interpreter, snapshot))
    return Prepared(config, suite, build, snapshot, verified, sandbox, CommandTarget(config.agent))


def refuse_unconfined(prepared: Prepared) -> None:
    """Refuse what only a sandbox is trusted with, by what the provider itself reports; ``--unconfined`` allows it.

    Raises:
        LitmusConfigError: There is an upstream key or a destructive injection, and nothing confines the agent.
    """
    if not prepared.config.run.unconfined:
        _refuse_real_key(prepared.config, prepared.provider)
        _refuse_destruction(prepared.suite, prepared.provider)


def _refuse_real_key(config: Config, provider: Provider) -> None:
    """Where the environment is not kept from the agent it could read the harness's."""
    name = provider.report.name
    if config.agent.model.api_key_env and name != REMOTE and not provider.report.enforces("environment"):
        raise LitmusConfigError(
            f"$.agent.model.api_key_env: the {name} provider cannot keep {config.agent.model.api_key_env} from "
            "the agent: it does not enforce an environment of the agent's own",
            hint="make the bubblewrap provider work (`litmus doctor`), or accept the risk with --unconfined",
            slug="unconfined-key",
        )


def _refuse_destruction(suite: Suite, provider: Provider) -> None:
    """Where nothing contains the agent the harm would be real."""
    harmful = sorted({p.injection.id for p in suite.probes if p.injection is not None and p.injection.destructive})
    name = provider.report.name
    if harmful and not provider.report.enforces("filesystem"):
        way = (
            "run the agent as a command"
            if name == REMOTE
            else "make the bubblewrap provider work (`litmus doctor`)"
        )
        raise LitmusConfigError(
            f"{suite.source}: {', '.join(harmful)}: marked destructive, and the {name} provider contains no files",
            hint=f"{way}, or accept the risk with --unconfined",
            slug="unconfined-destruction",
        )


async def run_context(prepared: Prepared, plan: Plan, stack: AsyncExitStack) -> RunContext:
    """What the sessions share; servers started for it are stopped when ``stack`` closes."""
    hidden = prepared.remote.endpoint.hidden if prepared.remote is not None else ()
    upstream = await open_upstream(prepared.config, stack, hidden)
    place = prepared.snapshot.path if prepared.snapshot is not None else None
    return RunContext(
        suite=prepared.suite,
        book=TokenBook.of(plan, prepared.suite.tokens, snapshot_texts(place) if place else ()),
        provider=prepared.provider,
        target=prepared.target,
        gateway=upstream.gateway,
        run=prepared.config.run,
        snapshot_tree=tree_digest(place) if place else "",
        verified_build=prepared.verified_build,
        uninvited=uninvited_checks(prepared.suite),
        declared=CommandTarget(prepared.config.agent) if prepared.target.executes_snapshot else None,
        calibrator=upstream.calibrator,
        authority=Authority(),
    )


@dataclass(frozen=True, slots=True)
class Upstream:
    """The two ways to the model: the agents', and the harness's own past it."""

    gateway: Gateway
    calibrator: Calibrator | None
    """``None`` where there is no model."""


async def open_upstream(config: Config, stack: AsyncExitStack, hidden: tuple[str, ...] = ()) -> Upstream:
    """The ways to the configured upstream; a ``serve`` command is started first. ``hidden`` stands in no record."""
    model = config.agent.model
    url, key = model.base_url, upstream_key(model)
    if model.serve:
        served = await stack.enter_async_context(ManagedUpstream(model, cwd=config.source.parent))
        url, key = served.base_url, served.api_key
    client = await stack.enter_async_context(upstream_client(url, timeout=config.run.timeout))
    gateway = Gateway(url, key, model, client, hidden=hidden)
    if not url:
        return Upstream(gateway, None)
    own = await stack.enter_async_context(upstream_client(url, timeout=config.run.timeout))
    return Upstream(gateway, Calibrator(url, key, model.id, own))


def upstream_key(model: ModelConfig) -> str | None:
    """The upstream key from the harness's environment; ``None`` where the configuration names none.

    Raises:
        LitmusConfigError: The named environment variable is not set or empty.
    """
    if not model.api_key_env:
        return None
    value = os.environ.get(model.api_key_env, "")
    if not value:
        raise LitmusConfigError(
            f"$.agent.model.api_key_env: the environment variable {model.api_key_env} is not set",
            hint=f"export {model.api_key_env} for `litmus run`; it never enters the sandbox",
        )
    return value


def snapshot_texts(root: Path) -> Iterator[str]:
    """The text of the agent's own files: tokens that stand there are given to every session."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _TEXT_LIMIT:
            yield path.read_bytes().decode("utf-8", "replace")
