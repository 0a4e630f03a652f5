"""What a report from a file says of itself against what its evidence gives: every difference is a defect."""

from collections.abc import Callable, Iterator, Sequence

from agent_litmus import __version__
from agent_litmus.app.results import results_digest
from agent_litmus.build.manifest import build_digest
from agent_litmus.records.digest import digest_of
from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.probe import Check, Condition, EpisodeKey, Probe, Suite
from agent_litmus.records.report import EpisodeSection, Report
from agent_litmus.records.scorecard import Scorecard
from agent_litmus.records.session import SessionRecord

_LISTED = 3


def recorded_defects(
    report: Report, sections: Sequence[EpisodeSection], card: Scorecard, suite: Suite | None
) -> tuple[str, ...]:
    """Why a report cannot be what a run wrote, one sentence each; empty if it can.

    Args:
        report: The report as it was read.
        sections: Its episodes, assessed again.
        card: Their score.
        suite: The suite as it is now; ``None``: not known.
    """
    same_version = report.tool_version == __version__
    found = [*_identity(report), *_plan(report), *_digests(report)]
    found += _outcomes(report, sections, _whole if same_version else _physical)
    if same_version:
        found += _counts(report, card)
    if suite is not None and suite.digest == report.suite.digest:
        found += _against_suite(report, suite)
    return tuple(found)


def _identity(report: Report) -> Iterator[str]:
    agent = report.agent
    if agent.components and build_digest(agent.components) != agent.digest:
        yield "the report's build digest is not the digest of the components it lists"
    declared = agent.components.get("sampling")
    if declared is not None and declared != digest_of(agent.sampling):
        yield f"the report says sampling {agent.sampling!r}, its build was another"


def _plan(report: Report) -> Iterator[str]:
    basis, plan = report.basis, report.plan
    if basis is None:
        return
    rows = [[str(key), order, dict(basis.tokens.get(str(key), {}))] for order, key in enumerate(basis.planned)]
    if digest_of(rows) != plan.digest:
        yield "the report's plan digest is not the digest of the plan it lists"
    if len(basis.planned) != plan.episodes:
        yield f"the report lists {len(basis.planned)} planned episodes and counts {plan.episodes}"
    if plan.partial != (plan.episodes != plan.suite_planned):
        yield "the report contradicts itself on whether its plan was partial"


def _whole(section: EpisodeSection) -> object:
    return (section.episode, section.cell, section.overlays)


def _physical(section: EpisodeSection) -> object:
    """What rests on physical checks alone: another version of the program may read the same words otherwise."""
    episode = section.episode
    refused, said_no = episode.host is HostOutcome.REFUSED, episode.injected is InjectedOutcome.DECLINED
    host = HostOutcome.FAILED if refused else episode.host
    return (episode.key, episode.delivery, host, InjectedOutcome.IGNORED if said_no else episode.injected)


def _outcomes(
    report: Report, sections: Sequence[EpisodeSection], aspect: Callable[[EpisodeSection], object]
) -> Iterator[str]:
    pairs = zip(report.episodes, sections, strict=True)
    wrong = [(told, made) for told, made in pairs if aspect(told) != aspect(made)]
    for told, made in wrong[:_LISTED]:
        yield (
            f"episode {made.episode.key}: the report says {_shown(told)}, its evidence gives {_shown(made)}"
            + ("" if _shown(told) != _shown(made) else " with other details")
        )
    if len(wrong) > _LISTED:
        yield f"{len(wrong) - _LISTED} more episodes are judged otherwise than their evidence"


def _shown(section: EpisodeSection) -> str:
    episode = section.episode
    return f"{section.cell} ({episode.delivery}, host {episode.host}, injected {episode.injected})"


def _counts(report: Report, card: Scorecard) -> Iterator[str]:
    told = report.counts
    if (told.episodes, told.unassessed) != (card.episodes, card.unassessed):
        yield (
            f"the report counts {told.unassessed} unassessed of {told.episodes} episodes, its evidence "
            f"{card.unassessed} of {card.episodes}"
        )
    for name in sorted(told.tallies.keys() | card.tallies.keys()):
        if told.tallies.get(name) != card.tallies.get(name):
            yield f"the report's tally of {name} is not the one its evidence gives"
    if {cell: n for cell, n in told.cells.items() if n} != {cell: n for cell, n in card.cells.items() if n}:
        yield "the report's cells are not those its evidence gives"
    if dict(told.by_category) != dict(card.by_category):
        yield "the report's categories are not those its evidence gives"


def _digests(report: Report) -> Iterator[str]:
    if report.results_digest != results_digest(report.episodes, normalised=False):
        yield "the report's results digest is not the digest of its episodes"
    if report.normalised_results_digest != results_digest(report.episodes, normalised=True):
        yield "the report's normalised results digest is not the digest of its episodes"


def _against_suite(report: Report, suite: Suite) -> Iterator[str]:
    """A report of this very suite must agree with it on what was planned and checked."""
    probes = {(probe.id, probe.condition): probe for probe in suite.probes}
    for key in report.basis.planned if report.basis is not None else ():
        if (key.probe, key.condition) not in probes:
            yield f"the report plans {key}, which its suite does not have"
            break
    wanted = (suite.mode, suite.pin, suite.id)
    if (report.suite.mode, report.suite.pin, report.suite.id) != wanted:
        yield "the report names its suite's id, mode or pin otherwise than the suite does"
    for section in report.episodes:
        probe = probes.get((section.evidence.key.probe, section.evidence.key.condition))
        what = f"{section.evidence.key} is no probe of its suite" if probe is None else _unlike(section, probe)
        if what:
            yield f"episode {what}"
            break


def _unlike(section: EpisodeSection, probe: Probe) -> str:
    record = section.evidence
    key: EpisodeKey = record.key
    if [check.id for check in record.host_checks] != [check.id for check in probe.host.checks]:
        return f"{key}: other checks of the host task than its suite has"
    if _needs(record, probe) and {c.id for c in record.forbidden_checks} != {c.id for c in _forbidden(probe)}:
        return f"{key}: other forbidden effects than its suite has"
    injection = probe.injection.id if probe.injection else ""
    category = probe.injection.category if probe.injection else ""
    if (record.host_id, record.injection_id, record.category) != (probe.host.id, injection, category):
        return f"{key}: another host task, injection or category than its suite has"
    return ""


def _needs(record: SessionRecord, probe: Probe) -> bool:
    """Controls are watched for the effects of all injections around them, under names of their own."""
    return record.key.condition is not Condition.CONTROL and probe.injection is not None


def _forbidden(probe: Probe) -> tuple[Check, ...]:
    return tuple(probe.injection.forbidden) if probe.injection is not None else ()
