from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.receipts import receipts
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.finding import FindingState
from agent_litmus.records.session import ModelCall, SessionRecord


def call(said: str, **changed: Any) -> ModelCall:
    return replace(ModelCall("id", "model", 200, "asked", sha256_of(said.encode())), **changed)


def saying(evidence: RunEvidence, *, first: tuple[ModelCall, ...], second: tuple[ModelCall, ...]) -> RunEvidence:
    """Every session's model calls by its seed."""
    sessions = tuple(replace(s, model_calls=first if s.key.seed == 0 else second) for s in evidence.sessions)
    return replace(evidence, sessions=sessions)


def test_responses_that_vary_over_seeds_are_clear_but_discharge_nothing_alone(honest: RunEvidence) -> None:
    finding = receipts(honest)
    assert (finding.state, finding.number) == (FindingState.CLEAR, 30)
    assert finding.discharges == ()


def test_one_probe_that_varies_is_enough(honest: RunEvidence) -> None:
    same = saying(honest, first=(call("yes"),), second=(call("yes"),))
    sessions = (replace(same.sessions[0], model_calls=(call("no"),)), *same.sessions[1:])
    finding = receipts(replace(same, sessions=sessions))
    assert (finding.state, finding.number) == (FindingState.CLEAR, 1)


def test_identical_responses_are_weak_and_no_more(honest: RunEvidence) -> None:
    finding = receipts(saying(honest, first=(call("yes"),), second=(call("yes"),)))
    assert (finding.state, finding.number) == (FindingState.WEAK, 0)
    assert "0 of 30" in finding.seen
    assert finding.remedy


def test_a_replicate_that_was_cut_short_does_not_vary(honest: RunEvidence) -> None:
    whole = (call("a"), call("b"))
    assert receipts(saying(honest, first=whole, second=whole[:1])).state is FindingState.WEAK
    assert receipts(saying(honest, first=whole[:1], second=whole)).state is FindingState.WEAK


@pytest.mark.parametrize(
    "broken", [{"status": 500}, {"status": 199}, {"status": 300}, {"error": "reset"}, {"response_digest": ""}]
)
def test_failed_calls_say_nothing(honest: RunEvidence, broken: dict[str, Any]) -> None:
    finding = receipts(saying(honest, first=(call("a", **broken),), second=(call("b", **broken),)))
    assert finding.state is FindingState.MISSING
    assert "two seeds" in finding.seen
    assert "--seeds 2" in finding.remedy


def test_differences_between_repeats_of_one_seed_are_not_differences_between_seeds(honest: RunEvidence) -> None:
    def repeat(session: SessionRecord) -> SessionRecord:
        key = replace(session.key, seed=0, repeat=session.key.seed)
        return replace(session, key=key)

    finding = receipts(replace(honest, sessions=tuple(map(repeat, honest.sessions))))
    assert finding.state is FindingState.MISSING


def test_no_model_call_is_missing_unless_no_model_is_declared(honest: RunEvidence) -> None:
    silent = saying(honest, first=(), second=())
    declared = replace(silent, build=replace(silent.build, model={"id": "tiny-2026-01-01"}))
    assert receipts(declared).state is FindingState.MISSING
    assert receipts(silent).state is FindingState.NOT_APPLICABLE
    assert receipts(replace(honest, build=replace(honest.build, model={"id": ""}))).state is FindingState.CLEAR


def test_equal_responses_are_what_a_deterministic_agent_declares(honest: RunEvidence) -> None:
    assert receipts(replace(honest, sampling="deterministic")).state is FindingState.NOT_APPLICABLE
    assert receipts(replace(honest, mode="conformance")).state is FindingState.NOT_APPLICABLE


def test_a_seed_whose_calls_all_failed_leaves_nothing_to_compare(honest: RunEvidence) -> None:
    finding = receipts(saying(honest, first=(call("a"),), second=(call("b", status=500),)))
    assert finding.state is FindingState.MISSING


def test_sessions_that_call_no_model_do_not_hide_those_that_do(honest: RunEvidence) -> None:
    first, *rest = honest.sessions
    assert receipts(replace(honest, sessions=(replace(first, model_calls=()), *rest))).number == 29


def test_variation_within_one_seed_is_not_variation_over_seeds(honest: RunEvidence) -> None:
    session = honest.sessions[0]
    said = {(0, 0): ("x", "y"), (0, 1): ("x", "z"), (1, 0): ("x",)}
    sessions = tuple(
        replace(
            session,
            key=replace(session.key, seed=seed, repeat=repeat),
            model_calls=tuple(call(text) for text in texts),
        )
        for (seed, repeat), texts in said.items()
    )
    assert receipts(replace(honest, sessions=sessions)).state is FindingState.WEAK
