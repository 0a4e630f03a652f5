from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.history.runs import BUILD, DAY, OTHER_BUILD, OTHER_SUITE, SUITE, a_drill, a_run

from agent_litmus.errors import LitmusHistoryError
from agent_litmus.history.place import place_of
from agent_litmus.history.queries import NEWEST, SKETCHED, Wanted
from agent_litmus.history.store import EMPTY, History
from agent_litmus.records.history import HistoryFacts, PriorRun
from agent_litmus.records.verdict import VerdictKind

PASS, FAIL, INDETERMINATE = VerdictKind.PASS, VerdictKind.FAIL, VerdictKind.INDETERMINATE


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(place_of(f"sqlite:///{tmp_path / 'history.sqlite'}"), ("main", "release/*"))


def runs_of(facts: HistoryFacts) -> tuple[PriorRun, ...]:
    assert facts.runs is not None, facts.why
    return facts.runs


def ids(runs: tuple[PriorRun, ...] | None) -> list[str]:
    return [run.run_id for run in runs or ()]


def test_a_history_that_does_not_exist_is_missing_and_not_created_by_asking(history: History) -> None:
    assert history.facts(SUITE) == HistoryFacts(None, EMPTY)
    assert history.last_drill(SUITE, "0.1.0") is None
    assert history.place.file is not None
    assert not history.place.file.exists()


def test_a_history_without_a_run_of_the_suite_is_missing_not_an_empty_list(history: History) -> None:
    history.record(a_run())
    assert history.facts(OTHER_SUITE) == HistoryFacts(None, EMPTY)


def test_what_was_recorded_is_what_is_read(history: History) -> None:
    assert history.record(a_run())
    assert history.facts(SUITE).runs == (a_run(),)
    assert history.facts(SUITE).why == ""
    assert history.show("run-1") == a_run()
    assert history.list() == (replace(a_run(), responses={}, tokens=()),)


def test_facts_give_runs_oldest_first_and_leave_out_the_run_itself(history: History) -> None:
    for at, name in enumerate("cab"):
        history.record(a_run(name, at=float(at)))
    assert ids(history.facts(SUITE).runs) == ["c", "a", "b"]
    assert ids(history.facts(SUITE, excluding="a").runs) == ["c", "b"]


def test_a_run_that_is_held_for_another_build_is_not_the_one_that_is_judged(history: History) -> None:
    history.record(a_run("a"))
    assert ids(history.facts(SUITE, agent_digest=BUILD, excluding="a").runs) == []
    assert ids(history.facts(SUITE, agent_digest=OTHER_BUILD, excluding="a").runs) == ["a"]


def test_a_second_recording_of_the_same_results_changes_nothing(history: History) -> None:
    assert history.record(a_run())
    assert not history.record(a_run(verdict=FAIL, report_digest="sha256:" + "9" * 64))
    assert history.facts(SUITE).runs == (a_run(),)


@pytest.mark.parametrize("field", ["results_digest", "agent_digest", "suite_digest"])
def test_a_second_run_with_a_taken_id_is_refused(history: History, field: str) -> None:
    history.record(a_run())
    with pytest.raises(LitmusHistoryError, match=r"run run-1 is recorded already, with other results"):
        history.record(a_run(**{field: "sha256:" + "f" * 64}))
    assert history.show("run-1") == a_run()


@pytest.mark.parametrize("run_id", ["", "x" * 201])
def test_a_run_without_a_usable_id_is_refused(history: History, run_id: str) -> None:
    with pytest.raises(LitmusHistoryError, match="id"):
        history.record(a_run(run_id))


def test_facts_hold_the_newest_runs_all_of_the_build_and_the_last_accepted_one(history: History) -> None:
    history.record(a_run("own", at=0.0, protected=False, ref="x", verdict=FAIL))
    history.record(a_run("accepted", at=1.0, agent_digest=OTHER_BUILD))
    for n in range(NEWEST):
        history.record(a_run(f"n{n}", at=2.0 + n, agent_digest=OTHER_BUILD, verdict=FAIL))
    facts = history.facts(SUITE, agent_digest=BUILD)
    assert ids(runs_of(facts)[:3]) == ["own", "accepted", "n0"]
    assert len(runs_of(facts)) == NEWEST + 2
    assert facts.accepted == replace(a_run("accepted", at=1.0, agent_digest=OTHER_BUILD), responses={}, tokens=())
    assert sum(bool(run.responses) for run in runs_of(facts)) == SKETCHED
    assert all(run.responses for run in runs_of(facts)[-SKETCHED:])


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ({}, True),
        ({"ref": "release/1.2"}, True),
        ({"verdict": FAIL}, False),
        ({"verdict": INDETERMINATE}, False),
        ({"partial": True}, False),
        ({"protected": False}, False),
        ({"ref": "feature"}, False),
        ({"ref": ""}, False),
        ({"suite_digest": OTHER_SUITE}, False),
    ],
    ids=str,
)
def test_a_baseline_is_a_pass_of_the_whole_suite_on_a_ref_that_was_and_is_protected(
    history: History, change: dict[str, Any], accepted: bool
) -> None:
    history.record(a_run(**change))
    assert (history.last_accepted(SUITE) is not None) == accepted


def test_the_last_accepted_run_is_the_newest_of_them(history: History) -> None:
    for at, name in enumerate("cab"):
        history.record(a_run(name, at=float(at)))
    history.record(a_run("failed", at=9.0, verdict=FAIL))
    accepted = history.last_accepted(SUITE)
    assert accepted is not None
    assert accepted.run_id == "b"


