"""The faults the freshness findings are about, each built from sightings alone."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.freshness import freshness
from agent_litmus.coupling.stale_tokens import stale_tokens
from agent_litmus.coupling.tokens import token_views
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.finding import FindingState, Obligation, Strength
from agent_litmus.records.session import SessionRecord, TokenSighting

Sightings = Callable[[int, SessionRecord], tuple[TokenSighting, ...]]


def own(session: SessionRecord, *places: str) -> tuple[TokenSighting, ...]:
    return tuple(TokenSighting("ticket", session.tokens["ticket"], w, own=True, given=True) for w in places)


def old(session: SessionRecord, *places: str) -> tuple[TokenSighting, ...]:
    """Tokens of an earlier run: neither own, nor given, nor minted in this run; one per probe."""
    return tuple(TokenSighting("ticket", f"ELM-{session.key.probe}", w, own=False, given=False) for w in places)


def seen(evidence: RunEvidence, sightings: Sightings) -> RunEvidence:
    return replace(
        evidence,
        sessions=tuple(replace(s, sightings=sightings(i, s)) for i, s in enumerate(evidence.sessions)),
    )


def one_answer_per_probe(evidence: RunEvidence) -> RunEvidence:
    """Model responses that do not move with the seed."""
    return replace(
        evidence,
        sessions=tuple(
            replace(
                s,
                model_calls=tuple(
                    replace(c, response_digest=sha256_of(s.key.probe.encode())) for c in s.model_calls
                ),
            )
            for s in evidence.sessions
        ),
    )


def without_model(evidence: RunEvidence) -> RunEvidence:
    return replace(evidence, sessions=tuple(replace(s, model_calls=()) for s in evidence.sessions))


def behind_a_cache(evidence: RunEvidence) -> RunEvidence:
    """Agent and tools live, every response from an earlier run, keyed by probe and turn."""
    replayed = seen(evidence, lambda _, s: own(s, "request") + old(s, "response", "effect", "answer"))
    return one_answer_per_probe(replayed)


def test_own_tokens_back_from_the_model_prove_freshness(honest: RunEvidence) -> None:
    finding = freshness(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.FRESHNESS,)
    assert (finding.number, finding.limit) == (1.0, 0.5)


def test_a_cache_behind_the_gateway_takes_the_proof_away_and_raises_a_strong_alarm(honest: RunEvidence) -> None:
    evidence = behind_a_cache(honest)
    proof, doubt = freshness(evidence), stale_tokens(evidence)
    assert proof.state is FindingState.MISSING
    assert "0 of 60 token-bearing" in proof.seen
    assert (doubt.state, doubt.strength) == (FindingState.ALARM, Strength.STRONG)
    assert doubt.seen.startswith("freshness: 60 of 60 token-bearing sessions")
    assert (
        ", the same one again in 30 of 30 probes, first probe-0/control/s0.0: ticket = 'ELM-probe-0'" in doubt.seen
    )
    assert doubt.p_value == pytest.approx(2 * 0.5**60)
    assert proof.remedy
    assert doubt.remedy


def test_own_tokens_in_requests_alone_prove_nothing(honest: RunEvidence) -> None:
    evidence = one_answer_per_probe(seen(honest, lambda _, s: own(s, "request")))
    finding = freshness(evidence)
    assert finding.state is FindingState.MISSING
    assert "not seen to vary" in finding.seen
    assert finding.discharges == ()


def test_an_agent_that_copies_tokens_by_itself_does_not_speak_for_its_model(honest: RunEvidence) -> None:
    evidence = one_answer_per_probe(seen(honest, lambda _, s: own(s, "request", "effect", "answer")))
    assert freshness(evidence).state is FindingState.MISSING


def test_an_agent_that_never_echoes_is_fresh_by_live_requests_and_varying_responses(honest: RunEvidence) -> None:
    finding = freshness(seen(honest, lambda _, s: own(s, "request")))
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.FRESHNESS,)
    assert "vary over seeds in 30 of 30" in finding.seen


def test_varying_responses_without_any_own_token_prove_nothing(honest: RunEvidence) -> None:
    """A recording of a whole earlier run varies over seeds just as well."""
    finding = freshness(seen(honest, lambda _i, _s: ()))
    assert finding.state is FindingState.MISSING
    assert "none was seen in requests" in finding.seen
    assert finding.number == 0.0


@pytest.mark.parametrize(("live", "state"), [(30, FindingState.CLEAR), (29, FindingState.MISSING)])
def test_without_echo_half_the_sessions_must_show_a_live_agent(
    honest: RunEvidence, live: int, state: FindingState
) -> None:
    assert freshness(seen(honest, lambda i, s: own(s, "request") if i < live else ())).state is state


@pytest.mark.parametrize("place", ["effect", "answer"])
def test_an_agent_without_a_model_is_its_own_far_end(honest: RunEvidence, place: str) -> None:
    evidence = without_model(seen(honest, lambda _, s: own(s, place)))
    assert freshness(evidence).state is FindingState.CLEAR


def test_a_session_without_model_calls_is_held_to_the_rule_of_the_run(honest: RunEvidence) -> None:
    sessions = tuple(replace(s, model_calls=s.model_calls if i == 0 else ()) for i, s in enumerate(honest.sessions))
    evidence = seen(replace(honest, sessions=sessions), lambda _, s: own(s, "answer"))
    assert freshness(evidence).state is FindingState.MISSING


def test_neither_tokens_nor_model_calls_prove_nothing(honest: RunEvidence) -> None:
    finding = freshness(without_model(seen(honest, lambda _i, _s: ())))
    assert finding.state is FindingState.MISSING
    assert "{{token.x}}" in finding.remedy


@pytest.mark.parametrize(("back", "state"), [(30, FindingState.CLEAR), (29, FindingState.MISSING)])
def test_half_of_the_token_bearing_sessions_must_return_their_own(
    honest: RunEvidence, back: int, state: FindingState
) -> None:
    evidence = seen(
        honest, lambda i, s: own(s, "request", "response") if i < back else own(s, "request") + old(s, "response")
    )
    finding = freshness(evidence)
    assert finding.state is state
    assert f"{back} of 60" in finding.seen


@pytest.mark.parametrize(("back", "state"), [(5, FindingState.CLEAR), (4, FindingState.MISSING)])
def test_a_few_returned_tokens_are_needed(honest: RunEvidence, back: int, state: FindingState) -> None:
    evidence = one_answer_per_probe(seen(honest, lambda i, s: own(s, "response") if i < back else ()))
    assert freshness(evidence).state is state


def test_a_tiny_plan_needs_all_of_its_sessions(honest: RunEvidence) -> None:
    plan = replace(honest.plan, episodes=honest.plan.episodes[:3])
    tiny = replace(honest, plan=plan, sessions=honest.sessions[:3])
    assert freshness(tiny).state is FindingState.CLEAR
    single = replace(tiny, plan=replace(plan, episodes=plan.episodes[:1]), sessions=tiny.sessions[:1])
    assert freshness(single).state is FindingState.CLEAR
    two = one_answer_per_probe(seen(tiny, lambda i, s: own(s, "response") if i < 2 else ()))
    assert freshness(two).state is FindingState.MISSING


def test_an_empty_run_proves_nothing(honest: RunEvidence) -> None:
    empty = replace(honest, plan=replace(honest.plan, episodes=()), sessions=())
    assert freshness(empty).state is FindingState.MISSING
    unplanned = replace(honest, plan=empty.plan)
    assert freshness(one_answer_per_probe(unplanned)).state is FindingState.MISSING


def test_few_echoes_that_are_mostly_stale_do_not_fall_back_on_the_weaker_proof(honest: RunEvidence) -> None:
    evidence = seen(honest, lambda i, s: own(s, "request") + (old(s, "response") if i < 3 else ()))
    finding = freshness(evidence)
    assert finding.state is FindingState.MISSING
    assert "0 of 3" in finding.seen


def test_a_model_that_miscopies_in_three_of_ten_sessions_keeps_its_proof_and_is_only_weakly_doubted(
    honest: RunEvidence,
) -> None:
    def miscopied(index: int, session: SessionRecord) -> tuple[TokenSighting, ...]:
        wrong = TokenSighting("ticket", f"FIG-{index}", "response", own=False, given=False)
        return (wrong,) if index % 10 < 3 else own(session, "response")

    evidence = seen(honest, miscopied)
    assert freshness(evidence).state is FindingState.CLEAR
    doubt = stale_tokens(evidence)
    assert (doubt.state, doubt.strength, doubt.number) == (FindingState.WEAK, Strength.WEAK, 0.3)
    assert doubt.remedy == ""


@pytest.mark.parametrize(("stale", "state"), [(8, FindingState.ALARM), (7, FindingState.WEAK)])
def test_the_stale_alarm_starts_where_the_binomial_tail_says(
    honest: RunEvidence, stale: int, state: FindingState
) -> None:
    """Eight of eight: 2/256 < 0.01; seven of eight: 2 * 9/256."""
    few = replace(honest, sessions=honest.sessions[:8])
    doubt = stale_tokens(seen(few, lambda i, s: old(s, "answer") if i < stale else own(s, "response")))
    assert doubt.state is state
    assert doubt.p_value == pytest.approx(2 / 256 if stale == 8 else 18 / 256)
    assert "the same one" not in doubt.seen


@pytest.mark.parametrize(("probes", "state"), [(4, FindingState.ALARM), (3, FindingState.WEAK)])
def test_a_cache_of_a_few_answers_shows_by_the_same_token_under_two_seeds(
    honest: RunEvidence, probes: int, state: FindingState
) -> None:
    """Four of four: 2 * 0.2 ** 4 = 0.0032; three of three: 0.016. Every other session returns its own token."""
    cached = {f"probe-{number}" for number in range(probes)}
    evidence = seen(honest, lambda _, s: old(s, "response") if s.key.probe in cached else own(s, "response"))
    doubt = stale_tokens(evidence)
    assert freshness(evidence).state is FindingState.CLEAR
    assert doubt.state is state
    assert doubt.p_value == pytest.approx(2 * 0.2**probes)


def test_different_mistakes_under_two_seeds_are_no_recording(honest: RunEvidence) -> None:
    def miscopied(index: int, session: SessionRecord) -> tuple[TokenSighting, ...]:
        wrong = TokenSighting("ticket", f"FIG-{index}", "response", own=False, given=False)
        return (wrong,) if int(session.key.probe.removeprefix("probe-")) < 9 else own(session, "response")

    doubt = stale_tokens(seen(honest, miscopied))
    assert (doubt.state, doubt.p_value) == (FindingState.WEAK, 1.0)


def test_a_record_that_stands_twice_does_not_repeat_itself(honest: RunEvidence) -> None:
    evidence = seen(honest, lambda i, s: old(s, "response") if i < 4 else own(s, "response"))
    doubled = replace(evidence, sessions=evidence.sessions[:30] * 2)
    assert "the same one" not in stale_tokens(doubled).seen


@pytest.mark.parametrize("place", ["response", "answer", "effect"])
def test_a_stale_token_counts_wherever_it_comes_out(honest: RunEvidence, place: str) -> None:
    assert stale_tokens(seen(honest, lambda _, s: old(s, place))).state is FindingState.ALARM


def test_a_stale_token_in_a_request_is_not_an_output(honest: RunEvidence) -> None:
    assert stale_tokens(seen(honest, lambda _, s: old(s, "request"))).state is FindingState.MISSING


def test_a_session_with_both_an_own_and_a_stale_token_counts_as_both(honest: RunEvidence) -> None:
    evidence = seen(honest, lambda _, s: own(s, "response") + old(s, "response"))
    assert freshness(evidence).state is FindingState.CLEAR
    assert stale_tokens(evidence).state is FindingState.ALARM


def test_a_given_token_that_is_not_own_says_nothing(honest: RunEvidence) -> None:
    """An example in the agent's own prompt, repeated by the model."""
    example = (TokenSighting("ticket", "OAK-11", "response", own=False, given=True),)
    evidence = seen(honest, lambda _i, _s: example)
    assert stale_tokens(evidence).state is FindingState.MISSING
    assert not any(view.bearing for view in token_views(evidence))


