"""Suite, results and report hashes against the history."""

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.coupling.simulated import AGENTS, OTHER, Agent, each, prior_of, simulate, with_history

from agent_litmus.coupling.evidence import RunEvidence, RunHashes
from agent_litmus.coupling.stale_report import stale_report
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.history import HistoryFacts, PriorRun
from agent_litmus.records.session import TokenSighting


@pytest.fixture
def run() -> RunEvidence:
    return simulate(AGENTS[0], random.Random(1))


@pytest.fixture
def earlier() -> RunEvidence:
    return simulate(AGENTS[0], random.Random(2), build=OTHER)


def against(evidence: RunEvidence, *runs: PriorRun) -> RunEvidence:
    return replace(evidence, history=HistoryFacts(runs, ""))


def test_results_of_its_own_are_clear(run: RunEvidence, earlier: RunEvidence) -> None:
    finding = stale_report(with_history(run, earlier))
    assert (finding.state, finding.discharges) == (FindingState.CLEAR, ())
    assert "1 earlier runs" in finding.seen


@pytest.mark.parametrize(
    "history", [HistoryFacts(), HistoryFacts((), ""), HistoryFacts(None, "it was restored from a cache")]
)
def test_no_usable_history_is_missing_with_the_reason(run: RunEvidence, history: HistoryFacts) -> None:
    finding = stale_report(replace(run, history=history))
    assert finding.state is FindingState.MISSING
    assert (history.why or "no earlier run") in finding.seen


def test_a_history_of_other_suites_compares_with_nothing(run: RunEvidence, earlier: RunEvidence) -> None:
    other = replace(prior_of(earlier), suite_digest=sha256_of(b"x"), results_digest=run.hashes.results)
    assert stale_report(against(run, other)).state is FindingState.MISSING


def test_a_run_that_cannot_be_recognised_is_missing(run: RunEvidence, earlier: RunEvidence) -> None:
    assert stale_report(replace(with_history(run, earlier), hashes=RunHashes())).state is FindingState.MISSING


def test_its_own_row_is_never_compared_with_itself(run: RunEvidence, earlier: RunEvidence) -> None:
    alone = stale_report(with_history(run, run))
    assert alone.state is FindingState.MISSING
    assert "this run alone" in alone.seen
    assert stale_report(with_history(run, earlier, run)).state is FindingState.CLEAR


@pytest.mark.parametrize("build", ["another build", "same build"])
def test_raw_results_of_another_run_are_an_exact_alarm(run: RunEvidence, earlier: RunEvidence, build: str) -> None:
    """A replay carries the tokens of the run it was recorded in, which are nobody's now."""
    replayed = each(run, lambda s: replace(s, sightings=tuple(stale(t) for t in s.sightings)))
    twin = replace(prior_of(earlier), results_digest=replayed.hashes.results)
    if build == "same build":
        twin = replace(twin, agent_digest=run.build.digest)
    finding = stale_report(against(replayed, twin))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert twin.run_id in finding.seen
    assert finding.remedy


def stale(sighting: TokenSighting) -> TokenSighting:
    return sighting if sighting.where == "request" else replace(sighting, own=False, given=False)


def test_own_tokens_that_were_drawn_twice_are_an_exact_alarm_too(run: RunEvidence, earlier: RunEvidence) -> None:
    twin = replace(prior_of(earlier), results_digest=run.hashes.results)
    assert stale_report(against(run, twin)).strength is Strength.EXACT


def test_without_tokens_in_outputs_equal_raw_results_are_weak(earlier: RunEvidence) -> None:
    silent = simulate(Agent("silent", phrases=1, echoes=False), random.Random(3))
    twin = replace(prior_of(earlier), results_digest=silent.hashes.results)
    assert stale_report(against(silent, twin)).state is FindingState.WEAK


def test_what_an_agent_says_in_every_session_is_no_token_of_a_run(earlier: RunEvidence) -> None:
    """A telephone number may look like a token, and may stand in every answer of every run."""
    silent = simulate(Agent("silent", phrases=1, echoes=False), random.Random(3))
    phone = TokenSighting("ticket", "T-1234", "answer", own=False, given=False)
    constant = each(silent, lambda s: replace(s, sightings=(*s.sightings, phone)))
    twin = replace(prior_of(earlier), results_digest=constant.hashes.results)
    assert stale_report(against(constant, twin)).state is FindingState.WEAK


def test_one_guessable_token_alone_is_no_exact_proof(earlier: RunEvidence) -> None:
    run = simulate(Agent("silent", phrases=1, echoes=False), random.Random(3))
    first, *rest = run.sessions
    own = TokenSighting("ticket", "T-1", "answer", own=True, given=True)
    one = replace(run, sessions=(replace(first, sightings=(own,)), *rest))
    twin = replace(prior_of(earlier), results_digest=run.hashes.results)
    assert stale_report(against(one, twin)).state is FindingState.WEAK
    unguessable = replace(one, token_space={"ticket": 2**128})
    assert stale_report(against(unguessable, twin)).state is FindingState.ALARM


def test_equal_results_without_tokens_are_weak_where_the_build_is_another(
    run: RunEvidence, earlier: RunEvidence
) -> None:
    twin = replace(prior_of(earlier), normalised_results_digest=run.hashes.normalised)
    finding = stale_report(against(run, twin))
    assert (finding.state, finding.strength) == (FindingState.WEAK, Strength.WEAK)
    again = replace(twin, agent_digest=run.build.digest)
    assert stale_report(against(run, again)).state is FindingState.CLEAR


def test_a_report_on_record_for_another_build_is_an_exact_alarm(run: RunEvidence) -> None:
    """The gate is told of a new build, and given the report of the old one, which stands in the history."""
    finding = stale_report(replace(with_history(run, run), expected_digest=OTHER))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert OTHER in finding.seen


def test_a_report_is_recognised_by_its_hash_under_any_run_id(run: RunEvidence) -> None:
    row = replace(
        prior_of(run),
        run_id="renamed",
        report_digest=sha256_of(b"report"),
        agent_digest=OTHER,
        results_digest="",
    )
    told = replace(run, hashes=replace(run.hashes, report=sha256_of(b"report")))
    assert stale_report(against(told, row)).state is FindingState.ALARM
    assert stale_report(against(run, replace(row, report_digest=""))).state is not FindingState.ALARM


@pytest.mark.parametrize(("changed", "current"), [({"mode": "pinned", "pin": OTHER}, OTHER), ({}, None)])
def test_the_build_in_question_is_the_pin_or_the_current_one(
    run: RunEvidence, changed: dict[str, Any], current: str | None
) -> None:
    assert replace(run, **changed).current == (current or run.build.digest)


def test_a_pinned_suite_expects_its_results(run: RunEvidence, earlier: RunEvidence) -> None:
    twin = replace(prior_of(earlier), results_digest=run.hashes.results)
    finding = stale_report(replace(against(run, twin), mode="pinned", pin=run.build.digest))
    assert finding.state is FindingState.NOT_APPLICABLE
