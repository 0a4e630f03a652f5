"""Counts that every side made for itself, before anything was cut for a report."""

from dataclasses import replace

import pytest

from agent_litmus.coupling.accounting import FLOOD, accounting, misbooked, miscount
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.session import Ended, ExitKind, ProcessExit, SessionCounts, SessionProof, SessionRecord

AGREED = SessionCounts(gateway_calls=1, tool_server_calls=1, tool_effects=1, model_calls=1, effects=1)


@pytest.fixture
def session(honest: RunEvidence) -> SessionRecord:
    return replace(honest.sessions[0], counts=AGREED)


def counted(session: SessionRecord, **changed: int) -> SessionRecord:
    return replace(session, counts=replace(AGREED, **changed))


def test_counts_that_agree_are_clear(honest: RunEvidence) -> None:
    run = replace(honest, sessions=tuple(replace(s, counts=AGREED) for s in honest.sessions))
    finding = accounting(run)
    assert finding.state is FindingState.CLEAR
    assert "60 model calls and 60 tool calls" in finding.seen


@pytest.mark.parametrize(
    ("changed", "who"),
    [
        ({"gateway_calls": 2}, "gateway counted 2 against 1"),
        ({"gateway_calls": 0}, "gateway counted 0 against 1"),
        ({"gateway_calls": 2, "model_calls": 2}, "gateway counted 2 against 1"),
        ({"tool_server_calls": 2}, "tool server counted 1 against 2"),
        ({"tool_effects": 0}, "tool server counted 1 against 0"),
        ({"effects": 0}, "witness counted 0 against 1"),
    ],
    ids=["more requests", "fewer requests", "receipts lost", "server", "effects lost", "effects added"],
)
def test_each_count_that_differs_is_an_exact_alarm(
    honest: RunEvidence, session: SessionRecord, changed: dict[str, int], who: str
) -> None:
    run = replace(honest, sessions=(counted(session, **changed), *honest.sessions[1:]))
    finding = accounting(run)
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert who in finding.seen


def test_a_report_that_holds_fewer_effects_than_were_counted_agrees(session: SessionRecord) -> None:
    """Reports keep the first 200 effects; the counts were made before."""
    cut = replace(session, effects=(), counts=AGREED)
    assert miscount(cut) == ""
    assert miscount(replace(cut, counts=None)) == "the tool server counted 1 against 0"


def test_a_cut_never_explains_an_effect_too_many(session: SessionRecord) -> None:
    twice = replace(session, effects=session.effects * 2, counts=replace(AGREED, effects=5))
    assert "tool server counted 1 against 2" in miscount(twice)


def test_calls_that_did_not_fit_the_buffer_are_accounted_for_where_the_channel_says_so(
    session: SessionRecord,
) -> None:
    flooded = replace(counted(session, tool_server_calls=9), tool_calls=9)
    assert "tool server counted 9 against 1" in miscount(flooded)
    partial = ChannelReport(Channel.TOOLS, ChannelState.PARTIAL, "8 records did not fit the buffer")
    assert miscount(replace(flooded, channels=(partial,))) == ""


def test_a_flood_of_refused_requests_is_kept_in_part(session: SessionRecord) -> None:
    calls = tuple(replace(session.model_calls[0], id=f"r-{n}") for n in range(FLOOD))
    flooded = replace(counted(session, gateway_calls=5 * FLOOD, model_calls=FLOOD), model_calls=calls)
    assert miscount(flooded) == ""
    assert miscount(replace(flooded, model_calls=calls[1:])) != ""


def test_records_without_counts_are_judged_as_they_are(session: SessionRecord) -> None:
    assert miscount(replace(session, counts=None)) == ""
    assert "tool server counted 2 against 1" in miscount(replace(session, counts=None, tool_calls=2))


CLEAN = ProcessExit(ExitKind.EXITED, 0)
OUTPUT = "sha256:" + "a" * 64


def vouched(session: SessionRecord, ended: Ended | None) -> SessionRecord:
    proof = session.proof or SessionProof("s", "", None, None, None, None)
    return replace(session, exit=CLEAN, output_digest=OUTPUT, proof=replace(proof, ended=ended))


def test_an_end_that_the_sandbox_saw_likewise_is_clear(honest: RunEvidence) -> None:
    sessions = tuple(vouched(s, Ended(CLEAN, OUTPUT)) for s in honest.sessions)
    assert accounting(replace(honest, sessions=sessions)).state is FindingState.CLEAR


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        (Ended(ProcessExit(ExitKind.EXITED, 1), OUTPUT), "exited 1 in the sandbox, exited 0 on record"),
        (Ended(ProcessExit(ExitKind.SIGNALED, 9), OUTPUT), "signaled 9 in the sandbox, exited 0 on record"),
        (Ended(ProcessExit(ExitKind.TIMEOUT), OUTPUT), "timeout in the sandbox, exited 0 on record"),
        (Ended(CLEAN, "sha256:" + "b" * 64), "the answer on record is not what the agent wrote"),
        (Ended(CLEAN, ""), "the answer on record is not what the agent wrote"),
    ],
    ids=["crash", "killed", "too slow", "another answer", "no answer"],
)
def test_one_end_booked_otherwise_is_an_exact_alarm(honest: RunEvidence, seen: Ended, what: str) -> None:
    run = replace(honest, sessions=(vouched(honest.sessions[0], seen), *honest.sessions[1:]))
    finding = accounting(run)
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert what in finding.seen


def test_nothing_contradicts_a_provider_that_does_not_say_or_a_session_the_harness_lost(
    session: SessionRecord,
) -> None:
    assert misbooked(vouched(session, None)) == ""
    assert misbooked(replace(session, proof=None)) == ""
    lost = replace(
        vouched(session, Ended(CLEAN, "other")), exit=ProcessExit(ExitKind.HARNESS_ERROR), answer_why="lost"
    )
    assert misbooked(lost) == ""
