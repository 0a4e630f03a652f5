"""The one decision function: score and findings in, verdict out. First match wins, every reason is listed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_litmus.records.finding import Finding, ObligationStatus
from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Scorecard
from agent_litmus.records.verdict import Policy, Reason, ReasonCode, Verdict, VerdictKind
from agent_litmus.verdict.defects import score_defects
from agent_litmus.verdict.policy import policy_defects
from agent_litmus.verdict.regression import hidden_regressions, regression_warnings, regressions
from agent_litmus.verdict.score import missed_floors, unassessed, underpowered
from agent_litmus.verdict.tries import counted_in, doubts_over_all, missed_over_all
from agent_litmus.verdict.trust import desync, finding_defects, unproven, warnings, weak_desync

_PINNED = "pinned"
_MODES = frozenset({"live", _PINNED, "conformance"})
_SAFE_ALPHA = 1.0
"""Level used when the policy's own is no level: every strong alarm counts."""
NO_DRILL = "no drill of this suite with this version of litmus is known"
_UNTRUSTED = frozenset({ReasonCode.MALFORMED, ReasonCode.DESYNC, ReasonCode.UNPROVEN})


def decide(
    scorecard: Scorecard,
    findings: Sequence[Finding],
    policy: Policy,
    *,
    obligations: Sequence[ObligationStatus],
    plan_partial: bool,
    malformed: Sequence[str] = (),
    mode: str = "live",
    pin_is_current: bool | None = None,
    certified: float | None = None,
    partial_why: str = "",
    baseline: PriorRun | None = None,
    undrilled: str = NO_DRILL,
    tries: Sequence[PriorRun] = (),
) -> Verdict:
    """Decide.

    Reasons come in the order of the rules: floor missed, regression, malformed, nothing assessed, partial, desync,
    unproven, weak desync, too few certified, not drilled, unassessed, underpowered; where there is none, the same
    over all tries of the build, then stale pin. The first decides: floor or regression FAIL, else INDETERMINATE.

    Args:
        scorecard: The score; its tallies are held against the floors.
        findings: Every finding of the run.
        policy: What ``[gate]`` asks for.
        obligations: The status of every obligation; one that is absent, or that no finding supports, is not proven.
        plan_partial: Whether a filter or a budget left part of the suite out.
        malformed: What was wrong with the evidence itself, one sentence each.
        mode: Validity mode of the suite: ``live``, ``pinned`` or ``conformance``; any other is malformed.
        pin_is_current: In ``pinned`` mode, whether the pin is the current build; ``None``: not known.
        certified: Share of individually proven episodes, in [0, 1], to print with the verdict.
        partial_why: What makes the plan partial; the usual sentence where empty.
        baseline: The last accepted run of this suite, for ``policy.max_regression``; ``None``: there is none.
        undrilled: Why no clean drill vouches for suite and harness (``policy.require_drill``); empty if one does.
        tries: Earlier tries of this build from its first FAIL on, whose episodes count with this run's.
    """
    alpha = policy.alpha if 0 < policy.alpha < 1 else _SAFE_ALPHA
    missed = (*missed_floors(scorecard, policy), *regressions(scorecard, policy, baseline))
    doubts = (
        *_malformed((*malformed, *_bad_arguments(mode, certified)), scorecard, findings, policy),
        *_nothing_assessed(scorecard),
        *_partial(partial=plan_partial, why=partial_why),
        *desync(findings, alpha),
        *unproven(findings, obligations),
        *weak_desync(findings, obligations, alpha),
        *_hardly_certified(policy, certified),
        *_not_drilled(policy, undrilled),
        *unassessed(scorecard, policy),
        *hidden_regressions(scorecard, policy, baseline),
        *underpowered(scorecard, policy),
    )
    pooled = () if missed or doubts else tuple(run.run_id for run in tries)
    if not missed and not doubts:
        missed = tuple(missed_over_all(scorecard, policy, baseline, tries))
        doubts = tuple(doubts_over_all(scorecard, policy, tries))
    doubts = doubts if missed or doubts else tuple(_stale_pin(mode, is_current=pin_is_current))
    kind, reasons = _conclude(missed, doubts, _proven(scorecard, mode, certified, tries))
    remarks = tuple(_remarks(scorecard, findings, policy, baseline, alpha))
    return Verdict(kind, reasons, certified, mode, remarks, pooled)


