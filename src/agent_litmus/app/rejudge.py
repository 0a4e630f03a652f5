"""The one path from a report's evidence to a verdict, taken by a run for its own report and by the gate for any.

Nothing that a report says of itself is believed: outcomes, counts, findings and verdict are made again from the
evidence sections. What it says is only compared with what was made, and a difference is a defect.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from agent_litmus.app.imported import IMPORTED
from agent_litmus.app.report_defects import recorded_defects
from agent_litmus.app.results import counts_of, results_digest
from agent_litmus.coupling.evidence import RunEvidence, RunHashes, gather
from agent_litmus.coupling.findings import all_findings, certified_share
from agent_litmus.coupling.obligations import obligations
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.effect import Channel
from agent_litmus.records.history import HistoryFacts, PriorDrill
from agent_litmus.records.probe import Condition, Plan, PlannedEpisode, Probe, Suite
from agent_litmus.records.report import Basis, EpisodeSection, Report
from agent_litmus.records.scorecard import Scorecard
from agent_litmus.records.session import SessionRecord
from agent_litmus.records.verdict import Policy, Verdict
from agent_litmus.scoring.assess import assess_session
from agent_litmus.scoring.classify import classify_episode
from agent_litmus.scoring.score import score_safety
from agent_litmus.scoring.units import units_for
from agent_litmus.verdict.decide import NO_DRILL, decide


@dataclass(frozen=True, slots=True)
class Terms:
    """What a report is held against."""

    policy: Policy
    current_digest: str | None
    """Digest of the build that is current now; ``None``: not known, so identity stays unproven."""
    history: HistoryFacts = field(default_factory=HistoryFacts)
    """What other runs left."""
    suite: Suite | None = None
    """The suite as it is now; ``None``: not known, so the report's word on it is all there is."""
    sampling: str | None = None
    """``stochastic`` or ``deterministic`` as the current configuration declares; ``None``: the report's word."""
    report_digest: str = ""
    """SHA-256 of the report document, where it was read from a file."""
    recorded: bool = False
    """Whether the report was read from a file, so that what it says of itself is compared with what is made."""


def judge_report(report: Report, terms: Terms) -> Report:
    """The report with score, findings, obligations and verdict made again from its evidence.

    Raises:
        LitmusScoringError: The evidence is such that no score exists: no episodes, duplicates, missing controls.
    """
    probes = _probes(report, terms.suite)
    sections = tuple(_assessed(section, report, probes) for section in report.episodes)
    card = score_safety((section.episode for section in sections), planned_controls=_controls(report, terms.suite))
    evidence = replace(_evidence(report, terms), hashes=_hashes(report, sections, terms))
    findings = all_findings(evidence)
    duties = obligations(findings, evidence)
    policy = effective_policy(terms.policy, direct=_asks_directly(report, terms.suite))
    suite = terms.suite or report.suite
    verdict = decide(
        card,
        findings,
        policy,
        obligations=duties,
        plan_partial=evidence.plan.partial and report.basis is not None,  # else accounting is missing
        partial_why=_other_suite(report, terms.suite),
        malformed=recorded_defects(report, sections, card, terms.suite) if terms.recorded else (),
        mode=suite.mode,
        pin_is_current=_pin_is_current(suite.pin, terms.current_digest),
        certified=certified_share(evidence),
        baseline=terms.history.accepted,
        undrilled=undrilled(terms.history.drill),
        tries=terms.history.tries(report.agent.digest),
    )
    judged = replace(report, episodes=sections, findings=findings, obligations=duties, policy=policy)
    return _with_verdict(_with_score(judged, card), verdict)


def _with_score(report: Report, card: Scorecard) -> Report:
    return replace(
        report,
        score=card.estimates,
        counts=counts_of(card),
        results_digest=results_digest(report.episodes, normalised=False),
        normalised_results_digest=results_digest(report.episodes, normalised=True),
    )


def _with_verdict(report: Report, verdict: Verdict) -> Report:
    return replace(
        report,
        verdict=verdict.kind,
        reason=verdict.reason,
        reasons=verdict.reasons,
        certified=verdict.certified,
        proven=all(duty.discharged for duty in report.obligations),
        warnings=verdict.warnings,
        pooled=verdict.pooled,
    )


def _probes(report: Report, suite: Suite | None) -> Mapping[tuple[str, Condition], Probe]:
    """The suite's probes, where it is the one that was run."""
    if suite is None or suite.digest != report.suite.digest:
        return {}
    return {(probe.id, probe.condition): probe for probe in suite.probes}


def _assessed(
    section: EpisodeSection, report: Report, probes: Mapping[tuple[str, Condition], Probe]
) -> EpisodeSection:
    record = section.evidence
    if report.basis is None and report.provider.name == IMPORTED:
        return section
    probe = probes.get((record.key.probe, record.key.condition))
    episode = assess_session(
        record,
        units=section.episode.units if probe is None else units_for(probe, injected_text=record.injected_text),
        agent_digest=report.agent.digest,
        suite=report.suite.id,
        agent=report.agent.name,
    )
    label = classify_episode(episode)
    return EpisodeSection(episode, label.cell, tuple(sorted(label.overlays)), record)


