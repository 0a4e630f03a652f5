"""Runs of simulated agents on an honest, fully instrumented harness, drawn from a seed; and faults put into them.

Every agent here is coupled. They differ in what tempts a signal to cry wolf: one is saturated, one repeats itself
word for word, one draws by ``LITMUS_SEED``, one miscopies.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.unit.coupling.conftest import BUILD, CHANNELS, provider

from agent_litmus.coupling.agreement import SKETCH
from agent_litmus.coupling.evidence import RunEvidence, RunHashes
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.digest import digest_of, sha256_of
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState, Effect, Outcome
from agent_litmus.records.history import HistoryFacts, PriorRun, token_sketch
from agent_litmus.records.probe import Condition, EpisodeKey, Plan, PlannedEpisode
from agent_litmus.records.proofs import CalibrationCall, LeakPair, RunProofs
from agent_litmus.records.scorecard import Tally
from agent_litmus.records.session import (
    CheckResult,
    CheckState,
    Delivery,
    ExitKind,
    ModelCall,
    ProcessExit,
    SessionCounts,
    SessionProof,
    SessionRecord,
    TokenSighting,
)
from agent_litmus.records.verdict import VerdictKind

SPACE = 27_090
CATEGORIES = ("exfiltration", "fraud", "sabotage")
OTHER = sha256_of(b"another build")
THIRD = sha256_of(b"a third build")


@dataclass(frozen=True)
class Agent:
    """How a simulated agent behaves; shares are chances in [0, 1]."""

    name: str
    phrases: int = 40
    """Different wordings it draws from; 1: always the same."""
    seeded: bool = False
    """Whether it draws by probe and ``LITMUS_SEED`` alone, so that every run is the same."""
    echoes: bool = True
    """Whether its answers hold a token of the session."""
    miscopies: float = 0.0
    harm: float = 0.0
    fails: float = 0.1
    reads: float = 0.97
    """Chance that it opens the carrier."""
    pace: float = 1.0
    """Its model's seconds per call, roughly."""
    model: bool = True
    sampling: str = "stochastic"


AGENTS = (
    Agent("stochastic"),
    Agent("saturated", phrases=3, fails=0.0, reads=1.0),
    Agent("deterministic", phrases=1, sampling="deterministic"),
    Agent("seeded", seeded=True),
    Agent("small model", miscopies=0.2, harm=0.3, fails=0.3),
    Agent("careless", harm=0.5, reads=0.85),
    Agent("fast", pace=0.01),
    Agent("slow", pace=20.0),
    Agent("without model", model=False),
)


@dataclass(frozen=True)
class Size:
    """How large a run is: hosts * (1 + injections * carriers) probes."""

    hosts: int = 3
    injections: int = 3
    carriers: int = 2
    seeds: int = 2
    repeats: int = 1
    jobs: int = 2
    pairs: int = 4


def keys_of(size: Size) -> list[tuple[EpisodeKey, str, str, str]]:
    """Key, host, carrier and category of every episode."""
    probes = []
    for host in range(size.hosts):
        probes.append((f"host{host}", Condition.CONTROL, f"host{host}", "", ""))
        for injection in range(size.injections):
            for carrier in range(size.carriers):
                name = f"host{host}+i{injection}+c{carrier}"
                category = CATEGORIES[injection % len(CATEGORIES)]
                probes.append((name, Condition.INJECTED, f"host{host}", f"c{carrier}", category))
    return [
        (EpisodeKey(probe, condition, seed, repeat), host, carrier, category)
        for probe, condition, host, carrier, category in probes
        for seed in range(size.seeds)
        for repeat in range(size.repeats)
    ]


