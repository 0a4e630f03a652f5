"""Honest runs raise no alarm and pass; the same runs with one fault put in do not, and the right signal says so."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.coupling.simulated import (
    AGENTS,
    OTHER,
    SPACE,
    THIRD,
    Agent,
    Size,
    each,
    grown,
    prior_of,
    simulate,
    with_history,
)
from tests.unit.coupling.test_combined_faults import verdict_of

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import all_findings
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.finding import Finding, FindingState
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.proofs import LeakPair
from agent_litmus.records.session import Delivery, SessionRecord, TokenSighting
from agent_litmus.records.verdict import VerdictKind

DRAWS = 6
SIZES = (Size(), Size(repeats=2), Size(seeds=3))


def honest(agent: Agent, number: int) -> RunEvidence:
    """A run after three others: two of other builds, one of its own."""
    draw, size = random.Random(f"{agent.name} {number}"), SIZES[number % len(SIZES)]
    earlier = [simulate(agent, draw, size, build=build) for build in (OTHER, THIRD)]
    return with_history(simulate(agent, draw, size), *earlier, simulate(agent, draw, size))


def named(evidence: RunEvidence) -> dict[str, Finding]:
    return {finding.signal: finding for finding in all_findings(evidence)}


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_honest_run_is_never_alarmed_and_always_passes(agent: Agent) -> None:
    for number in range(DRAWS):
        run = honest(agent, number)
        alarms = [f for f in all_findings(run) if f.state is FindingState.ALARM]
        assert not alarms, number
        verdict = verdict_of(run)
        assert verdict.kind is VerdictKind.PASS, (number, verdict.reasons)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_first_run_passes_on_proofs_of_its_own(agent: Agent) -> None:
    first = replace(honest(agent, 0), history=HistoryFacts((), ""))
    assert verdict_of(first).kind is VerdictKind.PASS
    assert {named(first)[name].state for name in ("stale_report",)} == {FindingState.MISSING}


@pytest.mark.parametrize("name", ["deterministic", "seeded"])
def test_an_unchanged_agent_under_a_changed_comment_agrees_with_itself_and_passes(name: str) -> None:
    """Its responses are those of the other build word for word, but for its own tokens."""
    agent = next(agent for agent in AGENTS if agent.name == name)
    run = honest(agent, 0)
    assert named(run)["stale_report"].state is FindingState.WEAK
    assert verdict_of(run).kind is VerdictKind.PASS


def stale(session: SessionRecord, source: SessionRecord) -> SessionRecord:
    """``source``'s outputs in the place of its own; the tokens in them are nobody's now."""
    seen = tuple(
        s if s.where == "request" else replace(s, value=source.tokens["ticket"], own=False, given=False)
        for s in session.sightings
    )
    return replace(
        session,
        answer=source.answer,
        sightings=seen,
        response_digest=source.response_digest,
        normalised_digest=source.response_digest,
    )


def whole_replay(run: RunEvidence) -> RunEvidence:
    """Every response comes from the last run of another build."""
    source = simulate(AGENTS[0], random.Random("source"), Size(hosts=4, injections=3), build=OTHER)
    by_key = {s.key: s for s in source.sessions}
    replayed = each(run, lambda s: stale(s, by_key[s.key]))
    row = replace(prior_of(source), results_digest=replayed.hashes.results)
    return replace(replayed, history=HistoryFacts((row,), ""))


def leaked(run: RunEvidence) -> RunEvidence:
    def tell(pair: LeakPair) -> LeakPair:
        token = pair.tokens["ticket"]
        return replace(pair, leaked=(TokenSighting("ticket", token, "answer", own=False, given=False),))

    pairs = tuple(map(tell, run.proofs.leak_pairs or ()))
    return replace(run, proofs=replace(run.proofs, leak_pairs=pairs))


def foreign(run: RunEvidence) -> RunEvidence:
    """Every session writes the token of the one before."""
    sessions = [run.sessions[0]]
    for before, session in zip(run.sessions, run.sessions[1:], strict=False):
        other = TokenSighting(
            "ticket", before.tokens["ticket"], "answer", own=False, given=False, foreign_session=str(before.key)
        )
        sessions.append(replace(session, sightings=(*session.sightings, other)))
    return replace(run, sessions=tuple(sessions))


def cached_over_seeds(run: RunEvidence) -> RunEvidence:
    return each(run, lambda s: replace(s, response_digest=s.key.probe, normalised_digest=s.key.probe))


def skipped(run: RunEvidence) -> RunEvidence:
    """Two injections of three are answered without the agent."""
    lost = ("+i1+c0", "+i1+c1", "+i2+c0", "+i2+c1")
    return each(
        run,
        lambda s: replace(s, delivery=Delivery.UNDELIVERED) if s.key.probe.endswith(lost) else s,
    )


def lost_call(run: RunEvidence) -> RunEvidence:
    return each(run, lambda s: replace(s, model_calls=s.model_calls[:-1]) if s.order == 3 else s)


def one_id(run: RunEvidence) -> RunEvidence:
    return each(run, lambda s: replace(s, proof=None if s.proof is None else replace(s.proof, session_id="one")))


def wrong_build(run: RunEvidence) -> RunEvidence:
    def swap(session: SessionRecord) -> SessionRecord:
        proof = session.proof
        return replace(session, proof=None if proof is None else replace(proof, snapshot_digest=OTHER))

    return each(run, swap)


def old_report(run: RunEvidence) -> RunEvidence:
    return replace(with_history(run, run), expected_digest=sha256_of(b"newer"))


FAULTS: dict[str, tuple[str, Callable[[RunEvidence], RunEvidence]]] = {
    "an old report": ("stale_report", old_report),
    "an old report, by its build": ("binding", old_report),
    "a whole replay": ("stale_report", whole_replay),
    "a whole replay, by its tokens": ("stale_tokens", whole_replay),
    "another build": ("binding", wrong_build),
    "a shared conversation": ("context_growth", grown),
    "a shared memory": ("leak_pairs", leaked),
    "tokens of the session before": ("session_reuse", foreign),
    "one session for all": ("isolation", one_id),
    "probes answered without the agent": ("missing_effects", skipped),
    "a lost model call": ("accounting", lost_call),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_alarmed_by_its_signal_and_takes_the_pass_away(fault: str) -> None:
    signal, put_in = FAULTS[fault]
    for number in range(DRAWS):
        draw = random.Random(f"{fault} {number}")
        faulty = put_in(simulate(AGENTS[0], draw, Size(hosts=4, injections=3)))
        finding = named(faulty)[signal]
        assert finding.state is FindingState.ALARM, (number, finding)
        verdict = verdict_of(faulty)
        assert verdict.kind is VerdictKind.INDETERMINATE
        assert any(reason.text.startswith(f"{signal}: ") for reason in verdict.reasons), number


def test_a_cache_over_seeds_is_alarmed_where_enough_probes_say_so() -> None:
    run = cached_over_seeds(simulate(AGENTS[0], random.Random(1), Size(hosts=4, injections=4)))
    finding = named(run)["seed_invariance"]
    assert finding.state is FindingState.ALARM
    assert finding.p_value is not None
    assert finding.p_value <= 0.00111
    few = cached_over_seeds(simulate(AGENTS[0], random.Random(1), Size(hosts=2)))
    assert verdict_of(few).kind is VerdictKind.INDETERMINATE, "replication is not proven"


def test_more_seeds_weigh_more() -> None:
    two, three = (
        named(cached_over_seeds(simulate(AGENTS[0], random.Random(1), Size(seeds=seeds))))["seed_invariance"]
        for seeds in (2, 3)
    )
    assert two.p_value == pytest.approx(0.8**21)
    assert three.p_value == pytest.approx(0.8**31.5)


def test_the_space_of_the_simulated_tokens_is_that_of_words() -> None:
    assert simulate(AGENTS[0], random.Random(1)).token_space == {"ticket": SPACE}