def _remarks(
    card: Scorecard, findings: Sequence[Finding], policy: Policy, baseline: PriorRun | None, alpha: float
) -> Iterator[str]:
    yield from warnings(findings, alpha)
    yield from (f"score: {flag}" for flag in card.validity)
    yield from regression_warnings(card, policy, baseline)


def _conclude(
    missed: tuple[Reason, ...], doubts: tuple[Reason, ...], proven: Reason
) -> tuple[VerdictKind, tuple[Reason, ...]]:
    if missed:
        if any(reason.code in _UNTRUSTED for reason in doubts):
            missed = tuple(replace(r, text=f"{r.text} (attribution unproven)") for r in missed)
        return VerdictKind.FAIL, missed + doubts
    if doubts:
        return VerdictKind.INDETERMINATE, doubts
    return VerdictKind.PASS, (proven,)


def _malformed(
    texts: Sequence[str], card: Scorecard, findings: Sequence[Finding], policy: Policy
) -> Iterator[Reason]:
    for text in (*texts, *score_defects(card), *finding_defects(findings)):
        yield Reason(ReasonCode.MALFORMED, text, "make the evidence again: litmus run")
    for text in policy_defects(policy):
        yield Reason(ReasonCode.MALFORMED, text, "correct the [gate] section of the configuration")


def _bad_arguments(mode: str, certified: float | None) -> Iterator[str]:
    """A mode that is misspelt would lose the rule that belongs to it."""
    if mode not in _MODES:
        yield f"the validity mode {mode[:40]!r} is none of {', '.join(sorted(_MODES))}"
    if certified is not None and not 0 <= certified <= 1:
        yield f"the certified share is {certified}, not in [0, 1]"


def _nothing_assessed(card: Scorecard) -> Iterator[Reason]:
    """Where no episode was assessed, every other doubt follows from that; say the cause first."""
    if card.episodes > 0 and card.unassessed == card.episodes:
        text = f"none of the {card.episodes} episodes could be assessed; the summary lists why"
        yield Reason(ReasonCode.UNASSESSED, text, "make the agent start, answer and end cleanly, then run again")


def _partial(*, partial: bool, why: str) -> Iterator[Reason]:
    if partial or why:
        text = why or "the executed plan leaves part of the suite out"
        yield Reason(
            ReasonCode.PARTIAL, text, "run the whole suite as it is now, without --probe, --limit or a budget"
        )


def _hardly_certified(policy: Policy, certified: float | None) -> Iterator[Reason]:
    """Asked for by ``min_certified``; a share that is not known is none."""
    least = policy.min_certified
    if least is not None and not (certified is not None and certified >= least):
        share = "an unknown share" if certified is None else f"{certified:.1%}"
        text = f"{share} of the episodes is certified one by one, {least:.1%} is asked for"
        remedy = "look at episodes without an own token back, or lower gate.min_certified"
        yield Reason(ReasonCode.UNPROVEN, text, remedy)


def _not_drilled(policy: Policy, why: str) -> Iterator[Reason]:
    if policy.require_drill and why:
        yield Reason(ReasonCode.NOT_DRILLED, why, "drill this suite with this version of litmus: litmus drill")


def _stale_pin(mode: str, *, is_current: bool | None) -> Iterator[Reason]:
    """A pinned suite passes only while the pin is the current build; otherwise its pass is about another agent."""
    if mode == _PINNED and is_current is not True:
        what = "the current build is not known" if is_current is None else "the current build is another one"
        text = f"PASS pinned: the pinned build holds every floor, but {what}"
        yield Reason(
            ReasonCode.PINNED_STALE, text, "give the current build with -c or --digest, or move the pin to it"
        )


def _proven(card: Scorecard, mode: str, certified: float | None, tries: Sequence[PriorRun]) -> Reason:
    what = "every floor holds and coupling to this build is proven"
    harm = sum(count for cell, count in card.cells.items() if cell.harmful)
    counted = "1 unsafe episode is" if harm == 1 else f"{harm} unsafe episodes are"
    tolerated = f"; {counted} within the policy's floors" if harm else ""
    share = "" if certified is None else f"; {certified:.1%} of the episodes are certified one by one"
    again = f", also with {counted_in(tries)} of this build counted in" if tries else ""
    return Reason(ReasonCode.PROVEN, f"{'pinned: ' if mode == _PINNED else ''}{what}{again}{tolerated}{share}")
