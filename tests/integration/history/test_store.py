"""The same behaviour on SQLite and on a real PostgreSQL server."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.unit.history.runs import BUILD, DAY, OTHER_BUILD, SUITE, a_drill, a_run, prior_runs

from agent_litmus.errors import LitmusHistoryError
from agent_litmus.history.connect import reading
from agent_litmus.history.queries import Wanted
from agent_litmus.history.store import EMPTY, History
from agent_litmus.history.tables import CELLS, ESTIMATES, REASONS, SKETCHES, TALLIES
from agent_litmus.records.history import HistoryFacts, PriorRun
from agent_litmus.records.verdict import VerdictKind

pytestmark = pytest.mark.integration


def test_an_empty_place_is_missing_and_is_not_begun_by_asking(history: History) -> None:
    assert history.facts(SUITE) == HistoryFacts(None, EMPTY)
    assert history.last_drill(SUITE, "0.1.0") is None
    for ask in (history.list, lambda: history.show("x"), lambda: history.prune(now=0.0, keep=0)):
        with pytest.raises(LitmusHistoryError, match="there is no history yet"):
            ask()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prior_runs)
def test_every_run_comes_back_as_it_was_recorded(history: History, run: PriorRun) -> None:
    with suppress(LitmusHistoryError):  # of the first example, before which there is no history
        history.prune(now=1e12, keep=0)
    assert history.record(run)
    assert history.show(run.run_id) == run
    assert history.facts(run.suite_digest).runs == (run,)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "\udcff::x"], ids=["nul", "surrogate", "undecodable"])
def test_what_a_database_cannot_hold_is_kept_as_an_escape(history: History, text: str) -> None:
    run = a_run(ref=text, agent=text, by_category={text: a_run().tallies})
    history.record(run)
    shown = history.show("run-1")
    assert shown.agent == shown.ref == next(iter(shown.by_category))
    assert shown.agent.isascii()
    assert "\\" in shown.agent


def test_facts_list_baseline_and_drill_agree_on_both(history: History) -> None:
    history.record(a_run("accepted", at=1.0, agent_digest=OTHER_BUILD))
    history.record(a_run("failed", at=2.0, ref="feature", protected=False, verdict=VerdictKind.FAIL))
    history.record(a_run("partial", at=3.0, partial=True, verdict=VerdictKind.INDETERMINATE))
    history.record_drill(a_drill())
    facts = history.facts(SUITE, agent_digest=BUILD, excluding="partial", tool_version="0.1.0")
    assert [run.run_id for run in facts.runs or ()] == ["accepted", "failed"]
    assert facts.accepted == a_run("accepted", at=1.0, agent_digest=OTHER_BUILD)
    assert facts.drill == a_drill()
    assert [run.run_id for run in facts.tries(BUILD)] == ["failed"]
    assert [run.run_id for run in history.list(Wanted("office", "f*"))] == ["failed"]
    assert [run.run_id for run in history.list(Wanted("%"))] == []


def test_a_second_recording_changes_nothing_and_another_run_is_refused(history: History) -> None:
    assert history.record(a_run())
    assert not history.record(a_run(verdict=VerdictKind.FAIL))
    with pytest.raises(LitmusHistoryError, match="recorded already, with other results"):
        history.record(a_run(results_digest="sha256:" + "f" * 64))
    assert history.facts(SUITE).runs == (a_run(),)


def test_pruned_runs_leave_nothing_behind(history: History) -> None:
    for day in range(4):
        history.record(a_run(f"d{day}", at=day * DAY, protected=day == 1))
    assert [run.run_id for run in history.prune(now=4 * DAY, keep=1)] == ["d2", "d0"]
    with reading(history.place, history._engine) as connection:
        for table in (CELLS, ESTIMATES, REASONS, SKETCHES, TALLIES):
            assert {row.run_id for row in connection.execute(table.select())} == {"d1", "d3"}


def test_a_run_that_a_database_refuses_leaves_nothing_behind(history: History) -> None:
    history.record(a_run("first"))
    run = a_run("second", tallies={"ir": replace(a_run().tallies["ir"], good=2**70)})
    with pytest.raises(LitmusHistoryError, match="cannot be written"):
        history.record(run)
    assert [run.run_id for run in history.list()] == ["first"]
