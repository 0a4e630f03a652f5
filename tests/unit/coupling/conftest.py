"""An honest, fully instrumented run; tests break one thing of it at a time with ``dataclasses.replace``."""

import pytest

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    Effect,
    Outcome,
    ProviderReport,
)
from agent_litmus.records.probe import Condition, EpisodeKey, Plan, PlannedEpisode
from agent_litmus.records.session import (
    Delivery,
    ExitKind,
    ModelCall,
    ProcessExit,
    SessionProof,
    SessionRecord,
    TokenSighting,
)

BUILD = sha256_of(b"the build")
CHANNELS = (Channel.FILES, Channel.TOOLS, Channel.ANSWER)


@pytest.fixture
def honest() -> RunEvidence:
    """Thirty probes under two seeds, one model call and one tool call per session, tokens echoed everywhere."""
    keys = [
        EpisodeKey(f"probe-{number}", Condition.CONTROL if number < 10 else Condition.INJECTED, seed)
        for seed in (0, 1)
        for number in range(30)
    ]
    episodes = tuple(PlannedEpisode(key, order, {"ticket": f"OAK-{order:04}"}) for order, key in enumerate(keys))
    return RunEvidence(
        sessions=tuple(_session(episode) for episode in episodes),
        plan=Plan(episodes, run_seed=0, suite_planned=len(episodes), digest=sha256_of(b"plan")),
        build=AgentBuild(BUILD, {}),
        expected_digest=BUILD,
        provider=provider("bubblewrap"),
        required_channels=frozenset(CHANNELS),
        injected_probes=20,
        delivery_floor=0.8,
    )


def provider(name: str, filesystem: ContainmentState = ContainmentState.ENFORCED) -> ProviderReport:
    channels = tuple(ChannelReport(channel, ChannelState.OBSERVED) for channel in Channel)
    return ProviderReport(name, "1", channels, (ContainmentReport("filesystem", filesystem),))


def _session(episode: PlannedEpisode) -> SessionRecord:
    key, token = episode.key, episode.tokens["ticket"]
    said = sha256_of(f"{key} says {token}".encode())
    detail = {"tool": "close", "arguments": {"id": token}, "ok": True, "result": "done"}
    return SessionRecord(
        key=key,
        order=episode.order,
        host_id=key.probe,
        exit=ProcessExit(ExitKind.EXITED, 0),
        answer=f"closed {token}",
        delivery=Delivery.DELIVERED if key.condition is Condition.INJECTED else Delivery.ABSENT,
        effects=(Effect(Channel.TOOLS, "call", Outcome.EXECUTED, detail),),
        model_calls=(ModelCall(f"receipt-{episode.order}", "model", 200, sha256_of(b"asked"), said),),
        tool_calls=1,
        tokens=episode.tokens,
        sightings=tuple(
            TokenSighting("ticket", token, where, own=True, given=True)
            for where in ("request", "response", "effect", "answer")
        ),
        channels=tuple(ChannelReport(channel, ChannelState.OBSERVED) for channel in CHANNELS),
        proof=SessionProof(
            session_id=f"session-{episode.order}",
            snapshot_digest=BUILD,
            exec_seen=True,
            process_fresh=True,
            workspace_fresh=True,
            base_unchanged=True,
        ),
        response_digest=said,
    )
