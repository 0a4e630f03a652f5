import pytest
from tests.unit.history.runs import BUILD, OTHER_BUILD, a_run

from agent_litmus.records.history import HistoryFacts, PriorDrill, is_protected
from agent_litmus.records.verdict import VerdictKind

P, F, X = VerdictKind.PASS, VerdictKind.FAIL, VerdictKind.INDETERMINATE


def tries(*verdicts: VerdictKind) -> list[int]:
    """Which of these runs, one after the other, a re-run is pooled with."""
    runs = tuple(a_run(str(n), verdict=verdict) for n, verdict in enumerate(verdicts))
    return [int(run.run_id) for run in HistoryFacts(runs).tries(BUILD)]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((), []),
        ((P,), []),
        ((P, P), []),
        ((X,), []),
        ((F,), [0]),
        ((F, F), [0, 1]),
        ((F, P), [0, 1]),
        ((P, F), [1]),
        ((P, P, F, P, F), [2, 3, 4]),
        ((F, X), [0]),
        ((X, F), [1]),
        ((F, X, P), [0, 2]),
    ],
    ids=lambda value: "-".join(str(part)[0] for part in value) or "none",
)
def test_a_re_run_is_pooled_from_the_first_fail_on_and_never_with_indeterminate_ones(
    verdicts: tuple[VerdictKind, ...], expected: list[int]
) -> None:
    assert tries(*verdicts) == expected


def test_another_build_a_partial_run_and_a_fail_of_a_harness_in_doubt_are_no_tries() -> None:
    doubtful = [
        a_run(code, verdict=F, reasons=("floor_missed", code)) for code in ("malformed", "desync", "unproven")
    ]
    runs = (a_run("other", verdict=F, agent_digest=OTHER_BUILD), a_run("part", verdict=F, partial=True), *doubtful)
    assert HistoryFacts(runs).tries(BUILD) == ()
    assert [run.run_id for run in HistoryFacts(runs).tries(OTHER_BUILD)] == ["other"]


def test_without_a_history_there_are_no_tries() -> None:
    assert HistoryFacts(None).tries(BUILD) == ()


@pytest.mark.parametrize(
    ("faults", "detected", "missed", "clean"),
    [(9, 9, (), True), (9, 8, ("echo",), False), (9, 9, ("echo",), False), (9, 8, (), False), (0, 0, (), False)],
)
def test_a_drill_is_clean_only_if_faults_were_tried_and_all_detected(
    faults: int, detected: int, missed: tuple[str, ...], clean: bool
) -> None:
    assert PriorDrill("x", "s", "0", faults, detected, 1, 0, 0.0, missed).clean is clean


@pytest.mark.parametrize(
    ("ref", "patterns", "expected"),
    [
        ("main", ("main",), True),
        ("main2", ("main",), False),
        ("release/1/x", ("release/*",), True),
        ("Main", ("main",), False),
        ("v1", ("v[0-9]",), True),
        ("", ("*",), False),
        ("main", (), False),
    ],
)
def test_a_ref_is_protected_by_a_shell_pattern(ref: str, patterns: tuple[str, ...], expected: bool) -> None:
    assert is_protected(ref, patterns) is expected
