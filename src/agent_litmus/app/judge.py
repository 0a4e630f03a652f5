"""From what a run measured to its report: a draft with the evidence in it, judged as any report is judged."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from agent_litmus import __version__
from agent_litmus.app.rejudge import Terms, judge_report
from agent_litmus.coupling.evidence import COMMAND, REMOTE
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.channels import required_channels
from agent_litmus.records.config import Config
from agent_litmus.records.effect import Effect, ProviderReport
from agent_litmus.records.episode import Cell, Episode, HostOutcome, InjectedOutcome
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.probe import Condition, Plan, Suite
from agent_litmus.records.proofs import RunProofs
from agent_litmus.records.report import (
    AgentSection,
    Basis,
    Counts,
    EpisodeSection,
    PlanSection,
    Report,
    SuiteSection,
)
from agent_litmus.records.session import Delivery, ModelCall, SessionRecord
from agent_litmus.records.verdict import Policy, VerdictKind
from agent_litmus.scoring.words import MAX_CHARS, clip
from agent_litmus.suite.tokens import space

_REPORT_TEXT = 8000
_REPORT_DETAIL = 4000
_REPORT_EFFECTS = 200
_NO_COUNTS = Counts(0, 0, {}, {}, {}, {}, {}, {}, ())


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


def judge(
    measured: Measured,
    *,
    run_id: str,
    history: HistoryFacts | None = None,
) -> Report:
    """Score, findings, obligations, verdict, and the report that holds them.

    Judged is what the report will hold, not what it leaves out, so that judging the report again gives the same.

    Args:
        measured: What the run measured.
        run_id: Id of the run.
        history: What earlier runs left; ``None``: nothing is known of them.

    Raises:
        LitmusScoringError: Suite or harness are defective, so that no score exists.
    """
    terms = Terms(
        policy=measured.config.gate,
        current_digest=measured.build.digest,
        history=history or HistoryFacts(),
        suite=measured.suite,
        sampling=measured.config.agent.sampling,
    )
    return judge_report(draft_report(measured, run_id=run_id), terms)


def draft_report(measured: Measured, *, run_id: str) -> Report:
    """The report of a run before it is judged: its evidence, and nothing that judging fills in."""
    return Report(
        verdict=VerdictKind.INDETERMINATE,
        reason="not judged",
        reasons=(),
        certified=None,
        proven=False,
        warnings=(),
        agent=_agent_section(measured),
        suite=suite_section(measured.suite),
        plan=_plan_section(measured),
        provider=measured.provider,
        policy=Policy(),
        score={},
        counts=_NO_COUNTS,
        findings=(),
        obligations=(),
        results_digest="",
        normalised_results_digest="",
        run_id=run_id,
        tool_version=__version__,
        episodes=tuple(_sections(measured)),
        proofs=measured.proofs,
        basis=basis_of(measured.suite, measured.plan, target_kind(measured.config)),
    )


def target_kind(config: Config) -> str:
    """Kind of the configured agent."""
    return COMMAND if config.agent.remote is None else REMOTE


def basis_of(suite: Suite, plan: Plan, target: str = COMMAND) -> Basis:
    """What judging needs of suite and plan."""
    checks = [check for probe in suite.probes for check in probe.host.checks]
    checks += [check for probe in suite.probes if probe.injection for check in probe.injection.forbidden]
    return Basis(
        planned=tuple(episode.key for episode in plan.episodes),
        tokens={str(episode.key): dict(episode.tokens) for episode in plan.episodes},
        required_channels=tuple(sorted(required_channels(checks))),
        injected_probes=sum(probe.condition is Condition.INJECTED for probe in suite.probes),
        delivery_floor=suite.delivery_floor,
        token_space={slot: space(alphabet) for slot, alphabet in suite.tokens.items()},
        controls=tuple(sorted(probe.id for probe in suite.probes if probe.condition is Condition.CONTROL)),
        target=target,
    )


def _agent_section(measured: Measured) -> AgentSection:
    build, agent = measured.build, measured.config.agent
    return AgentSection(agent.name, build.digest, build.components, build.model, agent.sampling, build.git)


def suite_section(suite: Suite) -> SuiteSection:
    """The suite as a report names it."""
    return SuiteSection(suite.id, suite.version, suite.digest, suite.mode, suite.pin)


def _plan_section(measured: Measured) -> PlanSection:
    plan, run = measured.plan, measured.config.run
    return PlanSection(
        plan.digest, len(plan.episodes), plan.suite_planned, plan.run_seed, run.seeds, run.repeats, plan.partial
    )


def _sections(measured: Measured) -> Iterator[EpisodeSection]:
    """Every record as evidence; judging fills in what became of it."""
    for record in measured.records:
        blank = Episode(
            key=record.key,
            agent_digest=measured.build.digest,
            host_id=record.host_id,
            delivery=Delivery.UNKNOWN,
            host=HostOutcome.UNASSESSED,
            injected=InjectedOutcome.UNASSESSED,
        )
        yield EpisodeSection(blank, Cell.UNASSESSED, (), trimmed(record))


def trimmed(record: SessionRecord) -> SessionRecord:
    """The record with long texts cut: the journal keeps them whole.

    Answers are cut exactly as scoring cuts them, so nothing that it reads is lost.
    """
    return replace(
        record,
        answer=None if record.answer is None else clip(record.answer, MAX_CHARS),
        effects=tuple(_trim_effect(effect) for effect in record.effects[:_REPORT_EFFECTS]),
        model_calls=tuple(_trim_call(call) for call in record.model_calls),
    )


def _trim_effect(effect: Effect) -> Effect:
    detail = {
        name: value[:_REPORT_DETAIL] if isinstance(value, str) else value for name, value in effect.detail.items()
    }
    return replace(effect, detail=detail)


def _trim_call(call: ModelCall) -> ModelCall:
    return replace(
        call,
        request_text=call.request_text[-_REPORT_DETAIL:],
        response_text=clip(call.response_text, _REPORT_TEXT),
    )
