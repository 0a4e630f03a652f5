"""Stale report: the results that are judged are those of an earlier run, or of a run for another build."""

from collections import Counter

from agent_litmus.coupling.coincidence import EXACT_BELOW, chance_of
from agent_litmus.coupling.evidence import PINNED, RunEvidence
from agent_litmus.coupling.tokens import token_views
from agent_litmus.records.finding import Finding, FindingState, Strength
from agent_litmus.records.history import PriorRun

SIGNAL = "stale_report"
_REMEDY = "make the report again from the current build: litmus run -c litmus.toml"


def stale_report(evidence: RunEvidence) -> Finding:
    """Suite, results and report against the history, by three hashes that are never mixed.

    - The *suite* hash only says which earlier runs can be compared; being equal is no signal.
    - The *report* (by its hash, or the run by its id) stands in the history for another build than the current one:
      exact ALARM. Its own row under its own build is itself and is skipped.
    - The *raw results* of another run are the same, session tokens included: exact ALARM, because every run draws
      its tokens anew. It counts only where outputs carry tokens at all; else it is no more than the next.
    - The *normalised results* are the same and the build is another: WEAK, because a changed comment is honest.
    """
    if evidence.mode == PINNED:
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "a pinned suite expects the results it had before")
    hashes, runs = evidence.hashes, evidence.history.runs
    if not runs:
        why = evidence.history.why if runs is None else "no earlier run of this suite is on record"
        return Finding(SIGNAL, FindingState.MISSING, f"nothing to compare with: {why}")
    if not hashes.run_id or not hashes.results or not hashes.suite:
        return Finding(SIGNAL, FindingState.MISSING, "the run does not say by which hashes it can be recognised")
    comparable = tuple(run for run in runs if run.suite_digest == hashes.suite)
    if not comparable:
        return Finding(SIGNAL, FindingState.MISSING, "no earlier run of this version of the suite is on record")
    return _of_another_build(evidence, comparable) or _replayed(evidence, comparable)


def _of_another_build(evidence: RunEvidence, runs: tuple[PriorRun, ...]) -> Finding | None:
    for run in runs:
        if _itself(evidence, run) and run.agent_digest != evidence.current:
            seen = (
                f"this report is run {run.run_id!a} of build {run.agent_digest or '(empty)'}, "
                f"the build in question is {evidence.current or '(empty)'}"
            )
            return Finding(SIGNAL, FindingState.ALARM, seen, Strength.EXACT, remedy=_REMEDY)
    return None


def _itself(evidence: RunEvidence, run: PriorRun) -> bool:
    hashes = evidence.hashes
    return run.run_id == hashes.run_id or (bool(hashes.report) and run.report_digest == hashes.report)


def _replayed(evidence: RunEvidence, runs: tuple[PriorRun, ...]) -> Finding:
    hashes = evidence.hashes
    others = tuple(run for run in runs if not _itself(evidence, run))
    if not others:
        return Finding(SIGNAL, FindingState.MISSING, "nothing to compare with: this run alone is on record")
    raw = next((run for run in others if run.results_digest == hashes.results), None)
    if raw is not None and _coincidence(evidence) <= EXACT_BELOW:
        seen = f"results and session tokens are those of run {raw.run_id!a} of build {raw.agent_digest}"
        return Finding(SIGNAL, FindingState.ALARM, seen, Strength.EXACT, remedy=_REMEDY)
    alike = [r for r in others if r.normalised_results_digest == hashes.normalised]
    of_others = raw or next((r for r in alike if r.agent_digest != evidence.current), None)
    if of_others is not None:
        seen = (
            f"results without tokens are those of run {of_others.run_id!a} of build {of_others.agent_digest}; a "
            "change that does not show in behaviour does that too"
        )
        return Finding(SIGNAL, FindingState.WEAK, seen)
    return Finding(
        SIGNAL, FindingState.CLEAR, f"results differ from those of {len(others)} earlier runs", number=0.0
    )


def _coincidence(evidence: RunEvidence) -> float:
    """Chance that the tokens in the outputs were drawn twice: one in its space for every distinct value.

    A stale value counts where one session alone carries it. What an agent says in several sessions (a telephone
    number that looks like a token) it may well say in every run.
    """
    own = {(s.slot, s.value) for r in evidence.sessions for s in r.sightings if s.own and s.where != "request"}
    carried = Counter(token for view in token_views(evidence) for token in view.stale)
    chance = 1.0
    for slot, _ in own | {token for token, times in carried.items() if times == 1}:
        chance *= chance_of(1, evidence.token_space.get(slot, 0))
    return chance
