"""Sessions that are asked for the tokens of the session before them."""

import random
from dataclasses import replace

import pytest
from tests.unit.coupling.remote import remote_run
from tests.unit.coupling.simulated import AGENTS, Size, simulate

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.leak_pairs import leak_pairs
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.proofs import LeakPair, RunProofs
from agent_litmus.records.session import TokenSighting


@pytest.fixture
def run() -> RunEvidence:
    return simulate(AGENTS[0], random.Random(1), Size(pairs=6))


def with_pairs(evidence: RunEvidence, *pairs: LeakPair, planned: int = 6) -> RunEvidence:
    return replace(evidence, proofs=RunProofs(None, pairs, planned))


def pairs_of(evidence: RunEvidence) -> tuple[LeakPair, ...]:
    assert evidence.proofs.leak_pairs is not None
    return evidence.proofs.leak_pairs


def leaking(pair: LeakPair, *, given: bool = False) -> LeakPair:
    token = pair.tokens["ticket"]
    sighting = TokenSighting("ticket", token, "answer", own=False, given=given, foreign_session=str(pair.planted))
    return replace(pair, leaked=(sighting,), answer=f"you told me {token}")


def test_sessions_that_know_nothing_are_clear_and_the_power_is_stated(run: RunEvidence) -> None:
    finding = leak_pairs(run)
    assert (finding.state, finding.discharges) == (FindingState.CLEAR, ())
    assert "6 of 6 sessions" in finding.seen
    assert "39% of neighbours" in finding.seen


@pytest.mark.parametrize(("space", "strength"), [(27_090, Strength.STRONG), (2**128, Strength.EXACT)])
def test_a_leak_is_an_alarm_as_strong_as_the_token_is_hard_to_guess(
    run: RunEvidence, space: int, strength: Strength
) -> None:
    first, *rest = pairs_of(run)
    leaked = with_pairs(replace(run, token_space={"ticket": space}), leaking(first), *rest)
    finding = leak_pairs(leaked)
    assert (finding.state, finding.strength) == (FindingState.ALARM, strength)
    assert str(first.planted) in finding.seen
    assert finding.p_value is not None
    assert finding.p_value <= 0.00111
    assert finding.remedy


def test_two_leaks_of_short_tokens_are_exact(run: RunEvidence) -> None:
    first, second, *rest = pairs_of(run)
    finding = leak_pairs(with_pairs(run, leaking(first), leaking(second), *rest))
    assert finding.strength is Strength.EXACT


def test_a_hit_among_thousands_of_guesses_is_weak(run: RunEvidence) -> None:
    first, *rest = pairs_of(run)
    guessing = replace(leaking(first), answer=" ".join(f"T-{n}" for n in range(3000)))
    assert leak_pairs(with_pairs(run, guessing, *rest)).state is FindingState.WEAK


def test_what_was_given_to_the_asked_session_too_is_no_leak(run: RunEvidence) -> None:
    first, *rest = pairs_of(run)
    assert leak_pairs(with_pairs(run, leaking(first, given=True), *rest)).state is FindingState.CLEAR


def test_an_asked_session_with_the_id_of_another_is_an_exact_alarm(run: RunEvidence) -> None:
    first, *rest = pairs_of(run)
    assert run.sessions[0].proof is not None
    reused = replace(first, session_id=run.sessions[0].proof.session_id)
    assert leak_pairs(with_pairs(run, reused, *rest)).strength is Strength.EXACT
    assert leak_pairs(with_pairs(run, first, replace(rest[0], session_id=first.session_id))).strength is (
        Strength.EXACT
    )


def test_pairs_that_were_not_made_are_missing(run: RunEvidence) -> None:
    finding = leak_pairs(replace(run, proofs=RunProofs()))
    assert finding.state is FindingState.MISSING
    assert "run.leak_pairs" in finding.remedy


@pytest.mark.parametrize("kind", ["none made", "no answer", "no tokens"])
def test_pairs_that_were_never_asked_are_missing(run: RunEvidence, kind: str) -> None:
    silent = [replace(pair, answer=None, answer_why="crash") for pair in pairs_of(run)]
    bare = [replace(pair, tokens={}) for pair in pairs_of(run)]
    pairs = {"none made": [], "no answer": silent, "no tokens": bare}[kind]
    finding = leak_pairs(with_pairs(run, *pairs))
    assert finding.state is FindingState.MISSING
    assert "none of 6" in finding.seen


@pytest.mark.parametrize(("pairs", "proven"), [(10, True), (9, False)])
def test_ten_clean_pairs_stand_for_the_isolation_of_a_remote_agent(pairs: int, proven: bool) -> None:
    finding = leak_pairs(remote_run(pairs=pairs))
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == ((Obligation.ISOLATION,) if proven else ())
