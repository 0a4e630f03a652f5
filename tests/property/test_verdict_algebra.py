"""The algebra of the decision: what no combination of inputs may do."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.verdict.cards import card_of, size

from agent_litmus.records.finding import Finding, FindingState, Obligation, ObligationStatus, Strength
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, ReasonCode, Verdict, VerdictKind
from agent_litmus.verdict.decide import decide
from agent_litmus.verdict.defects import score_defects
from agent_litmus.verdict.exit import exit_code

CALM = settings(deadline=None)
"""No clock: the machine may be busy."""

RANK = {VerdictKind.FAIL: 0, VerdictKind.INDETERMINATE: 1, VerdictKind.PASS: 2}
METRICS = ("u0", "u1", "ir", "sr")
SIGNALS = ("binding", "freshness", "stale_tokens", "receipts", "delivery", "isolation", "latency")

counts = st.integers(0, 60)
tallies = st.builds(Tally, counts, counts, counts)
good_tallies = st.builds(Tally, st.integers(50, 80), st.integers(0, 1), st.integers(0, 1))
some_tallies = st.one_of(tallies, good_tallies)
numbers = st.one_of(st.none(), st.floats(0, 1), st.just(math.nan))
shares = st.floats(0, 1)


def estimate(value: float | None = 0.02) -> Estimate:
    return Estimate(value, value, value, 40, 40, 0, "exact")


def scored(known: dict[str, Tally], cor: float | None = 0.02) -> Scorecard:
    return card_of(known, estimates={"cor": estimate(cor)})


@st.composite
def consistent_cards(draw: st.DrawFn) -> Scorecard:
    """Any tallies over the same episodes; who did harm did not resist selectively."""
    ir, u0 = draw(some_tallies), draw(some_tallies)
    u1 = draw(parts_of(size(ir)))
    selective = draw(st.integers(0, ir.good))
    sr = Tally(selective, size(ir) - selective, 0)
    return scored({"u0": u0, "u1": u1, "ir": ir, "sr": sr})


def parts_of(total: int) -> st.SearchStrategy[Tally]:
    cuts = st.tuples(st.integers(0, total), st.integers(0, total)).map(sorted)
    return cuts.map(lambda cut: Tally(cut[0], cut[1] - cut[0], total - cut[1]))


cards = consistent_cards()
policies = st.builds(
    Policy,
    floors=st.dictionaries(st.sampled_from(METRICS), shares, min_size=1),
    category_floors=st.just({}) | st.fixed_dictionaries({"exfiltration": st.fixed_dictionaries({"ir": shares})}),
    ceilings=st.just({}) | st.fixed_dictionaries({"cor": st.floats(-1, 1)}),
    max_unassessed=st.none() | shares,
    confidence=st.none() | st.floats(0.51, 0.99),
)
findings = st.lists(
    st.builds(
        Finding,
        signal=st.sampled_from(SIGNALS),
        state=st.sampled_from(FindingState),
        seen=st.just("seen"),
        strength=st.sampled_from(Strength),
        p_value=st.none() | shares,
        discharges=st.lists(st.sampled_from(Obligation), max_size=3).map(tuple),
    ),
    max_size=5,
).map(tuple)


def proofs(states: dict[Obligation, FindingState] | None = None) -> tuple[Finding, ...]:
    states = states or {}
    return tuple(
        Finding(f"prove-{o}", states.get(o, FindingState.CLEAR), "seen", Strength.EXACT, discharges=(o,))
        for o in Obligation
    )


def statuses(discharged: Callable[[Obligation], bool] = lambda _: True) -> tuple[ObligationStatus, ...]:
    return tuple(ObligationStatus(o, discharged=discharged(o), by=(f"prove-{o}",)) for o in Obligation)


def judge(card: Scorecard, policy: Policy | None = None, **changed: Any) -> Verdict:
    found = changed.pop("findings", proofs())
    given_ = {"obligations": statuses(), "plan_partial": False, **changed}
    return decide(card, found, policy or Policy(), **given_)


GOOD = scored(dict.fromkeys(METRICS, Tally(80, 0, 0)))


def test_the_base_case_passes() -> None:
    """Without it every property below could hold for the wrong reason."""
    assert judge(GOOD).kind is VerdictKind.PASS


def test_no_combination_of_unproven_obligations_passes() -> None:
    """All 2 ** 7 combinations, the empty one being the pass."""
    for combination in product((True, False), repeat=len(Obligation)):
        proven = dict(zip(Obligation, combination, strict=True))
        verdict = judge(GOOD, obligations=statuses(proven.__getitem__))
        assert (verdict.kind is VerdictKind.PASS) == all(combination)
        assert sum(r.code is ReasonCode.UNPROVEN for r in verdict.reasons) == combination.count(False)


def test_no_state_but_clear_or_waived_lets_any_obligation_pass() -> None:
    """Every state on every pair of obligations, whatever the statuses claim."""
    fine = {FindingState.CLEAR, FindingState.NOT_APPLICABLE}
    for first, second in product(Obligation, Obligation):
        for one, two in product(FindingState, FindingState):
            states = {first: one, second: two}
            verdict = judge(GOOD, findings=proofs(states))
            assert (verdict.kind is VerdictKind.PASS) == (set(states.values()) <= fine)


def test_no_tally_up_to_five_episodes_passes_below_its_floor_or_empty() -> None:
    """Every tally with counts up to 5 against every floor of a grid."""
    for good, bad, unknown in product(range(6), repeat=3):
        for floor in (0.0, 0.2, 0.5, 0.8, 1.0):
            card = scored({"ir": Tally(good, bad, unknown)})
            kind = judge(card, Policy(floors={"ir": floor})).kind
            if good + bad == 0:
                assert kind is VerdictKind.INDETERMINATE
            elif good / (good + bad) < floor:
                assert kind is VerdictKind.FAIL
            else:
                worst = good / (good + bad + unknown)
                assert kind is (VerdictKind.PASS if worst >= floor else VerdictKind.INDETERMINATE)


@CALM
@given(cards, policies, findings, st.booleans())
def test_a_failing_score_is_never_hidden(
    card: Scorecard, policy: Policy, found: tuple[Finding, ...], partial: bool
) -> None:
    missed = any(
        (share := card.tallies[metric].assessed) is not None and share < floor
        for metric, floor in policy.floors.items()
    )
    verdict = judge(card, policy, findings=found, plan_partial=partial, malformed=("torn",) if partial else ())
    if missed:
        assert verdict.kind is VerdictKind.FAIL
        assert verdict.reasons[0].code is ReasonCode.FLOOR_MISSED
    if verdict.kind is VerdictKind.FAIL:
        assert any(r.code is ReasonCode.FLOOR_MISSED for r in verdict.reasons)


@CALM
@given(cards, policies, findings)
def test_a_partial_plan_never_passes(card: Scorecard, policy: Policy, found: tuple[Finding, ...]) -> None:
    verdict = judge(card, policy, findings=(*proofs(), *found), plan_partial=True)
    assert verdict.kind is not VerdictKind.PASS
    assert any(r.code is ReasonCode.PARTIAL for r in verdict.reasons)


@CALM
@given(cards, policies, findings)
def test_malformed_evidence_never_passes(card: Scorecard, policy: Policy, found: tuple[Finding, ...]) -> None:
    assert judge(card, policy, findings=(*proofs(), *found), malformed=("torn",)).kind is not VerdictKind.PASS


@CALM
@given(
    cards,
    policies,
    findings,
    st.sampled_from(SIGNALS),
    st.sampled_from(Strength),
    st.one_of(st.none(), shares, st.just(math.nan)),
)
def test_adding_an_alarm_never_improves_a_verdict(
    card: Scorecard,
    policy: Policy,
    found: tuple[Finding, ...],
    signal: str,
    strength: Strength,
    p_value: float | None,
) -> None:
    base = (*proofs(), *found)
    alarm = Finding(signal, FindingState.ALARM, "alarm", strength, p_value=p_value)
    before, after = judge(card, policy, findings=base), judge(card, policy, findings=(*base, alarm))
    assert RANK[after.kind] <= RANK[before.kind]
    blocking = {ReasonCode.DESYNC, ReasonCode.FLOOR_MISSED}
    assert {r.code for r in before.reasons} & blocking <= {r.code for r in after.reasons}


@CALM
@given(findings, st.integers(0, 4), st.sampled_from(Strength), shares)
def test_turning_a_finding_into_an_alarm_never_improves_a_verdict(
    found: tuple[Finding, ...], index: int, strength: Strength, p_value: float
) -> None:
    assume(found)
    base = (*proofs(), *found)
    position = len(proofs()) + index % len(found)
    # An alarm that was there already may become less significant; that is not adding one.
    assume(base[position].state is not FindingState.ALARM)
    alarmed = list(base)
    alarmed[position] = replace(base[position], state=FindingState.ALARM, strength=strength, p_value=p_value)
    assert RANK[judge(GOOD, findings=tuple(alarmed)).kind] <= RANK[judge(GOOD, findings=base).kind]


@CALM
@given(cards, policies, findings, st.sets(st.sampled_from(Obligation)), st.sampled_from(Obligation))
def test_adding_a_proof_never_worsens_a_verdict(
    card: Scorecard,
    policy: Policy,
    found: tuple[Finding, ...],
    proven: set[Obligation],
    gained: Obligation,
) -> None:
    def with_proofs(of: set[Obligation]) -> Verdict:
        states = {o: FindingState.CLEAR if o in of else FindingState.MISSING for o in Obligation}
        return judge(card, policy, findings=(*proofs(states), *found), obligations=statuses(of.__contains__))

    assert RANK[with_proofs(proven | {gained}).kind] >= RANK[with_proofs(proven).kind]


@CALM
@given(cards, policies, st.sampled_from([("u0",), ("u1", "ir", "sr")]), st.sampled_from(["good", "bad", "unknown"]))
def test_one_bad_or_unknown_episode_more_never_improves_a_verdict(
    card: Scorecard, policy: Policy, arm: tuple[str, ...], kind: str
) -> None:
    """A good one more never worsens it, a bad one more never improves it; an unknown one never makes a pass.

    The tolerated share of unassessed episodes is left out: any assessed episode more lowers that share.
    """
    policy = replace(policy, max_unassessed=None)
    more = {name: replace(card.tallies[name], **{kind: getattr(card.tallies[name], kind) + 1}) for name in arm}
    before = judge(card, policy).kind
    after = judge(scored({**card.tallies, **more}), policy).kind
    first = any(card.tallies[name].assessed is None for name in arm)
    if kind == "bad":
        assert RANK[after] <= RANK[before] or first
    if kind == "good":
        assert RANK[after] >= RANK[before] or first
    if kind == "unknown":
        assert after is not VerdictKind.PASS or before is VerdictKind.PASS


@CALM
@given(cards, policies, st.sampled_from(METRICS), st.sampled_from(["good", "bad", "unknown"]), st.integers(1, 1000))
def test_a_tally_that_its_episodes_do_not_bear_out_never_passes(
    card: Scorecard, policy: Policy, metric: str, kind: str, extra: int
) -> None:
    tally = card.tallies[metric]
    grown = replace(tally, **{kind: getattr(tally, kind) + extra})
    assert not score_defects(card)
    assert not judge(replace(card, tallies={**card.tallies, metric: grown}), policy).passed


@CALM
@given(st.sampled_from(["value", "low", "high"]), st.sampled_from([math.nan, math.inf, -math.inf]), policies)
def test_a_figure_that_is_no_number_never_passes(field: str, bad: float, policy: Policy) -> None:
    changed: dict[str, Any] = {field: bad}
    card = replace(GOOD, estimates={"cor": replace(estimate(), **changed)})
    assert judge(card, policy).kind is not VerdictKind.PASS


@CALM
@given(st.sampled_from(["number", "limit", "p_value"]), st.sampled_from(FindingState))
def test_a_finding_that_is_no_number_never_passes(field: str, state: FindingState) -> None:
    changed: dict[str, Any] = {field: math.nan}
    odd = replace(Finding("latency", state, "seen"), **changed)
    assert judge(GOOD, findings=(*proofs(), odd)).kind is not VerdictKind.PASS


@pytest.mark.parametrize("floors", [{}, {"ir": math.nan}, {"ir": -1.0}, {"ir": 2.0}, {"unheard-of": 0.0}])
def test_a_policy_that_asks_for_nothing_real_never_passes(floors: dict[str, float]) -> None:
    assert judge(GOOD, Policy(floors=floors)).kind is not VerdictKind.PASS


@CALM
@given(cards, policies, findings, st.booleans(), numbers)
def test_a_pass_has_exit_code_zero_and_nothing_else_has(
    card: Scorecard, policy: Policy, found: tuple[Finding, ...], partial: bool, certified: float | None
) -> None:
    verdict = judge(card, policy, findings=(*proofs(), *found), plan_partial=partial, certified=certified)
    assert (exit_code(verdict) == 0) == verdict.passed
    assert verdict.reasons
    assert [r.code for r in verdict.reasons].count(ReasonCode.PROVEN) == verdict.passed
    if verdict.passed:
        assert all(card.tallies[metric].worst >= floor for metric, floor in policy.floors.items())
        assert not any(f.state is FindingState.ALARM and f.strength is Strength.EXACT for f in found)


@CALM
@given(cards, policies, findings)
def test_the_decision_does_not_depend_on_the_order_of_findings(
    card: Scorecard, policy: Policy, found: tuple[Finding, ...]
) -> None:
    base = (*proofs(), *found)
    assert judge(card, policy, findings=base).kind is judge(card, policy, findings=base[::-1]).kind
