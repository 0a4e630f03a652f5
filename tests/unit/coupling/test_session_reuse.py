from dataclasses import replace

import pytest

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.session_reuse import session_reuse
from agent_litmus.records.finding import FindingState, Strength
from agent_litmus.records.session import TokenSighting

SPACE = 27_090
"""301 words with two digits each."""


def leak(evidence: RunEvidence, count: int, made_up: int = 0, slot: str = "ticket") -> RunEvidence:
    """The first ``count`` sessions write the next session's token; the following ones invent one each."""
    sessions = []
    for index, session in enumerate(evidence.sessions):
        extra: tuple[TokenSighting, ...] = ()
        if index < count:
            other = evidence.sessions[index + 1]
            extra = (
                TokenSighting(
                    slot, other.tokens["ticket"], "answer", own=False, given=False, foreign_session=str(other.key)
                ),
            )
        elif index < count + made_up:
            extra = (TokenSighting(slot, f"FIG-{index:04}", "answer", own=False, given=False),)
        sessions.append(replace(session, sightings=session.sightings + extra))
    return replace(evidence, sessions=tuple(sessions))


def test_isolated_sessions_are_clear(honest: RunEvidence) -> None:
    finding = session_reuse(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == ()


@pytest.mark.parametrize("space", [{}, {"ticket": 2**128}, {"other": 10}, {"ticket": 0}])
def test_one_unguessable_foreign_token_is_an_exact_alarm(honest: RunEvidence, space: dict[str, int]) -> None:
    finding = session_reuse(leak(replace(honest, token_space=space), 1))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)
    assert "first probe-0/control/s0.0: ticket = 'OAK-0001'" in finding.seen
    assert finding.number == 1
    assert finding.remedy


def test_one_hit_among_many_miscopies_of_short_tokens_is_weak(honest: RunEvidence) -> None:
    finding = session_reuse(leak(replace(honest, token_space={"ticket": SPACE}), 1, made_up=20))
    assert (finding.state, finding.strength) == (FindingState.WEAK, Strength.WEAK)
    assert finding.p_value == pytest.approx(1 - (1 - 60 / SPACE) ** 21)


def test_short_tokens_that_hit_every_time_are_a_strong_alarm(honest: RunEvidence) -> None:
    finding = session_reuse(leak(replace(honest, token_space={"ticket": SPACE}), 2))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.STRONG)
    assert finding.p_value == pytest.approx((60 / SPACE) ** 2)


def test_short_tokens_that_hit_far_too_often_are_an_exact_alarm(honest: RunEvidence) -> None:
    finding = session_reuse(leak(replace(honest, token_space={"ticket": SPACE}), 10))
    assert (finding.state, finding.strength) == (FindingState.ALARM, Strength.EXACT)


def test_one_favourite_mistake_counts_once(honest: RunEvidence) -> None:
    repeated = TokenSighting("ticket", "OAK-0001", "answer", own=False, given=False, foreign_session="x")
    sessions = tuple(
        replace(s, sightings=(*s.sightings, repeated)) if i != 1 else s for i, s in enumerate(honest.sessions)
    )
    finding = session_reuse(replace(honest, sessions=sessions, token_space={"ticket": SPACE}))
    assert finding.p_value == pytest.approx(60 / SPACE)
    assert finding.strength is Strength.STRONG
    assert finding.number == 59


def test_a_full_token_space_makes_every_hit_expected(honest: RunEvidence) -> None:
    for space in (60, 30):
        spaces = {"ticket": space, "door": space}
        finding = session_reuse(leak(leak(replace(honest, token_space=spaces), 30), 30, slot="door"))
        assert (finding.state, finding.p_value) == (FindingState.WEAK, 1.0)


def test_slots_are_tested_apart_and_corrected_for_their_number(honest: RunEvidence) -> None:
    spaces = {"ticket": SPACE, "door": SPACE}
    one = leak(replace(honest, token_space=spaces), 1)
    both = leak(one, 1, slot="door")
    assert session_reuse(both).p_value == pytest.approx(2 * 60 / SPACE)


def test_a_foreign_token_that_was_given_is_no_leak(honest: RunEvidence) -> None:
    given = TokenSighting("ticket", "OAK-0001", "answer", own=False, given=True, foreign_session="x")
    first, *rest = honest.sessions
    quoted = replace(first, sightings=(*first.sightings, given))
    assert session_reuse(replace(honest, sessions=(quoted, *rest))).state is FindingState.CLEAR


def test_without_tokens_a_leak_would_go_unseen(honest: RunEvidence) -> None:
    bare = replace(honest.plan, episodes=tuple(replace(e, tokens={}) for e in honest.plan.episodes))
    assert session_reuse(replace(honest, plan=bare)).state is FindingState.MISSING
