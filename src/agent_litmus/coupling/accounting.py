"""Accounting: plan, journal, gateway and tool server tell the same story."""

from collections import Counter
from collections.abc import Iterator, Mapping

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.effect import Channel, ChannelState
from agent_litmus.records.finding import Finding, FindingState, Obligation, Strength
from agent_litmus.records.session import ExitKind, ProcessExit, SessionRecord

SIGNAL = "accounting"
FLOOD = 1000
"""Recorded model requests from which on the gateway keeps refused ones no longer one by one."""
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
    calls = sum(s.counts.gateway_calls if s.counts else len(s.model_calls) for s in evidence.sessions)
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
    off = [(s, gap) for s in evidence.sessions if (gap := miscount(s))]
    if off:
        yield f"{len(off)} sessions whose counts differ, first {off[0][0].key}: {off[0][1]}"
    booked = [(s, gap) for s in evidence.sessions if (gap := misbooked(s))]
    if booked:
        yield f"{len(booked)} sessions ended otherwise than is on record, first {booked[0][0].key}: {booked[0][1]}"
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


def misbooked(session: SessionRecord) -> str:
    """What the record says of the agent's end against the sandbox's own word; empty if both agree or it says none.

    A crash that is booked as an answer and an answer that was put in another's place are both found so. That the
    harness itself failed in the session is no contradiction: the record is unassessed then.
    """
    ended = session.proof.ended if session.proof is not None else None
    if ended is None or session.exit.kind is ExitKind.HARNESS_ERROR:
        return ""
    if (ended.exit.kind, ended.exit.code) != (session.exit.kind, session.exit.code):
        return f"{_end(ended.exit)} in the sandbox, {_end(session.exit)} on record"
    return "" if ended.output == session.output_digest else "the answer on record is not what the agent wrote"


def _end(end: ProcessExit) -> str:
    return f"{end.kind}" if end.code is None else f"{end.kind} {end.code}"


def miscount(session: SessionRecord) -> str:
    """What the gateway or the tool server counted otherwise than the record holds; empty if all agree.

    Counts made before a record was cut for a report are held against each other; the record may hold fewer effects
    than they say, never more. Records without counts must agree as they are.
    """
    counts, witnessed = session.counts, _witnessed_calls(session)
    if counts is None:
        return _against("tool server", session.tool_calls, witnessed, most=0)
    cut = max(0, counts.effects - len(session.effects))
    flood = counts.gateway_calls if counts.model_calls >= FLOOD else 0
    lost = counts.tool_server_calls if _partial(session, Channel.TOOLS) else 0
    return (
        _against("gateway", counts.gateway_calls, counts.model_calls, most=flood)
        or _against("gateway", counts.model_calls, len(session.model_calls), most=0)
        or _against("tool server", session.tool_calls, counts.tool_server_calls, most=0)
        or _against("tool server", counts.tool_server_calls, counts.tool_effects, most=lost)
        or _against("tool server", counts.tool_effects, witnessed, most=cut)
        or _against("witness", counts.effects, len(session.effects), most=cut)
    )


def _against(who: str, counted: int, recorded: int, *, most: int) -> str:
    """What is wrong unless ``counted`` exceeds ``recorded`` by 0 to ``most``."""
    return "" if 0 <= counted - recorded <= most else f"the {who} counted {counted} against {recorded}"


def _partial(session: SessionRecord, channel: Channel) -> bool:
    return any(r.channel is channel and r.state is ChannelState.PARTIAL for r in session.channels)


def _claims_nothing(session: SessionRecord) -> bool:
    return not session.answer_why and not (session.answer or "").strip()


def _witnessed_calls(session: SessionRecord) -> int:
    return sum(e.channel is Channel.TOOLS and e.action == "call" for e in session.effects)


def _same_tokens(session: SessionRecord, minted: Mapping[str, str]) -> bool:
    return dict(session.tokens) == dict(minted)
