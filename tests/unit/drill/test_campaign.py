import io
import json
from dataclasses import replace

import pytest

from agent_litmus.drill.campaign import DrillResult, MutantRow, chosen_faults
from agent_litmus.drill.faults import ALL, FAULTS
from agent_litmus.drill.outcome import FaultRow, HonestRow
from agent_litmus.drill.remember import prior_drill
from agent_litmus.drill.show import drill_document, last_line, print_drill
from agent_litmus.errors import LitmusConfigError

CAUGHT = FaultRow("wrong-build", "w", 3, 3, {"INDETERMINATE": 3}, {"binding": 3})
MISSED = FaultRow("context-leak", "c", 3, 2, {"INDETERMINATE": 2, "PASS": 1}, {"leak_pairs": 2})
IDLE = FaultRow("response-cache", "r", why_not="the agent calls no model")
QUIET = HonestRow(3, 0, {"PASS": 3}, {})
ALARMED = HonestRow(3, 1, {"INDETERMINATE": 1, "PASS": 2}, {"delivery is not proven": 1})
DARK = HonestRow(3, 3, {"INDETERMINATE": 3}, {"identity is not proven": 3})
GOOD = MutantRow("oracle", "o", ("PASS",), "PASS", as_expected=True, reason="")
BAD = MutantRow("always-comply", "a", ("FAIL",), "PASS", as_expected=False, reason="")


def result(
    faults: tuple[FaultRow, ...] = (CAUGHT, IDLE),
    honest: HonestRow = QUIET,
    mutants: tuple[MutantRow, ...] = (GOOD,),
) -> DrillResult:
    return DrillResult("suite", "sha256:" + "0" * 64, "agent", "1", "bubblewrap", faults, honest, mutants)


def test_every_fault_caught_and_no_honest_run_alarmed_is_clean() -> None:
    assert result().clean
    assert last_line(result()).startswith("litmus: IMMUNE  1 fault")


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (result(faults=(CAUGHT, MISSED)), "context-leak"),
        (result(mutants=(GOOD, BAD)), "always-comply"),
        (result(honest=ALARMED), "1 honest run alarmed"),
    ],
    ids=["missed-fault", "wrong-mutant", "false-alarm"],
)
def test_anything_else_is_not_clean_and_is_named(bad: DrillResult, word: str) -> None:
    assert not bad.clean
    assert not bad.unproven
    assert last_line(bad).startswith("litmus: NOT IMMUNE")
    assert word in last_line(bad)


@pytest.mark.parametrize(
    "dark",
    [result(honest=DARK), result(faults=(IDLE,)), result(faults=(CAUGHT, replace(IDLE, failed=True)))],
    ids=["alarmed-anyway", "no-fault", "fault-not-made"],
)
def test_a_drill_that_shows_nothing_says_so_and_counts_no_detection(dark: DrillResult) -> None:
    assert dark.unproven
    assert not dark.clean
    assert last_line(dark).startswith("litmus: UNPROVEN")
    assert not prior_drill(dark, 1.0).clean


def test_the_history_is_told_what_was_missed() -> None:
    kept = prior_drill(result(faults=(CAUGHT, MISSED, IDLE)), 5.0)
    assert (kept.faults, kept.detected, kept.missed, kept.at) == (2, 1, ("context-leak",), 5.0)
    assert not kept.clean
    assert prior_drill(result(), 5.0).clean


def test_the_document_is_json_with_the_promised_keys() -> None:
    document = json.loads(json.dumps(drill_document(result(faults=(CAUGHT, MISSED, IDLE)))))
    for row in document["faults"]:
        assert {"name", "runs", "detected", "verdicts", "caught_by"} <= row.keys()
    assert {"runs", "indeterminate"} <= document["honest"].keys()
    assert document["missed"] == ["context-leak"]


def test_intervals_are_exact() -> None:
    document = drill_document(result(faults=(CAUGHT,)))
    low, high = document["faults"][0]["interval"]
    assert low == pytest.approx(0.025 ** (1 / 3))
    assert high == 1.0


def test_the_table_names_every_fault_and_why_it_was_not_tried() -> None:
    file = io.StringIO()
    print_drill(result(faults=(CAUGHT, MISSED, IDLE)), file)
    for word in ("wrong-build", "context-leak", "2/3", "the agent calls no model", "binding", "honest", "oracle"):
        assert word in file.getvalue()


def test_without_names_every_fault_and_one_share_of_partial_coupling_are_drilled() -> None:
    chosen = [fault.name for fault in chosen_faults(())]
    assert chosen == [*(fault.name for fault in FAULTS), "partial-25"]


def test_named_faults_alone_are_drilled() -> None:
    assert [fault.name for fault in chosen_faults(("partial-05", "wrong-build"))] == ["wrong-build", "partial-05"]


def test_a_fault_that_there_is_none_of_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(LitmusConfigError, match="no such fault") as caught:
        chosen_faults(("wrong-bild",))
    assert "wrong-build" in caught.value.hint


def test_names_of_faults_are_unique_and_each_says_what_would_catch_it() -> None:
    assert len({fault.name for fault in ALL}) == len(ALL)
    assert all(fault.expected and fault.what and 0 < fault.share <= 1 for fault in ALL)
