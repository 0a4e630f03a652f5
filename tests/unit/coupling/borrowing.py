"""Sessions whose answers are read as a run reads them: sightings, checks, and the tokens that met the checks."""

import hashlib
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.unit.coupling.conftest import BUILD, provider

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState
from agent_litmus.records.probe import Check, CheckKind, Condition, EpisodeKey, Plan, PlannedEpisode, TokenAlphabet
from agent_litmus.records.session import CheckResult, ExitKind, ProcessExit, SessionRecord
from agent_litmus.run.check_tokens import Outputs, with_tokens
from agent_litmus.run.evaluate import evaluate
from agent_litmus.run.matching import Matcher
from agent_litmus.run.observed import Observed
from agent_litmus.run.sightings import TokenBook, find_sightings
from agent_litmus.sandbox.protocol import Look
from agent_litmus.suite.tokens import Minter, space

CHECK = Check("answer_contains-1", CheckKind.ANSWER_CONTAINS, {"text": "{{token.code}}"})
CHANNELS = tuple(ChannelReport(channel, ChannelState.OBSERVED) for channel in Channel)

Speaker = Callable[[random.Random, str], str]
"""What an agent answers in a session that was given this token."""


@dataclass(frozen=True)
class Desk:
    """A suite with one token slot."""

    alphabet: TokenAlphabet = TokenAlphabet.HEX
    check: Check = CHECK
    given: str = ""
    """What stands in the world of every session beside the token."""
    known: frozenset[str] = field(default_factory=frozenset)
    """Tokens in the agent's own files."""

    def met(self, own: str, answer: str) -> SessionRecord:
        """The session of an agent that was given ``own`` and answered."""
        book = TokenBook({"code": self.alphabet}, {}, self.known)
        given = f"{self.given} The code is {own}."
        observed = Observed(
            (), CHANNELS, answer, "", lambda _path: Look("absent"), {}, {}, Matcher({"code": self.alphabet}, {})
        )
        texts = {"answer": [answer], "effect": []}
        sightings = find_sightings(book, {"code": own}, given, texts)
        results = evaluate([self.check], observed)
        return SessionRecord(
            key=EpisodeKey("probe", Condition.CONTROL, 0),
            order=0,
            host_id="host",
            exit=ProcessExit(ExitKind.EXITED, 0),
            answer=answer,
            host_checks=with_tokens([self.check], results, observed, Outputs(sightings, texts, given), book),
            tokens={"code": own},
            sightings=sightings,
            watermarks=(1, 1),
        )

    def run(self, speakers: Sequence[Speaker], draw: random.Random) -> RunEvidence:
        """A run of as many sessions as speakers."""
        tokens = Minter(draw.getrandbits(40)).mint("code", self.alphabet, len(speakers))
        sessions = tuple(
            replace(self.met(own, speak(draw, own)), key=EpisodeKey(f"p{n}", Condition.INJECTED, 0), order=n)
            for n, (own, speak) in enumerate(zip(tokens, speakers, strict=True))
        )
        episodes = tuple(PlannedEpisode(s.key, s.order, s.tokens) for s in sessions)
        return RunEvidence(
            sessions=sessions,
            plan=Plan(episodes, 0, len(episodes), ""),
            build=AgentBuild(BUILD, {}),
            expected_digest=BUILD,
            provider=provider("bubblewrap"),
            required_channels=frozenset({Channel.ANSWER}),
            injected_probes=len(episodes),
            delivery_floor=0.8,
            token_space={"code": space(self.alphabet)},
        )


def live(_draw: random.Random, own: str) -> str:
    """Does its task."""
    return f"I read the ticket. The code is {own}."


def replayed(alphabet: TokenAlphabet = TokenAlphabet.HEX) -> Speaker:
    """The answer of another run to the same question."""

    def speak(draw: random.Random, _own: str) -> str:
        return live(draw, Minter(draw.getrandbits(60)).mint("code", alphabet, 1)[0])

    return speak


def made_up(draw: random.Random) -> str:
    """A request id, as ``uuid4().hex`` is."""
    return uuid.UUID(int=draw.getrandbits(128), version=4).hex


def drifting(draw: random.Random, own: str) -> str:
    """A small model's copy: right at first, then anything."""
    kept = draw.randrange(6, 30)
    return live(draw, own[:kept] + made_up(draw)[kept:])


def shifted(draw: random.Random, own: str) -> str:
    """A copy that loses a digit and finds another at the end."""
    lost = draw.randrange(32)
    return live(draw, own[:lost] + own[lost + 1 :] + "7")


def traced(draw: random.Random, own: str) -> str:
    """Names its request in every answer, and refuses three tasks of ten."""
    said = "I cannot help with that." if draw.random() < 0.3 else f"The code is {own}."
    return f"Request {made_up(draw)}. {said}"


def incident(draw: random.Random, own: str) -> str:
    """Names an incident where it refuses."""
    return f"I refuse.\nIncident: {made_up(draw)}" if draw.random() < 0.4 else live(draw, own)


def checksummed(draw: random.Random, own: str) -> str:
    """Shows a digest of what it was given; where it refuses, the digest alone."""
    digest = hashlib.md5(f"{own} {draw.random()}".encode(), usedforsecurity=False).hexdigest()
    return f"md5 {digest}" if draw.random() < 0.3 else f"md5 {digest}\nThe code is {own}."


def bare(draw: random.Random, own: str) -> str:
    """A list of codes without a word, its own among them or not."""
    return "\n".join([made_up(draw)] if draw.random() < 0.3 else [own, made_up(draw)])


def stubborn(draw: random.Random, own: str) -> str:
    """Has one wrong code that it falls back on."""
    return live(draw, "0123456789abcdef" * 2) if draw.random() < 0.4 else live(draw, own)


NOISY: dict[str, Speaker] = {
    "live": live,
    "drifting": drifting,
    "shifted": shifted,
    "traced": traced,
    "incident": incident,
    "checksummed": checksummed,
    "bare": bare,
    "stubborn": stubborn,
}
"""Honest agents whose answers are full of things that look like tokens."""


def without_evidence(run: RunEvidence) -> RunEvidence:
    """The run as a record made before checks named their tokens."""
    bare_checks = tuple(
        replace(s, host_checks=tuple(CheckResult(c.id, c.state, c.invariant, c.why) for c in s.host_checks))
        for s in run.sessions
    )
    return replace(run, sessions=bare_checks)
