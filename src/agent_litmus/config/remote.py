"""An agent behind a URL in ``litmus.toml``: which keys go together, and the record they make."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from agent_litmus.config.places import expand
from agent_litmus.config.schema import AgentTable
from agent_litmus.located import KeyPath
from agent_litmus.records.config import RemoteConfig
from agent_litmus.records.digest import is_digest

COMMAND_KEYS = ("root", "include", "exclude", "python", "prompt", "env", "system_prompts", "model")
"""Keys that say what a command is made of."""
REMOTE_KEYS = ("digest_url", "digest", "receipt_key_env", "auth_env", "replicas")
"""Keys that mean nothing without ``url``."""


def kind_problems(agent: Any) -> Iterator[tuple[KeyPath, str]]:
    """Keys of an ``[agent]`` table, as it is written, that do not go with the kind of agent."""
    if not isinstance(agent, Mapping):
        return
    if ("command" in agent) == ("url" in agent):
        yield (
            ("agent",),
            "give exactly one of 'command' (an agent that is run here) and 'url' (one that runs elsewhere)",
        )
        return
    remote = "url" in agent
    for name in COMMAND_KEYS if remote else REMOTE_KEYS:
        if name in agent:
            why = "is made of what its endpoint reports" if remote else "is the one that 'command' starts"
            yield (
                ("agent", name),
                f"does not go with {'url' if remote else 'command'!r}: the agent {why}; take it out",
            )


def remote_problems(agent: AgentTable, environment: Mapping[str, str]) -> Iterator[tuple[KeyPath, str]]:
    """Problems of an agent behind a URL."""
    for name, text in (("url", agent.url), ("digest_url", agent.digest_url)):
        if text is not None:
            yield from ((("agent", name), problem) for problem in _url_problems(text, environment))
    if agent.digest is not None and not is_digest(agent.digest):
        yield (
            ("agent", "digest"),
            "is no build digest: write sha256: and 64 hexadecimal digits, as `litmus check` prints",
        )


def _url_problems(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    try:
        url: SplitResult = urlsplit(expand(text, environment))
        host, _ = url.hostname, url.port
    except ValueError as error:
        yield str(error)
        return
    if url.scheme not in {"http", "https"} or not host or any(map(str.isspace, url.geturl())):
        yield "must start with http:// or https:// and name a host"
    if url.username or url.password:
        yield "must hold no user or password; name the variable that holds them under 'auth_env'"
    if url.fragment:
        yield "must not end with a #fragment, which is never sent"


def host_problems(tools_host: str) -> Iterator[tuple[KeyPath, str]]:
    """Problems of ``run.tools_host``."""
    try:
        address = ipaddress.ip_address(tools_host)
    except ValueError:
        if ":" in tools_host:
            yield ("run", "tools_host"), "is no address or name; the port is chosen anew for every session"
        return
    if address.is_unspecified:
        yield ("run", "tools_host"), "means every address; name the one at which the agent reaches this machine"


def remote_config(agent: AgentTable, environment: Mapping[str, str]) -> RemoteConfig | None:
    """The record of a valid table; ``None`` for a command."""
    if agent.url is None:
        return None
    return RemoteConfig(
        url=expand(agent.url, environment),
        digest_url=expand(agent.digest_url or "", environment),
        digest=agent.digest or "",
        receipt_key_env=agent.receipt_key_env,
        auth_env=agent.auth_env,
        replicas=agent.replicas,
    )
