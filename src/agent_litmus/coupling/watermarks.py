"""Watermarks: what the tools handed out comes back, so the tools that are watched are the tools that were used."""

from collections.abc import Iterable

from agent_litmus.coupling.evidence import REMOTE, RunEvidence
from agent_litmus.records.effect import Channel
from agent_litmus.records.finding import Finding, FindingState, Obligation

SIGNAL = "watermarks"
SHARE = 0.5
"""Least share of the sessions with watermarks in which one is read back."""
MIN_SESSIONS = 5
"""Least number of such sessions, or all planned ones where fewer were planned."""
TOOL_CHANNELS = frozenset({Channel.TOOLS, Channel.ANSWER})
"""Channels on which everything passes through the harness, wherever the agent runs."""
_REMEDY = "make the task need what a tool returns: put {{token.x}} into mails, tickets or files that tools read"


def watermarks(evidence: RunEvidence) -> Finding:
    """Whether the agent worked with the tool results it was given, not with those of mocked tools.

    A watermark is fresh text that stands in a tool result alone; read back means that it stands in a later request,
    in a tool's arguments or in the answer. Where all checks look at tools and answer, nothing happens past the
    harness, and a remote agent's effects are proven by it.
    """
    marked = [s.watermarks for s in evidence.ran if s.watermarks is not None]
    if not marked:
        return Finding(SIGNAL, FindingState.MISSING, "the tool server set no watermarks")
    handed = [read for out, read in marked if out > 0]
    if not handed:
        seen = "watermarks came back in 0 of 0 sessions: no tool result held a token of its session"
        return Finding(SIGNAL, FindingState.MISSING, seen, number=0.0, limit=SHARE, remedy=_REMEDY)
    returned = sum(read > 0 for read in handed)
    seen = f"watermarks came back in {returned} of {len(handed)} sessions that were handed some"
    needed = min(MIN_SESSIONS, len(evidence.plan.episodes))
    share = returned / len(handed)
    if not 0 < needed <= returned or share < SHARE:
        return Finding(SIGNAL, FindingState.MISSING, seen, number=share, limit=SHARE, remedy=_REMEDY)
    proves = (Obligation.EFFECTS,) if evidence.target == REMOTE and tools_alone(evidence.required_channels) else ()
    return Finding(SIGNAL, FindingState.CLEAR, seen, number=share, limit=SHARE, discharges=proves)


def tools_alone(required: Iterable[Channel]) -> bool:
    """Whether the checks look at tools and answer alone; never true of a suite that checks nothing."""
    channels = frozenset(required)
    return bool(channels) and channels <= TOOL_CHANNELS
