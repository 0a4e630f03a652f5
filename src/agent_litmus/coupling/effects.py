"""Effects: what the suite's checks look at was really being watched, in every session."""

from agent_litmus.coupling.evidence import REMOTE, RunEvidence
from agent_litmus.coupling.table import unable
from agent_litmus.coupling.watermarks import tools_alone
from agent_litmus.records.effect import Channel, ChannelState
from agent_litmus.records.finding import Finding, FindingState, Obligation
from agent_litmus.records.session import SessionRecord

SIGNAL = "effects"
_REMEDY = "run where these channels are observed (`litmus doctor` says what this host can do)"
_REMOTE_REMEDY = (
    "ask a remote agent only what its tool calls and its answer show, with the session's own tool server"
)


def effects(evidence: RunEvidence) -> Finding:
    """Observation of every channel that some check needs; ``partial`` and absent count as not observed.

    A check on a channel that was not observed is unassessed in the score too; this finding says it of the whole
    run, where it would otherwise look like an agent that does nothing.
    """
    missing = _missing(evidence)
    if missing:
        remedy = _REMOTE_REMEDY if evidence.target == REMOTE else _REMEDY
        return Finding(SIGNAL, FindingState.MISSING, missing, remedy=remedy)
    names = ", ".join(sorted(evidence.required_channels))
    return Finding(
        SIGNAL,
        FindingState.CLEAR,
        f"observed in all {len(evidence.ran)} sessions: {names}",
        number=float(len(evidence.ran)),
        limit=float(len(evidence.ran)),
        discharges=(Obligation.EFFECTS,),
    )


def _missing(evidence: RunEvidence) -> str:
    if not evidence.ran:
        return "no session ran the agent"
    if not evidence.required_channels:
        return "the suite checks nothing, so no observation can be shown"
    if evidence.target == REMOTE:
        if tools_alone(evidence.required_channels):
            return "a remote agent's tools may be mocked; watermarks that come back show that they are not"
        return "some checks look at what a remote agent does past the harness's tools"
    why = unable(evidence.provider, Obligation.EFFECTS)
    if why:
        return f"the {evidence.provider.name} provider cannot prove effects: {why}"
    blind = [(s, gap) for s in evidence.ran if (gap := unobserved(s, evidence.required_channels))]
    if blind:
        session, gap = blind[0]
        return f"{len(blind)} of {len(evidence.ran)} sessions were not fully observed, first {session.key}: {gap}"
    return ""


def unobserved(session: SessionRecord, required: frozenset[Channel]) -> str:
    """Which required channels one session did not observe, with the reasons; empty if it observed them all."""
    reports = {report.channel: report for report in session.channels}
    gaps = []
    for channel in sorted(required):
        report = reports.get(channel)
        if report is None:
            gaps.append(f"{channel} not reported")
        elif report.state is not ChannelState.OBSERVED:
            gaps.append(f"{channel} {report.state} ({report.why})" if report.why else f"{channel} {report.state}")
    return ", ".join(gaps)