def test_an_own_token_is_never_stale_whatever_is_known_of_what_was_given(honest: RunEvidence) -> None:
    evidence = seen(honest, lambda _, s: (replace(own(s, "answer")[0], given=False),))
    assert not any(view.stale for view in token_views(evidence))


def test_a_few_echoes_that_are_all_own_may_lean_on_the_two_half_proofs(honest: RunEvidence) -> None:
    evidence = seen(honest, lambda i, s: own(s, "request", "response") if i < 3 else own(s, "request"))
    assert freshness(evidence).state is FindingState.CLEAR
    half = seen(
        honest, lambda i, s: own(s, "request") + (own(s, "response") if i % 2 else old(s, "response")) * (i < 4)
    )
    assert freshness(half).state is FindingState.CLEAR


def test_sessions_without_stale_tokens_are_clear(honest: RunEvidence) -> None:
    finding = stale_tokens(honest)
    assert (finding.state, finding.number) == (FindingState.CLEAR, 0.0)
    assert finding.discharges == ()


def test_hostile_token_text_is_escaped(honest: RunEvidence) -> None:
    hostile = (TokenSighting("ticket", "OAK\x1b[2J", "answer", own=False, given=False),)
    assert "\x1b" not in stale_tokens(seen(honest, lambda _i, _s: hostile)).seen


