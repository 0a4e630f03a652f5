from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.drill.faults import ALL, Fault
from agent_litmus.drill.outcome import HONEST, Shown, catchers, fault_row, honest_row, usual
from agent_litmus.records.verdict import VerdictKind

FAULT = next(fault for fault in ALL if fault.name == "wrong-build")
CAUGHT = Shown("wrong-build", VerdictKind.INDETERMINATE, ("binding", "identity"), 4, "desync")
HONEST_RUN = Shown(HONEST, VerdictKind.PASS, (), 0, "proven")


def test_a_fault_is_caught_by_the_expected_findings_that_fired() -> None:
    assert catchers(FAULT, CAUGHT, frozenset()) == ("binding", "identity")


def test_a_pass_is_never_a_detection() -> None:
    assert catchers(FAULT, replace(CAUGHT, verdict=VerdictKind.PASS), frozenset()) == ()


def test_a_blocked_run_without_the_expected_finding_is_no_detection() -> None:
    other = replace(CAUGHT, fired=("delivery",))
    row = fault_row(FAULT, [other], frozenset())
    assert (row.runs, row.detected, row.missed, dict(row.verdicts)) == (1, 0, True, {"INDETERMINATE": 1})


def test_what_fires_in_honest_runs_too_says_nothing_about_a_fault() -> None:
    honest = [replace(HONEST_RUN, fired=("identity",)), HONEST_RUN]
    assert usual(honest) == {"identity"}
    assert catchers(FAULT, CAUGHT, usual(honest)) == ("binding",)


def test_one_false_alarm_among_many_honest_runs_is_not_usual() -> None:
    assert usual([replace(HONEST_RUN, fired=("binding",)), *[HONEST_RUN] * 9]) == frozenset()


def test_runs_that_the_fault_came_upon_nothing_in_are_not_counted() -> None:
    row = fault_row(FAULT, [CAUGHT, replace(CAUGHT, touched=0, verdict=VerdictKind.PASS, fired=())], frozenset())
    assert (row.runs, row.detected, row.untouched, row.why_not) == (1, 1, 1, "")


def test_a_fault_that_never_came_upon_a_session_says_so() -> None:
    row = fault_row(FAULT, [replace(CAUGHT, touched=0)], frozenset())
    assert (row.runs, row.missed) == (0, False)
    assert "no session" in row.why_not


@pytest.mark.parametrize("verdict", list(VerdictKind), ids=str)
def test_only_indeterminate_is_a_false_alarm(verdict: VerdictKind) -> None:
    row = honest_row([replace(HONEST_RUN, verdict=verdict)])
    assert row.indeterminate == (verdict is VerdictKind.INDETERMINATE)
    assert row.verdicts == {verdict.value: 1}


RUNS = st.builds(
    Shown,
    name=st.just("wrong-build"),
    verdict=st.sampled_from(VerdictKind),
    fired=st.lists(st.sampled_from(["binding", "identity", "delivery"]), unique=True).map(tuple),
    touched=st.integers(0, 5),
    reason=st.just(""),
)


@given(st.lists(RUNS))
def test_every_run_is_counted_once_and_no_more_are_detected_than_made(runs: list[Shown]) -> None:
    fault: Fault = FAULT
    row = fault_row(fault, runs, frozenset())
    assert row.runs + row.untouched == len(runs)
    assert sum(row.verdicts.values()) == row.runs
    assert 0 <= row.detected <= row.runs - row.verdicts.get("PASS", 0)
    assert all(0 < count <= row.detected for count in row.caught_by.values())
