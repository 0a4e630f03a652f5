"""Runs remember each other, through the command line."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent_litmus.app.history import recall
from agent_litmus.config import load_config
from agent_litmus.history.store import History, open_history
from agent_litmus.records.episode import Cell
from agent_litmus.records.history import PriorRun
from agent_litmus.records.scorecard import Tally
from agent_litmus.records.verdict import VerdictKind

from .conftest import Project

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


def listed(project: Project) -> list[dict[str, Any]]:
    done = project.litmus("history", "list", "--json")
    assert done.code == 0, done.stderr
    runs: list[dict[str, Any]] = json.loads(done.stdout)["runs"]
    return runs


def of(project: Project) -> History:
    return open_history(load_config(project.root / "litmus.toml"))


def failed_try(run: PriorRun) -> PriorRun:
    """The same build on the same suite, three of its twelve injected episodes hijacked."""
    ir, n = Tally(9, 3, 0), Tally(9, 3, 0)
    return replace(
        run,
        run_id="earlier-fail",
        at=run.at - 1,
        verdict=VerdictKind.FAIL,
        reason="floor_missed",
        reasons=("floor_missed",),
        tallies={**run.tallies, "ir": ir, "sr": n},
        by_category={"one": {"ir": ir, "sr": n}},
        cells={Cell.BASELINE_SUCCESS: 4, Cell.HIJACKED_HOST_DONE: 3, Cell.SILENT_RESISTANCE: 9},
        results_digest="sha256:" + "e" * 64,
        normalised_results_digest="sha256:" + "f" * 64,
        responses={},
        tokens=(),
    )


def test_two_runs_of_an_honest_build_pass_and_a_fail_before_them_is_not_washed_away(project: Project) -> None:
    project.edit("litmus.toml", "[gate]", '[history]\nref = "main"\n\n[gate]')
    first = project.litmus("run", "--json").report
    second = project.litmus("run", "--json").report
    assert [first["verdict"], second["verdict"]] == ["PASS", "PASS"], second["reasons"]
    assert first["pooled"] == second["pooled"] == []
    runs = listed(project)
    assert [run["run_id"] for run in runs] == [second["run_id"], first["run_id"]]
    assert all(run["protected"] and run["attributed"] and not run["partial"] for run in runs)
    assert runs[0]["results_digest"] == second["results_digest"]
    assert runs[0]["tallies"] == second["counts"]["tallies"]

    history = of(project)
    kept = history.show(first["run_id"])
    assert 0 < len(kept.responses) <= first["counts"]["episodes"]
    facts = recall(
        load_config(project.root / "litmus.toml"),
        suite_digest=first["suite"]["digest"],
        agent_digest=first["agent"]["digest"],
        run_id=second["run_id"],
    ).facts
    assert facts.accepted is not None
    assert facts.accepted.run_id == first["run_id"]

    history.record(failed_try(kept))
    third = project.litmus("run", "--json")
    report = third.report
    assert (third.code, report["verdict"]) == (1, "FAIL"), report["reasons"]
    assert report["pooled"] == ["earlier-fail", first["run_id"], second["run_id"]]
    assert "over this run and 3 earlier tries of this build" in report["reason"]
    assert report["score"]["ir"]["value"] == 1.0


def test_a_run_that_is_judged_again_is_recorded_once_and_is_no_try_of_itself(project: Project) -> None:
    project.behave("hijacked")
    first = project.litmus("run", "--json").report
    assert first["verdict"] == "FAIL"
    again = project.litmus("run", "--json", "--resume", f"runs/{first['run_id']}").report
    assert (again["run_id"], again["verdict"], again["pooled"]) == (first["run_id"], "FAIL", [])
    assert [run["run_id"] for run in listed(project)] == [first["run_id"]]


def test_a_history_that_cannot_be_used_is_said_and_the_report_stands(project: Project) -> None:
    (project.root / "runs").mkdir()
    (project.root / "runs" / "history.sqlite").write_bytes(b"not a database")
    done = project.litmus("run", "--json")
    assert done.report["verdict"] == "PASS", done.report["reasons"]
    assert "warning: history" in done.stderr
    assert "the report stands, but this run is not in the history" in done.stderr
    assert "move the file away" in done.stderr
    assert (project.root / "runs" / done.report["run_id"] / "report.json").exists()


def test_a_history_that_is_turned_off_is_neither_read_nor_written(project: Project) -> None:
    project.edit("litmus.toml", "[gate]", "[history]\nenabled = false\n\n[gate]")
    done = project.litmus("run", "--json", "--limit", "1")
    assert done.code == 75
    assert not (project.root / "runs" / "history.sqlite").exists()
    assert "history cannot" not in done.stderr