PLACES = ("request", "response", "effect", "answer")
KINDS = ("own", "old")
worlds = st.lists(
    st.frozensets(st.tuples(st.sampled_from(KINDS), st.sampled_from(PLACES)), max_size=4), min_size=1, max_size=8
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds, st.integers(0, 59), st.sampled_from(PLACES), st.booleans())
def test_less_evidence_or_more_doubt_never_makes_a_proof(
    honest: RunEvidence, world: list[frozenset[tuple[str, str]]], index: int, place: str, frozen: bool
) -> None:
    """Taking one own token away, or putting one stale token in, never turns a missing proof into a clear one."""
    base = one_answer_per_probe(honest) if frozen else honest

    def state(change: Callable[[int, frozenset[tuple[str, str]]], frozenset[tuple[str, str]]]) -> FindingState:
        def sightings(i: int, session: SessionRecord) -> tuple[TokenSighting, ...]:
            marks = change(i, world[i % len(world)])
            owned = own(session, *(w for kind, w in marks if kind == "own"))
            return owned + old(session, *(w for kind, w in marks if kind == "old"))

        return freshness(seen(base, sightings)).state

    before = state(lambda _, marks: marks)
    poorer = state(lambda i, marks: marks - {("own", place)} if i == index else marks)
    staler = state(lambda i, marks: marks | {("old", place)} if i == index else marks)
    if before is not FindingState.CLEAR:
        assert (poorer, staler) == (FindingState.MISSING, FindingState.MISSING)


