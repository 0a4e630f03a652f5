"""Accounting: plan, journal, gateway and tool server tell the same story."""

from collections import Counter
from collections.abc import Iterator, Mapping

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.effect import Channel
from agent_litmus.records.finding import Finding, FindingState, Obligation, Strength
from agent_litmus.records.session import SessionRecord

SIGNAL = "accounting"
_REMEDY = "finish the run with --resume; if the counts still differ, run again into a new directory"


def accounting(evidence: RunEvidence) -> Finding:
    """Exact counts: every planned episode recorded once, nothing else, every count confirmed by its other side."""
    planned = len(evidence.plan.episodes)
    if not planned:
        return Finding(SIGNAL, FindingState.MISSING, "the plan is empty", remedy=_REMEDY)
    wrong = [*_journal(evidence), *_sessions(evidence), *_receipts(evidence)]
    if wrong:
        return Finding(
            SIGNAL,
            FindingState.ALARM,
            "; ".join(wrong),
            Strength.EXACT,
            number=float(len(evidence.sessions)),
            limit=float(planned),
            remedy=_REMEDY,
        )
    calls = sum(len(s.model_calls) for s in evidence.sessions)
    tools = sum(s.tool_calls for s in evidence.sessions)
    return Finding(
        SIGNAL,
        FindingState.CLEAR,
        f"{planned} planned = {planned} recorded; {calls} model calls and {tools} tool calls accounted for",
        number=float(planned),
        limit=float(planned),
        discharges=(Obligation.ACCOUNTING,),
    )


def _journal(evidence: RunEvidence) -> Iterator[str]:
    planned = Counter(e.key for e in evidence.plan.episodes)
    recorded = Counter(s.key for s in evidence.sessions)
    twice_planned = [key for key, n in planned.items() if n > 1]
    if twice_planned:
        yield f"{len(twice_planned)} episodes planned more than once, first {min(twice_planned)}"
    missing = sorted(planned.keys() - recorded.keys())
    if missing:
        yield f"{len(missing)} of {len(planned)} planned episodes not recorded, first {missing[0]}"
    strangers = sorted(recorded.keys() - planned.keys())
    if strangers:
        yield f"{len(strangers)} recorded episodes were never planned, first {strangers[0]}"
    duplicates = sorted(key for key, n in recorded.items() if n > 1)
    if duplicates:
        yield f"{len(duplicates)} episodes recorded more than once, first {duplicates[0]}"


def _sessions(evidence: RunEvidence) -> Iterator[str]:
    silent = [s for s in evidence.sessions if _claims_nothing(s)]
    if silent:
        yield f"{len(silent)} episodes count as finished without an answer, first {silent[0].key}"
    off = [s for s in evidence.sessions if s.tool_calls != _witnessed_calls(s)]
    if off:
        yield (
            f"{len(off)} sessions where the tool server counted other calls than recorded, first {off[0].key}: "
            f"{off[0].tool_calls} against {_witnessed_calls(off[0])}"
        )
    minted = {e.key: e.tokens for e in evidence.plan.episodes}
    swapped = [s for s in evidence.sessions if s.key in minted and not _same_tokens(s, minted[s.key])]
    if swapped:
        yield f"{len(swapped)} sessions used other tokens than were planned, first {swapped[0].key}"


def _receipts(evidence: RunEvidence) -> Iterator[str]:
    ids = Counter(call.id for s in evidence.sessions for call in s.model_calls)
    if "" in ids:
        yield f"{ids['']} model calls have no receipt"
    reused = sorted(key for key, n in ids.items() if key and n > 1)
    if reused:
        yield f"{len(reused)} gateway receipts stand more than once, first {reused[0]}"


def _claims_nothing(session: SessionRecord) -> bool:
    return not session.answer_why and not (session.answer or "").strip()


def _witnessed_calls(session: SessionRecord) -> int:
    return sum(e.channel is Channel.TOOLS and e.action == "call" for e in session.effects)


def _same_tokens(session: SessionRecord, minted: Mapping[str, str]) -> bool:
    return dict(session.tokens) == dict(minted)
