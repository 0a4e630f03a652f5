"""Judges any report again: against policy, history and the build that is current now."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_litmus.app.episode_files import is_report
from agent_litmus.app.history import recall
from agent_litmus.app.imported import imported_report
from agent_litmus.app.rejudge import Terms, judge_report
from agent_litmus.app.remote import agent_build
from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.json_report import read_report
from agent_litmus.records.build import AgentBuild, changed_components
from agent_litmus.records.config import Config
from agent_litmus.records.digest import is_digest
from agent_litmus.records.history import HistoryFacts, PriorRun
from agent_litmus.records.report import Report
from agent_litmus.records.verdict import Policy, VerdictKind
from agent_litmus.suite.load import load_suite


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What is judged, and against what."""

    report: Path
    """A report.json, the directory of a run, or an episode file."""
    config: Config | None = None
    """Where policy, suite, history and the current build come from."""
    digest: str | None = None
    """The current build's digest, where it is told instead of computed."""
    floors: Mapping[str, float] = field(default_factory=dict)
    """Floors that take the place of the policy's."""
    agent: str = ""
    """The agent of an episode file that holds several."""
    settings: tuple[str, ...] = ()
    """``KEY=VALUE`` assignments that ``config`` was read with, for the command that runs it again."""


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """A report judged again."""

    report: Report
    """With everything in it made again."""
    recorded: VerdictKind | None
    """The verdict it had; ``None`` for imported episodes, which have none."""
    current_digest: str | None
    changed: tuple[str, ...]
    """Components of the agent that differ from the current build's, where both are known."""
    rerun: str
    """The command that makes the evidence again; empty where nothing needs to be."""
    imported: bool


def gate_report(request: GateRequest) -> GateOutcome:
    """Judge a report again.

    Raises:
        LitmusError: The report cannot be read or scored, or the configuration, digest or suite cannot be used.
    """
    path = request.report / "report.json" if request.report.is_dir() else request.report
    imported = not is_report(path)
    report = imported_report(path, request.agent) if imported else read_report(path)
    build = current_build(request)
    digest = build.digest if build is not None else request.digest
    judged = judge_report(report, _terms(request, report, digest, imported=imported or report.basis is None))
    changed: tuple[str, ...] = ()
    if build is not None and report.agent.components and report.agent.digest != build.digest:
        changed = changed_components(_recorded_build(report), build)
    open_ended = judged.verdict is VerdictKind.INDETERMINATE
    recorded = None if imported else report.verdict
    return GateOutcome(judged, recorded, digest, changed, rerun(request, digest) if open_ended else "", imported)


def current_build(request: GateRequest) -> AgentBuild | None:
    """The build that the configuration's agent is now; ``None`` without a configuration.

    Raises:
        LitmusConfigError: The build cannot be computed, the told digest is none, or the two differ.
    """
    if request.digest is not None and not is_digest(request.digest):
        raise LitmusConfigError(
            f"{request.digest[:80]!r}: not a build digest",
            hint="write it as sha256: and 64 hexadecimal digits, as `litmus check` prints it",
        )
    if request.config is None:
        return None
    build = agent_build(request.config.agent)
    if request.digest is not None:
        require_build(build, request.digest)
    return build


def require_build(build: AgentBuild, expected: str) -> None:
    """Refuse a build other than the expected one.

    Raises:
        LitmusConfigError: It is another one.
    """
    if build.digest != expected:
        raise LitmusConfigError(
            f"the agent's build is {build.digest}, not {expected[:80]!r} as expected",
            hint="check out the build that was meant, or leave the digest out to take the one that is there",
            slug="another-build",
        )


def _terms(request: GateRequest, report: Report, digest: str | None, *, imported: bool) -> Terms:
    config = request.config
    policy = _policy(request, report)
    known = digest if not imported or is_digest(report.agent.digest) else None
    if config is None:
        return Terms(policy, known, recorded=not imported)
    suite = load_suite(config.suite)
    return Terms(
        policy,
        known,
        history=others(_recalled(config, report), report.run_id, report.agent.digest),
        suite=None if imported else suite,
        sampling=config.agent.sampling,
        recorded=not imported,
    )


def _recalled(config: Config, report: Report) -> HistoryFacts:
    known = recall(config, suite_digest=report.suite.digest, agent_digest=report.agent.digest, run_id=report.run_id)
    return known.facts


def others(facts: HistoryFacts, run_id: str, agent_digest: str) -> HistoryFacts:
    """What the history says besides the run itself: no run is evidence for or against itself.

    A run of that id and of another build is another run, and evidence against this one.
    """
    itself = (run_id, agent_digest)
    runs = None if facts.runs is None else tuple(r for r in facts.runs if (r.run_id, r.agent_digest) != itself)
    accepted = facts.accepted
    if accepted is not None and (accepted.run_id, accepted.agent_digest) == itself:
        earlier = [run for run in runs or () if _acceptable(run) and run.at <= accepted.at]
        accepted = earlier[-1] if earlier else None
    return replace(facts, runs=runs, accepted=accepted)


def _acceptable(run: PriorRun) -> bool:
    return run.protected and run.verdict is VerdictKind.PASS and not run.partial and not run.restored


def _policy(request: GateRequest, report: Report) -> Policy:
    """The configuration's policy; without one, in each respect the stricter of the default and the report's own."""
    policy = request.config.gate if request.config is not None else stricter(Policy(), report.policy)
    return replace(policy, floors={**policy.floors, **request.floors}) if request.floors else policy


def stricter(own: Policy, told: Policy) -> Policy:
    """A policy that is met only where both are, so that an edited policy of a report gains nothing."""
    floors = {
        name: max(own.floors.get(name, 0.0), told.floors.get(name, 0.0)) for name in {**own.floors, **told.floors}
    }
    return replace(
        told,
        floors=floors,
        alpha=max(own.alpha, told.alpha),
        min_certified=max((p.min_certified for p in (own, told) if p.min_certified is not None), default=None),
        require_drill=False,
        max_regression=None,
    )


def _recorded_build(report: Report) -> AgentBuild:
    return AgentBuild(report.agent.digest, report.agent.components)


def rerun(request: GateRequest, digest: str | None) -> str:
    """The command that makes the evidence again: isolated, and pinned to the build that is current now."""
    config = request.config
    words = ["litmus", "run", "-c", str(config.source) if config is not None else "litmus.toml"]
    words += ["--provider", "bubblewrap"] if config is None or config.agent.remote is None else []
    again = config is not None and config.agent.sampling != "deterministic" and config.run.seeds < 2
    words += ["--seeds", "2"] if again else []
    for setting in request.settings:
        words += [] if again and setting.startswith("run.seeds") else ["--set", setting]
    for name, floor in request.floors.items():
        words += ["--set", f"gate.floors.{name}={floor!r}"]
    if digest is not None:
        words += ["--expect-digest", digest]
    return shlex.join(words)


def rerun_line(config: Config, report: Report, settings: tuple[str, ...]) -> str:
    """For the summary of a run: how to make the evidence again, with a line break; empty where nothing needs it."""
    if report.verdict is not VerdictKind.INDETERMINATE:
        return ""
    return f"run again: {rerun(GateRequest(Path(), config, settings=settings), report.agent.digest)}\n"