@pytest.mark.parametrize("patterns", [("*",), ("**", "?*"), ("",)])
def test_a_ref_that_is_not_named_is_never_protected(patterns: tuple[str, ...]) -> None:
    assert not History(place_of("sqlite:///x"), patterns).protects("")


def test_the_last_drill_is_of_the_suite_and_the_version(history: History) -> None:
    history.record_drill(a_drill(name="older", at=1.0, missed=("echo",), detected=8))
    history.record_drill(a_drill(name="newer", at=2.0))
    history.record_drill(a_drill(name="other version", at=3.0, tool_version="0.2.0"))
    history.record_drill(a_drill(name="other suite", at=3.0, suite_digest=OTHER_SUITE))
    assert history.last_drill(SUITE, "0.1.0") == a_drill(name="newer", at=2.0)
    assert history.last_drill(SUITE, "0.3.0") is None
    history.record(a_run())
    assert history.facts(SUITE, tool_version="0.1.0").drill == a_drill(name="newer", at=2.0)


def test_a_drill_keeps_the_names_of_what_it_missed(history: History) -> None:
    drill = a_drill(missed=("echo \x1b[31m", "skip"), detected=7)
    history.record_drill(drill)
    assert history.last_drill(SUITE, "0.1.0") == drill
    assert not drill.clean


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), ["c", "b", "a"]),
        (Wanted(suite="office"), ["b", "a"]),
        (Wanted(suite=SUITE), ["b", "a"]),
        (Wanted(suite=SUITE[:12]), ["b", "a"]),
        (Wanted(suite="66"), ["c"]),
        (Wanted(suite="off"), []),
        (Wanted(suite="%"), []),
        (Wanted(ref="feature/*"), ["b"]),
        (Wanted(ref="main"), ["c", "a"]),
        (Wanted(suite="office", ref="main"), ["a"]),
    ],
    ids=str,
)
def test_a_list_is_newest_first_and_filtered(history: History, wanted: Wanted, expected: list[str]) -> None:
    history.record(a_run("a", at=1.0))
    history.record(a_run("b", at=2.0, ref="feature/x"))
    history.record(a_run("c", at=3.0, suite_id="desk", suite_digest=OTHER_SUITE))
    assert ids(history.list(wanted)) == expected
    assert ids(history.list(wanted, limit=1)) == expected[:1]


def test_a_run_is_shown_by_the_beginning_of_its_id_if_that_is_enough(history: History) -> None:
    for name in ("run-1", "run-12", "other"):
        history.record(a_run(name))
    assert history.show("o").run_id == "other"
    assert history.show("run-1").run_id == "run-1"
    with pytest.raises(LitmusHistoryError, match="2 runs begin with 'run'"):
        history.show("run")
    for absent in ("x", "", "%"):
        with pytest.raises(LitmusHistoryError, match="no run is or begins with"):
            history.show(absent)


def test_without_a_history_list_show_and_prune_say_so(history: History) -> None:
    with pytest.raises(LitmusHistoryError, match="there is no history yet"):
        history.list()
    with pytest.raises(LitmusHistoryError, match="there is no history yet"):
        history.show("x")
    with pytest.raises(LitmusHistoryError, match="there is no history yet"):
        history.prune(now=0.0, keep=1)


def recorded(history: History) -> None:
    """Five runs of one suite, a day apart, the second one accepted on main; and an old one of another suite."""
    for day in range(5):
        ref = "main" if day == 1 else "feature"
        history.record(a_run(f"d{day}", at=day * DAY, ref=ref, protected=day == 1))
    history.record(a_run("other", at=0.0, suite_id="desk", suite_digest=OTHER_SUITE, ref="x", protected=False))


@pytest.mark.parametrize(
    ("keep", "older_than", "wanted", "removed"),
    [
        (2, None, Wanted(), ["d2", "d0"]),
        (0, None, Wanted(), ["d4", "d3", "d2", "other", "d0"]),
        (None, 1.0, Wanted(), ["d2", "other", "d0"]),
        (None, 2.0, Wanted(), ["other", "d0"]),
        (4, 1.0, Wanted(), ["d0"]),
        (None, None, Wanted(), []),
        (0, None, Wanted(suite="desk"), ["other"]),
        (0, None, Wanted(ref="f*"), ["d4", "d3", "d2", "d0"]),
    ],
)
def test_pruning_removes_what_every_condition_gives_up_and_never_a_baseline(
    history: History, keep: int | None, older_than: float | None, wanted: Wanted, removed: list[str]
) -> None:
    recorded(history)
    before = ids(history.list())
    arguments: dict[str, Any] = {"now": 4 * DAY, "keep": keep, "older_than": older_than, "wanted": wanted}
    assert ids(history.prune(**arguments, dry_run=True)) == removed
    assert ids(history.list()) == before
    assert ids(history.prune(**arguments)) == removed
    assert ids(history.list()) == [name for name in before if name not in removed]


def test_pruned_runs_leave_nothing_behind(history: History) -> None:
    recorded(history)
    history.prune(now=4 * DAY, keep=0)
    from agent_litmus.history.connect import reading
    from agent_litmus.history.tables import CELLS, ESTIMATES, REASONS, SKETCHES, TALLIES

    with reading(history.place, history._engine) as connection:
        for table in (CELLS, ESTIMATES, REASONS, SKETCHES, TALLIES):
            assert {row.run_id for row in connection.execute(table.select())} == {"d1"}