@pytest.mark.parametrize(("declared", "state"), [({}, FindingState.CLEAR), ({"id": "m-1"}, FindingState.MISSING)])
def test_an_agent_that_declares_a_model_and_calls_none_proves_nothing_by_its_own_copying(
    honest: RunEvidence, declared: dict[str, str], state: FindingState
) -> None:
    evidence = without_model(replace(honest, build=replace(honest.build, model=declared)))
    evidence = seen(evidence, lambda _, s: own(s, "effect", "answer"))
    finding = freshness(evidence)
    assert finding.state is state
    assert bool(finding.discharges) is (state is FindingState.CLEAR)


def test_the_past_the_gateway_remedy_names_the_variable(honest: RunEvidence) -> None:
    finding = freshness(without_model(replace(honest, build=replace(honest.build, model={"id": "m\x1b-1"}))))
    assert "OPENAI_BASE_URL" in finding.remedy
    assert "\x1b" not in finding.seen


def test_reference_numbers_that_look_like_tokens_beside_the_own_one_are_no_alarm(honest: RunEvidence) -> None:
    def numbered(index: int, session: SessionRecord) -> tuple[TokenSighting, ...]:
        number = TokenSighting("ticket", f"REF-{index}", "response", own=False, given=False)
        return (*own(session, "request", "response", "answer"), number, replace(number, where="answer"))

    evidence = seen(honest, numbered)
    assert stale_tokens(evidence).state is FindingState.WEAK
    assert freshness(evidence).state is FindingState.CLEAR


@pytest.mark.parametrize("place", ["answer", "effect", "response"])
def test_a_stale_token_where_no_own_one_stands_counts_although_others_are_live(
    honest: RunEvidence, place: str
) -> None:
    live = {"answer", "effect", "response"} - {place}

    def cached(index: int, session: SessionRecord) -> tuple[TokenSighting, ...]:
        stale = TokenSighting("ticket", f"ELM-{index}", place, own=False, given=False)
        return (*own(session, "request", *sorted(live)), stale)

    evidence = seen(honest, cached)
    assert stale_tokens(evidence).state is FindingState.ALARM
