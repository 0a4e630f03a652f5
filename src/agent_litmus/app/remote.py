"""An agent behind a URL: which build answers there, and what stands in for it where something must be run here."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import anyio

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.manifest import compute_build
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import AgentConfig, Config, RemoteConfig
from agent_litmus.records.digest import is_digest
from agent_litmus.records.session import EndpointReceipt, SessionRecord
from agent_litmus.targets.endpoint import Endpoint, open_endpoint


@dataclass(frozen=True, slots=True)
class RemoteAgent:
    """An endpoint that was asked which build it is."""

    endpoint: Endpoint
    asked: tuple[EndpointReceipt, ...]
    """What every replica said, before the first session."""

    @property
    def build(self) -> AgentBuild:
        """The build, as far as it is known: by its digest, without components."""
        return AgentBuild(self.asked[0].digest, {})

    async def ask_again(self, records: Iterable[SessionRecord]) -> tuple[EndpointReceipt, ...]:
        """What the endpoint says after the sessions; every replica that answered in one must be heard."""
        met = {r.replica for s in records if s.proof is not None for r in s.proof.endpoint}
        wanted = met | {receipt.replica for receipt in self.asked}
        least = self.endpoint.config.replicas
        return await anyio.to_thread.run_sync(partial(self.endpoint.ask, least=least, wanted=wanted))


def ask_remote(config: RemoteConfig) -> RemoteAgent:
    """Ask the endpoint which build it is.

    Raises:
        LitmusConfigError: A secret is missing, it does not answer, its receipt is wrong, its replicas are not
            one build, or not the build that is pinned.
    """
    endpoint = open_endpoint(config, os.environ)
    asked = endpoint.ask(least=config.replicas)
    where = shown_url(config.digest_url or config.url)
    for receipt in asked:
        why = receipt.why or ("" if is_digest(receipt.digest) else f"{receipt.digest[:80]!a} is no build digest")
        if why:
            raise LitmusConfigError(
                f"{where}: the agent's endpoint does not say which build it is: {why}",
                hint="answer GET with status 200 and the headers that agent_litmus.receipts.receipt_headers makes, "
                "or name the URL that does under [agent] digest_url (docs/reference/remote.md)",
                slug="endpoint",
            )
    _require_one_build(config, asked, where)
    return RemoteAgent(endpoint, asked)


def _require_one_build(config: RemoteConfig, asked: tuple[EndpointReceipt, ...], where: str) -> None:
    builds = sorted({receipt.digest for receipt in asked})
    if len(builds) > 1:
        raise LitmusConfigError(
            f"{where}: the agent's replicas are not one build: {', '.join(builds)}",
            hint="finish the deployment, then run again",
            slug="another-build",
        )
    heard = {receipt.replica for receipt in asked}
    if len(heard) < config.replicas:
        raise LitmusConfigError(
            f"{where}: {len(heard)} of {config.replicas} replicas reported their build: {sorted(heard)!a}",
            hint="let every replica name itself (receipt_headers(…, replica=…)), or correct [agent] replicas",
            slug="endpoint",
        )
    if config.digest and config.digest != builds[0]:
        raise LitmusConfigError(
            f"{where}: the agent's endpoint reports build {builds[0]}, not {config.digest} as [agent] digest pins",
            hint="deploy the build that was meant, or correct the digest",
            slug="another-build",
        )


def agent_build(agent: AgentConfig) -> AgentBuild:
    """The build that the agent is now: computed from its files, or asked of its endpoint.

    Raises:
        LitmusConfigError: It cannot be known.
    """
    if agent.remote is not None:
        return ask_remote(agent.remote).build
    return compute_build(agent, inspect_interpreter(agent.python))


@contextmanager
def runnable(config: Config) -> Iterator[Config]:
    """The configuration with an agent that can be run here; for a remote one, an empty one takes its place."""
    if config.agent.remote is None:
        yield config
        return
    with TemporaryDirectory(prefix="litmus-") as name:
        root = Path(name) / "agent"
        root.mkdir()
        (root / "README").write_text("Stands in for an agent that runs elsewhere.\n")
        agent = AgentConfig(config.agent.name, root, ("true",))
        yield replace(config, agent=agent, run=replace(config.run, output=Path(name)))


def shown_url(url: str) -> str:
    """A URL without its query, which may hold what the environment put there."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