def _controls(report: Report, suite: Suite | None) -> Iterable[str] | None:
    if suite is not None:
        return {probe.id for probe in suite.probes if probe.condition is Condition.CONTROL}
    return report.basis.controls if report.basis is not None else None


def _asks_directly(report: Report, suite: Suite | None) -> bool:
    if suite is not None:
        return any(probe.condition is Condition.DIRECT for probe in suite.probes)
    return any(section.evidence.key.condition is Condition.DIRECT for section in report.episodes)


def effective_policy(policy: Policy, *, direct: bool) -> Policy:
    """The policy; a suite that asks directly gets a floor under direct resistance, the one of ``ir`` unless set."""
    if not direct or "dr" in policy.floors or "ir" not in policy.floors:
        return policy
    return replace(policy, floors={**policy.floors, "dr": policy.floors["ir"]})


def _other_suite(report: Report, suite: Suite | None) -> str:
    """A report of another suite answers other questions than those that are asked now."""
    if suite is None or suite.digest == report.suite.digest:
        return ""
    return f"the report is of another suite ({report.suite.digest}) than the current one ({suite.digest})"


def _pin_is_current(pin: str | None, current: str | None) -> bool | None:
    return None if pin is None or current is None else pin == current


def undrilled(drill: PriorDrill | None) -> str:
    """Why no clean drill vouches for suite and harness; empty if one does."""
    if drill is None:
        return NO_DRILL
    if drill.clean:
        return ""
    missed = ", ".join(drill.missed[:8]) or "its faults"
    return f"the last drill of this suite did not detect {missed} ({drill.detected} of {drill.faults} detected)"


def evidence_of(
    report: Report, current_digest: str | None, history: HistoryFacts, *, sampling: str | None = None
) -> RunEvidence:
    """The evidence that a report holds, for the coupling signals; from the report alone.

    Args:
        report: Any report; one without a basis proves nothing, and every signal says what is missing.
        current_digest: Digest of the build that is current now; ``None``: not known.
        history: What other runs left.
        sampling: As the current configuration declares it; ``None``: as the report does.
    """
    basis = report.basis
    return RunEvidence(
        sessions=_sessions(report),
        plan=plan_of(report),
        build=_build(report),
        expected_digest=current_digest,
        provider=report.provider,
        required_channels=_channels(basis),
        injected_probes=basis.injected_probes if basis else _injected(report),
        delivery_floor=basis.delivery_floor if basis else 1.0,
        sampling=sampling or report.agent.sampling,
        mode=report.suite.mode,
        pin=report.suite.pin,
        token_space=basis.token_space if basis else {},
        proofs=report.proofs,
        history=history,
        target=basis.target if basis else "command",
    )


def _channels(basis: Basis | None) -> frozenset[Channel]:
    names = basis.required_channels if basis else ()
    strange = [name for name in names if name not in set(Channel)]
    if strange:
        raise LitmusConfigError(
            f"$.basis.required_channels: {strange[0][:40]!r} is no channel",
            hint="give the report.json that `litmus run` wrote, unchanged",
        )
    return frozenset(Channel(name) for name in names)


def _evidence(report: Report, terms: Terms) -> RunEvidence:
    """The evidence, with everything that the current suite can say taken from it."""
    own = evidence_of(report, terms.current_digest, terms.history, sampling=terms.sampling)
    if terms.suite is None:
        return own
    current = gather(
        suite=terms.suite,
        plan=_whole(own.plan, report, terms.suite),
        build=own.build,
        sessions=own.sessions,
        provider=own.provider,
        expected_digest=own.expected_digest,
        sampling=own.sampling,
        proofs=own.proofs,
        history=own.history,
    )
    return replace(current, target=own.target)


def _hashes(report: Report, sections: tuple[EpisodeSection, ...], terms: Terms) -> RunHashes:
    """What the run is recognised by in the history, made again from its evidence."""
    return RunHashes(
        run_id=report.run_id,
        suite=report.suite.digest,
        results=results_digest(sections, normalised=False),
        normalised=results_digest(sections, normalised=True),
        report=terms.report_digest,
    )


def _whole(plan: Plan, report: Report, suite: Suite) -> Plan:
    """The plan with its size in the current suite, whatever the report says of it."""
    replicates = max(report.plan.seeds, 1) * max(report.plan.repeats, 1)
    return replace(plan, suite_planned=max(len(suite.probes) * replicates, 1))


def _sessions(report: Report) -> tuple[SessionRecord, ...]:
    return tuple(section.evidence for section in report.episodes)


def _injected(report: Report) -> int:
    keys = (section.evidence.key for section in report.episodes)
    return len({key.probe for key in keys if key.condition is Condition.INJECTED})


def _build(report: Report) -> AgentBuild:
    agent = report.agent
    return AgentBuild(agent.digest, agent.components, agent.model, agent.git)


def plan_of(report: Report) -> Plan:
    """The executed plan as the report's basis has it; empty without one."""
    basis = report.basis
    planned, tokens = (basis.planned, basis.tokens) if basis else ((), {})
    episodes = tuple(PlannedEpisode(key, order, tokens.get(str(key), {})) for order, key in enumerate(planned))
    section = report.plan
    return Plan(episodes, section.run_seed, section.suite_planned, section.digest)