def simulate(agent: Agent, draw: random.Random, size: Size | None = None, *, build: str = BUILD) -> RunEvidence:
    """One honest run, without history."""
    size = size or Size()
    order = keys_of(size)
    draw.shuffle(order)
    numbers = draw.sample(range(SPACE), len(order))
    episodes = tuple(
        PlannedEpisode(key, place, {"ticket": f"T-{numbers[place]}"}) for place, (key, *_) in enumerate(order)
    )
    sessions = tuple(
        session(agent, draw, episode, *row[1:], build=build, jobs=size.jobs)
        for episode, row in zip(episodes, order, strict=True)
    )
    return hashed(
        RunEvidence(
            sessions=sessions,
            plan=Plan(episodes, 0, len(episodes), digest_of([str(e.key) for e in episodes])),
            build=AgentBuild(build, {}, {"id": "model-2024-01-01"} if agent.model else {}),
            expected_digest=build,
            provider=provider("bubblewrap"),
            required_channels=frozenset(CHANNELS),
            injected_probes=size.hosts * size.injections * size.carriers,
            delivery_floor=0.6,
            sampling=agent.sampling,
            token_space={"ticket": SPACE},
            proofs=RunProofs(calibration(agent, draw), pairs_of(episodes, draw, size.pairs), size.pairs),
        ),
        run_id=f"run-{draw.getrandbits(60)}",
    )


def hashed(evidence: RunEvidence, *, run_id: str = "") -> RunEvidence:
    """With the hashes of its results."""
    rows = sorted(evidence.sessions, key=lambda s: s.key)
    hashes = RunHashes(
        run_id=run_id or evidence.hashes.run_id,
        suite=sha256_of(b"suite"),
        results=digest_of([[str(s.key), s.response_digest] for s in rows]),
        normalised=digest_of([[str(s.key), s.normalised_digest] for s in rows]),
    )
    return replace(evidence, hashes=hashes)


def calibration(agent: Agent, draw: random.Random) -> tuple[CalibrationCall, ...] | None:
    if not agent.model:
        return None
    return tuple(CalibrationCall(n, agent.pace * draw.lognormvariate(-1.0, 0.4), 200) for n in range(8))


def pairs_of(episodes: tuple[PlannedEpisode, ...], draw: random.Random, count: int) -> tuple[LeakPair, ...]:
    return tuple(
        LeakPair(e.key, f"asked-{n}", ProcessExit(ExitKind.EXITED, 0), "no codes", tokens=e.tokens)
        for n, e in enumerate(draw.sample(episodes, count))
    )


def wording(agent: Agent, draw: random.Random, key: EpisodeKey, host: str) -> str:
    """What it says, tokens as slots; a favourite in three of ten sessions where it has several wordings."""
    source = random.Random(f"{key.probe} {key.seed}") if agent.seeded else draw
    favourite = source.random() < 0.3 or agent.phrases == 1
    return f"{host} wording {0 if favourite else source.randrange(agent.phrases)}"


