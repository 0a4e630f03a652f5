"""From records to a verdict: score and findings are siblings; neither reads the other."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from agent_litmus import __version__
from agent_litmus.coupling.evidence import RunEvidence, gather
from agent_litmus.coupling.findings import all_findings, certified_share
from agent_litmus.coupling.obligations import obligations
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import Config
from agent_litmus.records.digest import digest_of
from agent_litmus.records.effect import Effect, ProviderReport
from agent_litmus.records.episode import Episode
from agent_litmus.records.probe import Condition, Plan, Suite
from agent_litmus.records.proofs import RunProofs
from agent_litmus.records.report import (
    AgentSection,
    Counts,
    EpisodeSection,
    PlanSection,
    Report,
    SuiteSection,
)
from agent_litmus.records.scorecard import Scorecard
from agent_litmus.records.session import ModelCall, SessionRecord
from agent_litmus.records.verdict import Policy
from agent_litmus.scoring.assess import assess_session
from agent_litmus.scoring.classify import classify_episode
from agent_litmus.scoring.score import score_safety
from agent_litmus.scoring.units import units_for
from agent_litmus.verdict.decide import decide

_REPORT_TEXT = 4000
_REPORT_EFFECTS = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run measured, and what it was measured on."""

    records: tuple[SessionRecord, ...]
    plan: Plan
    suite: Suite
    build: AgentBuild
    provider: ProviderReport
    config: Config
    proofs: RunProofs = field(default_factory=RunProofs)
    """Calibration calls and leak pairs made beside the episodes."""


def judge(measured: Measured, *, run_id: str) -> Report:
    """Score, findings, obligations, verdict, and the report that holds them.

    Raises:
        LitmusScoringError: Suite or harness are defective, so that no score exists.
    """
    episodes = assess(measured)
    policy = effective_policy(measured.config.gate, measured.suite)
    planned = {probe.id for probe in measured.suite.probes if probe.condition is Condition.CONTROL}
    scorecard = score_safety(episodes, planned_controls=planned)
    evidence = run_evidence(measured)
    findings = all_findings(evidence)
    duties = obligations(findings, evidence)
    verdict = decide(
        scorecard,
        findings,
        policy,
        obligations=duties,
        plan_partial=measured.plan.partial,
        mode=measured.suite.mode,
        pin_is_current=None if measured.suite.pin is None else measured.suite.pin == measured.build.digest,
        certified=certified_share(evidence),
    )
    return Report(
        verdict=verdict.kind,
        reason=verdict.reason,
        reasons=verdict.reasons,
        certified=verdict.certified,
        proven=all(duty.discharged for duty in duties),
        warnings=verdict.warnings,
        agent=_agent_section(measured),
        suite=_suite_section(measured.suite),
        plan=_plan_section(measured),
        provider=measured.provider,
        policy=policy,
        score=scorecard.estimates,
        counts=_counts(scorecard),
        findings=findings,
        obligations=duties,
        results_digest=_results_digest(episodes, measured.records, normalised=False),
        normalised_results_digest=_results_digest(episodes, measured.records, normalised=True),
        run_id=run_id,
        tool_version=__version__,
        episodes=tuple(_sections(episodes, measured.records)),
        proofs=measured.proofs,
    )


def effective_policy(policy: Policy, suite: Suite) -> Policy:
    """The policy; a suite that asks directly gets a floor under direct resistance, the one of ``ir`` unless set."""
    direct = any(probe.condition is Condition.DIRECT for probe in suite.probes)
    if not direct or "dr" in policy.floors or "ir" not in policy.floors:
        return policy
    return replace(policy, floors={**policy.floors, "dr": policy.floors["ir"]})


def assess(measured: Measured) -> tuple[Episode, ...]:
    """Every record as an assessed episode."""
    probes = {(probe.id, probe.condition): probe for probe in measured.suite.probes}
    return tuple(
        assess_session(
            record,
            units=units_for(probes[record.key.probe, record.key.condition], injected_text=record.injected_text),
            agent_digest=measured.build.digest,
            suite=measured.suite.id,
            agent=measured.config.agent.name,
        )
        for record in measured.records
    )


def run_evidence(measured: Measured) -> RunEvidence:
    """What the coupling signals read."""
    return gather(
        suite=measured.suite,
        plan=measured.plan,
        build=measured.build,
        sessions=measured.records,
        provider=measured.provider,
        expected_digest=measured.build.digest,
        sampling=measured.config.agent.sampling,
        proofs=measured.proofs,
    )


def _agent_section(measured: Measured) -> AgentSection:
    build, agent = measured.build, measured.config.agent
    return AgentSection(agent.name, build.digest, build.components, build.model, agent.sampling, build.git)


def _suite_section(suite: Suite) -> SuiteSection:
    return SuiteSection(suite.id, suite.version, suite.digest, suite.mode, suite.pin)


def _plan_section(measured: Measured) -> PlanSection:
    plan, run = measured.plan, measured.config.run
    return PlanSection(
        plan.digest, len(plan.episodes), plan.suite_planned, plan.run_seed, run.seeds, run.repeats, plan.partial
    )


def _counts(card: Scorecard) -> Counts:
    return Counts(
        episodes=card.episodes,
        unassessed=card.unassessed,
        cells=card.cells,
        tallies=card.tallies,
        by_category=card.by_category,
        overlays=card.overlays,
        ledger=card.ledger,
        quadrants=card.quadrants,
        validity=card.validity,
    )


def _results_digest(episodes: Iterable[Episode], records: Iterable[SessionRecord], *, normalised: bool) -> str:
    rows = [
        [
            episode.key.probe,
            episode.condition,
            episode.key.seed,
            episode.key.repeat,
            [episode.condition, episode.delivery, episode.host, episode.injected],
            record.normalised_digest if normalised else record.response_digest,
        ]
        for episode, record in zip(episodes, records, strict=True)
    ]
    return digest_of(sorted(rows, key=lambda row: row[:4]))


def _sections(episodes: Iterable[Episode], records: Iterable[SessionRecord]) -> Iterable[EpisodeSection]:
    for episode, record in zip(episodes, records, strict=True):
        label = classify_episode(episode)
        yield EpisodeSection(episode, label.cell, tuple(sorted(label.overlays)), trimmed(record))


def trimmed(record: SessionRecord) -> SessionRecord:
    """The record with long texts cut: the journal keeps them whole."""
    return replace(
        record,
        answer=None if record.answer is None else record.answer[:_REPORT_TEXT],
        effects=tuple(_trim_effect(effect) for effect in record.effects[:_REPORT_EFFECTS]),
        model_calls=tuple(_trim_call(call) for call in record.model_calls),
    )


def _trim_effect(effect: Effect) -> Effect:
    detail = {
        name: value[:_REPORT_TEXT] if isinstance(value, str) else value for name, value in effect.detail.items()
    }
    return replace(effect, detail=detail)


def _trim_call(call: ModelCall) -> ModelCall:
    return replace(
        call, request_text=call.request_text[-_REPORT_TEXT:], response_text=call.response_text[:_REPORT_TEXT]
    )
