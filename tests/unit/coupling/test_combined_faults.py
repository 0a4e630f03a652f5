"""Evidence to verdict: no combination of faults adds up to a pass, however good the score is."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from tests.unit.verdict.cards import card_of

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import all_findings, certified_share
from agent_litmus.coupling.obligations import obligations
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.probe import Condition
from agent_litmus.records.scorecard import Tally
from agent_litmus.records.session import Delivery, SessionRecord
from agent_litmus.records.verdict import Policy, Verdict, VerdictKind
from agent_litmus.verdict.decide import decide

Fault = Callable[[RunEvidence], RunEvidence]
CARD = card_of({"u0": Tally(20, 0, 0), "ir": Tally(40, 0, 0), "u1": Tally(40, 0, 0)})


def verdict_of(evidence: RunEvidence) -> Verdict:
    findings = all_findings(evidence)
    return decide(
        CARD,
        findings,
        Policy(),
        obligations=obligations(findings, evidence),
        plan_partial=evidence.plan.partial,
        mode=evidence.mode,
        certified=certified_share(evidence),
    )


def each(make: Callable[[SessionRecord], SessionRecord]) -> Fault:
    return lambda evidence: replace(evidence, sessions=tuple(map(make, evidence.sessions)))


def proofs(**changed: Any) -> Fault:
    return each(lambda s: replace(s, proof=None if s.proof is None else replace(s.proof, **changed)))


def replay(session: SessionRecord) -> SessionRecord:
    """Responses of an earlier run, keyed by the probe; the agent in front is live."""
    said = sha256_of(session.key.probe.encode())
    stale = tuple(
        s if s.where == "request" else replace(s, value=f"ELM-{session.key.probe}", own=False, given=False)
        for s in session.sightings
    )
    calls = tuple(replace(call, response_digest=said) for call in session.model_calls)
    return replace(session, sightings=stale, model_calls=calls, response_digest=said)


def undelivered(session: SessionRecord) -> SessionRecord:
    lost = session.key.condition is Condition.INJECTED
    return replace(session, delivery=Delivery.UNKNOWN if lost else session.delivery)


FAULTS: dict[str, Fault] = {
    "report about an older build": lambda e: replace(e, expected_digest=sha256_of(b"newer")),
    "current build not told": lambda e: replace(e, expected_digest=None),
    "another snapshot mounted": proofs(snapshot_digest=sha256_of(b"other")),
    "no exec witness": proofs(exec_seen=None),
    "one process for all sessions": proofs(process_fresh=False),
    "workspace not witnessed": proofs(workspace_fresh=None),
    "one session for all": proofs(session_id="the one"),
    "no proof at all": each(lambda s: replace(s, proof=None)),
    "responses replayed": each(replay),
    "nothing delivered": each(undelivered),
    "channels dark": each(lambda s: replace(s, channels=())),
    "no tokens seen": each(lambda s: replace(s, sightings=())),
    "degraded provider": lambda e: replace(e, provider=replace(e.provider, name="process")),
    "probes skipped": lambda e: replace(e, sessions=e.sessions[:-1]),
    "plan cut short": lambda e: replace(e, plan=replace(e.plan, suite_planned=61)),
    "nothing recorded": lambda e: replace(e, sessions=()),
    "answers missing": each(lambda s: replace(s, answer=None)),
    "tool calls mocked": each(lambda s: replace(s, effects=())),
    "one seed": lambda e: replace(
        e, plan=replace(e.plan, episodes=e.plan.episodes[:30], suite_planned=30), sessions=e.sessions[:30]
    ),
}


def test_an_honest_run_passes(honest: RunEvidence) -> None:
    assert verdict_of(honest).kind is VerdictKind.PASS


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_alone_takes_the_pass_away(honest: RunEvidence, fault: str) -> None:
    verdict = verdict_of(FAULTS[fault](honest))
    assert verdict.kind is VerdictKind.INDETERMINATE
    assert all(reason.text for reason in verdict.reasons)


def test_no_pair_of_faults_covers_for_one_another(honest: RunEvidence) -> None:
    small = replace(
        honest,
        plan=replace(
            honest.plan, episodes=honest.plan.episodes[20:30] + honest.plan.episodes[50:], suite_planned=20
        ),
        sessions=honest.sessions[20:30] + honest.sessions[50:],
    )
    assert verdict_of(small).kind is VerdictKind.PASS
    for one, other in combinations(FAULTS, 2):
        for first, second in ((one, other), (other, one)):
            verdict = verdict_of(FAULTS[second](FAULTS[first](small)))
            assert verdict.kind is VerdictKind.INDETERMINATE, (first, second)


def test_the_replay_is_named_as_a_matter_of_freshness(honest: RunEvidence) -> None:
    verdict = verdict_of(FAULTS["responses replayed"](honest))
    assert verdict.reason.startswith("stale_tokens: freshness: 60 of 60")
    assert any(reason.text == "freshness is not proven" for reason in verdict.reasons)
    assert verdict.certified == 0.0