def session(
    agent: Agent,
    draw: random.Random,
    episode: PlannedEpisode,
    host: str,
    carrier: str,
    category: str,
    *,
    build: str,
    jobs: int,
) -> SessionRecord:
    key, token = episode.key, episode.tokens["ticket"]
    text = wording(agent, draw, key, host)
    wrong = agent.echoes and draw.random() < agent.miscopies
    written = f"T-{draw.randrange(SPACE)}" if wrong else token
    injected = key.condition is Condition.INJECTED
    met = injected and draw.random() < agent.reads
    harmed = met and draw.random() < agent.harm
    calls = model_calls(agent, draw, episode, f"{text} {written}") if agent.model else ()
    outputs = ("response", "effect", "answer") if agent.model else ("effect", "answer")
    seen = [TokenSighting("ticket", token, "request", own=True, given=True)] if agent.model else []
    if agent.echoes:
        seen += [TokenSighting("ticket", written, where, own=not wrong, given=not wrong) for where in outputs]
    detail = {"tool": "close", "arguments": {"id": written}, "ok": True, "result": "done"}
    return SessionRecord(
        key=key,
        order=episode.order,
        host_id=host,
        exit=ProcessExit(ExitKind.EXITED, 0),
        answer=f"{text} {written}",
        carrier_id=carrier,
        category=category,
        delivery=(Delivery.DELIVERED if met else Delivery.UNDELIVERED) if injected else Delivery.ABSENT,
        host_checks=(CheckResult("done", CheckState.UNMET if draw.random() < agent.fails else CheckState.MET),),
        forbidden_checks=(CheckResult("harm", CheckState.MET if harmed else CheckState.UNMET),) if injected else (),
        effects=(Effect(Channel.TOOLS, "call", Outcome.EXECUTED, detail),),
        model_calls=calls,
        tool_calls=1,
        tokens=episode.tokens,
        sightings=tuple(seen),
        channels=tuple(ChannelReport(channel, ChannelState.OBSERVED) for channel in CHANNELS),
        proof=SessionProof(f"session-{draw.getrandbits(60)}", build, True, True, True, True),
        duration=sum(call.duration for call in calls) + agent.pace,
        response_digest=digest_of([text, written if agent.echoes else ""]),
        normalised_digest=digest_of([text, written if wrong else ""]),
        counts=SessionCounts(len(calls), 1, 1, len(calls), 1),
        worker=episode.order % jobs,
        started=float(episode.order // jobs) + 0.01 * (episode.order % jobs),
        watermarks=(1, int(agent.echoes and not wrong)),
    )


def model_calls(agent: Agent, draw: random.Random, episode: PlannedEpisode, text: str) -> tuple[ModelCall, ...]:
    size = 200 + sum(map(ord, episode.key.probe)) % 900 + draw.randrange(4)
    calls = []
    for number in range(draw.randint(2, 4)):
        answered = draw.randrange(10, 80)
        calls.append(
            ModelCall(
                f"receipt-{episode.order}-{number}-{draw.getrandbits(40)}",
                "model-2024-01-01",
                200,
                sha256_of(f"{episode.key} {number}".encode()),
                sha256_of(f"{text} {number}".encode()),
                duration=agent.pace * draw.lognormvariate(0.0, 0.5),
                prompt_tokens=size,
                completion_tokens=answered,
            )
        )
        size += answered + draw.randrange(20, 60)
    return tuple(calls)


def prior_of(evidence: RunEvidence) -> PriorRun:
    """How the history keeps a run."""
    counts: dict[str, list[int]] = {}
    for record in evidence.sessions:
        if record.category:
            harmed = record.forbidden_checks[0].state is CheckState.MET
            counts.setdefault(record.category, [0, 0])[harmed] += 1
    return PriorRun(
        run_id=evidence.hashes.run_id,
        at=0.0,
        ref="main",
        protected=True,
        suite_digest=evidence.hashes.suite,
        agent_digest=evidence.build.digest,
        report_digest=sha256_of(evidence.hashes.run_id.encode()),
        results_digest=evidence.hashes.results,
        normalised_results_digest=evidence.hashes.normalised,
        verdict=VerdictKind.PASS,
        reason="proven",
        episodes=len(evidence.sessions),
        by_category={name: {"ir": Tally(good, bad, 0)} for name, (good, bad) in counts.items()},
        tokens=token_sketch(token for e in evidence.plan.episodes for token in e.tokens.values()),
        responses={str(s.key): s.normalised_digest.removeprefix("sha256:")[:SKETCH] for s in evidence.sessions},
    )


def with_history(evidence: RunEvidence, *earlier: RunEvidence) -> RunEvidence:
    return replace(evidence, history=HistoryFacts(tuple(map(prior_of, earlier)), ""))


def each(evidence: RunEvidence, make: Callable[[SessionRecord], SessionRecord]) -> RunEvidence:
    """With every session changed, and hashed again."""
    return hashed(replace(evidence, sessions=tuple(map(make, evidence.sessions))))


def grown(evidence: RunEvidence, *, shared: bool = False) -> RunEvidence:
    """One conversation per worker, or one for all of them: every prompt holds all that was said before."""
    carried: dict[int, int] = {}
    sessions = []
    for record in evidence.sessions:
        line = 0 if shared else record.worker
        more = carried.get(line, 0)
        calls = tuple(replace(c, prompt_tokens=(c.prompt_tokens or 0) + more) for c in record.model_calls)
        if calls:
            carried[line] = (calls[-1].prompt_tokens or 0) + (calls[-1].completion_tokens or 0)
        sessions.append(replace(record, model_calls=calls))
    return replace(evidence, sessions=tuple(sessions))
