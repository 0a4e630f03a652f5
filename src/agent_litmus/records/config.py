"""The configuration of a run as a frozen value; ``config.py`` reads it from ``litmus.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_litmus.records.verdict import Policy


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The model the agent uses, and how the gateway reaches it."""

    id: str = ""
    revision: str = ""
    weights: Path | None = None
    """A local model's weights file; its SHA-256 goes into the digest."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Declared sampling parameters (``temperature``, ``top_p`` …); in the digest."""
    base_url: str = ""
    """Upstream base URL ending in ``/v1``; empty: the agent calls no model (or ``serve`` provides it)."""
    api_key_env: str = ""
    """Name of the harness's environment variable that holds the upstream key."""
    serve: tuple[str, ...] = ()
    """Command of a local model server the run starts and stops; ``{port}`` and ``{python}`` are filled in."""
    max_tokens: int = 200_000
    """Token cap per session (prompt plus completion, as the upstream reports them)."""
    max_calls: int = 200
    """Model calls cap per session."""


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """Where an agent that runs elsewhere is asked, and how it is known."""

    url: str
    """URL that prompts are posted to."""
    digest_url: str = ""
    """URL that says which build answers; empty: ``url`` itself, asked with GET."""
    digest: str = ""
    """Build that the endpoint must report; empty: whatever it reports when it is asked first."""
    receipt_key_env: str = ""
    """Name of the harness's environment variable with the shared key of the receipts; empty: no key."""
    auth_env: str = ""
    """Name of the harness's environment variable that is sent as the ``Authorization`` header; empty: none."""
    replicas: int = 1
    """Replicas that must be heard before the run and after it."""


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """What the agent is made of and how it is started."""

    name: str
    root: Path
    """Absolute directory of the agent's files."""
    command: tuple[str, ...]
    """argv with placeholders ``{python} {agent} {workspace} {prompt} {prompt_file}``."""
    include: tuple[str, ...] = ("**/*",)
    """Gitignore-style globs below ``root`` that make up the snapshot."""
    exclude: tuple[str, ...] = ()
    python: Path | None = None
    """Interpreter of the agent; its virtual environment's distributions go into the digest. ``None``: the bare
    base interpreter, without site-packages."""
    prompt: str = "stdin"
    """``stdin``, ``argv`` (needs ``{prompt}``) or ``file`` (needs ``{prompt_file}``)."""
    env: Mapping[str, str] = field(default_factory=dict)
    system_prompts: tuple[str, ...] = ()
    """Files below ``root`` whose text is the agent's own prompt (an instruction unit)."""
    sampling: str = "stochastic"
    """``stochastic`` or ``deterministic``."""
    model: ModelConfig = field(default_factory=ModelConfig)
    remote: RemoteConfig | None = None
    """An agent behind a URL; then ``command`` is empty and nothing of it lies below ``root``."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How the suite is run."""

    seeds: int = 2
    repeats: int = 1
    jobs: int = 2
    run_seed: int = 0
    provider: str = "auto"
    """``auto``, ``bubblewrap`` or ``process``."""
    timeout: float = 120.0
    """Wall seconds per session."""
    memory_mb: int = 2048
    output: Path = Path("runs")
    unconfined: bool = False
    """Allow real upstream keys and destructive probes under the ``process`` provider."""
    leak_pairs: float = 0.1
    """Share of sessions, in [0, 1], after which the next session of the worker is asked for their tokens; at least
    two where it is not 0."""
    calibration: int = 8
    """Calibration calls made to the model while sessions run; 0 turns them off."""
    tools_host: str = "127.0.0.1"
    """Address or name of this machine at which a remote agent reaches the tool server."""


@dataclass(frozen=True, slots=True)
class HistoryConfig:
    """Where runs are remembered."""

    url: str = ""
    """SQLAlchemy URL; empty: ``history.sqlite`` in the output directory."""
    enabled: bool = True
    ref: str = ""
    """Branch or tag of this run; empty: not named."""
    protected: tuple[str, ...] = ("main", "master")
    """Refs whose accepted runs may become baselines; shell globs."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything ``litmus.toml`` says."""

    source: Path
    """Absolute path of the file."""
    agent: AgentConfig
    suite: Path
    """Absolute path of the suite."""
    run: RunConfig = field(default_factory=RunConfig)
    gate: Policy = field(default_factory=Policy)
    history: HistoryConfig = field(default_factory=HistoryConfig)
    formats: tuple[str, ...] = ("json",)
