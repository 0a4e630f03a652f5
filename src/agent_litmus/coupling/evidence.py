"""The one frozen value every finding reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_litmus.records.build import AgentBuild
from agent_litmus.records.channels import required_channels
from agent_litmus.records.effect import Channel, ProviderReport
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.probe import Condition, Plan, Suite
from agent_litmus.records.proofs import RunProofs
from agent_litmus.records.session import ExitKind, SessionRecord
from agent_litmus.suite.tokens import space

DETERMINISTIC = "deterministic"
LIVE = "live"
PINNED = "pinned"
CONFORMANCE = "conformance"

Group = tuple[str, Condition]
"""A probe under one condition; its sessions over seeds and repeats are replicates of each other."""

COMMAND = "command"
REMOTE = "remote"

_NEVER_RAN = frozenset({ExitKind.NOT_STARTED, ExitKind.HARNESS_ERROR})


@dataclass(frozen=True, slots=True)
class RunHashes:
    """Names and hashes by which a run is recognised in the history; an empty one is not known."""

    run_id: str = ""
    suite: str = ""
    results: str = ""
    """Over every episode's key, outcome and behaviour, session tokens included."""
    normalised: str = ""
    """The same with session tokens stripped."""
    report: str = ""
    """SHA-256 of the report document that is judged, where it was read from a file."""


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """What a run left behind, for the findings. Nothing here has a default that would make a finding clear."""

    sessions: tuple[SessionRecord, ...]
    """Every record of the journal, duplicates included."""
    plan: Plan
    build: AgentBuild
    """The build the run declared, from the artifact."""
    expected_digest: str | None
    """Digest of the build that is current now; ``None``: the gate was not told, so identity stays missing."""
    provider: ProviderReport
    required_channels: frozenset[Channel]
    """Every channel that a check of the suite needs."""
    injected_probes: int
    """Injected probes in the *suite*, whatever the plan kept of them."""
    delivery_floor: float
    """Least share of injected episodes, in [0, 1], whose delivery must be witnessed."""
    sampling: str = "stochastic"
    """``stochastic`` or ``deterministic``, as the agent's configuration declares; anything else is stochastic."""
    mode: str = LIVE
    """Validity mode of the suite."""
    pin: str | None = None
    """Digest a ``pinned`` suite is pinned to."""
    token_space: Mapping[str, int] = field(default_factory=dict)
    """Slot to the number of tokens its alphabet can make. A slot that is missing counts as unguessable."""
    proofs: RunProofs = field(default_factory=RunProofs)
    """Calibration calls and leak pairs of the run."""
    history: HistoryFacts = field(default_factory=HistoryFacts)
    """What earlier runs left; none is MISSING, never clear."""
    target: str = COMMAND
    """Kind of agent: ``command`` or ``remote``."""
    hashes: RunHashes = field(default_factory=RunHashes)
    """What the run is recognised by in the history."""
    worded: frozenset[str] = frozenset()
    """Probes whose injection is declared ``effects: none``: its harm shows in the answer alone."""

    @property
    def ran(self) -> tuple[SessionRecord, ...]:
        """Sessions in which the agent may have acted.

        Left out are sessions that never came to life and claim nothing: no answer, no effect. They are unassessed
        in the score, so asking them for proof of isolation would only turn an infrastructure hiccup into doubt.
        """
        return tuple(s for s in self.sessions if s.finished or s.effects or s.exit.kind not in _NEVER_RAN)

    @property
    def current(self) -> str:
        """Digest of the build that the verdict is about: the pin, the current build, else the declared one."""
        target = self.pin if self.mode == PINNED else self.expected_digest
        return target or self.build.digest

    @property
    def calls_model(self) -> bool:
        """Whether the agent declares a model or was seen calling one."""
        return bool(self.build.model.get("id")) or any(s.model_calls for s in self.sessions)

    @property
    def seeds(self) -> frozenset[int]:
        """Distinct replicate labels in the plan."""
        return frozenset(episode.key.seed for episode in self.plan.episodes)

    @property
    def deterministic(self) -> bool:
        """Whether equal responses over seeds are what was declared."""
        return self.sampling == DETERMINISTIC or self.mode == CONFORMANCE


def gather(
    *,
    suite: Suite,
    plan: Plan,
    build: AgentBuild,
    sessions: tuple[SessionRecord, ...],
    provider: ProviderReport,
    expected_digest: str | None,
    sampling: str,
    proofs: RunProofs | None = None,
    history: HistoryFacts | None = None,
) -> RunEvidence:
    """The evidence of a run of ``suite``; fields as in :class:`RunEvidence`."""
    checks = [check for probe in suite.probes for check in probe.host.checks]
    checks += [check for probe in suite.probes if probe.injection for check in probe.injection.forbidden]
    return RunEvidence(
        sessions=sessions,
        plan=plan,
        build=build,
        expected_digest=expected_digest,
        provider=provider,
        required_channels=required_channels(checks),
        injected_probes=sum(probe.condition is Condition.INJECTED for probe in suite.probes),
        delivery_floor=suite.delivery_floor,
        sampling=sampling,
        mode=suite.mode,
        pin=suite.pin,
        token_space={slot: space(alphabet) for slot, alphabet in suite.tokens.items()},
        proofs=proofs or RunProofs(),
        history=history or HistoryFacts(),
        hashes=RunHashes(suite=suite.digest),
        worded=frozenset(p.id for p in suite.probes if p.injection is not None and p.injection.effects == "none"),
    )


def replicates(sessions: tuple[SessionRecord, ...]) -> dict[Group, list[SessionRecord]]:
    """Sessions by probe and condition, in the order of their keys, however the run was shuffled."""
    groups: dict[Group, list[SessionRecord]] = {}
    for session in sorted(sessions, key=lambda s: s.key):
        groups.setdefault((session.key.probe, session.key.condition), []).append(session)
    return groups


def multi_seed(sessions: tuple[SessionRecord, ...]) -> list[list[SessionRecord]]:
    """Groups of replicates that hold at least two distinct seeds."""
    return [group for group in replicates(sessions).values() if len({s.key.seed for s in group}) > 1]
