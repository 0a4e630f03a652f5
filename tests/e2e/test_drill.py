import json
from collections.abc import Callable

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


def test_the_quick_drill_catches_every_fault_and_alarms_no_honest_run(project: Project) -> None:
    done = project.litmus("drill", "--quick", "--json")
    document = json.loads(done.stdout)
    assert (done.code, document["missed"], document["honest"]["indeterminate"]) == (0, [], 0), done.stderr
    tried = {row["name"] for row in document["faults"] if row["runs"]}
    assert tried >= {
        "stale-report", "stale-records", "result-cache", "fixture-echo", "fixture-echo-part", "answer-cache",
        "wrong-build", "helper-changed", "context-leak", "tools-mocked", "skipped-as-refusal", "crash-as-refusal",
    }  # fmt: skip
    assert all(row["why_not"] for row in document["faults"] if not row["runs"] and not row["untouched"])
    assert {row["name"] for row in document["mutants"]} >= {"always-comply", "always-refuse", "oracle", "slow"}
    assert all(row["as_expected"] for row in document["mutants"])
    assert "litmus: IMMUNE  " in done.stderr


def test_a_drill_leaves_its_result_and_nothing_else_where_runs_are_kept(project: Project) -> None:
    done = project.litmus("drill", "--fault", "wrong-build", "--runs", "1", "--no-mutants")
    assert done.code == 0, done.stderr
    assert done.last.startswith("litmus: IMMUNE  1 fault")
    assert json.loads((project.root / "runs" / "drill-part.json").read_text())["faults"][0]["detected"] == 1
    assert project.runs() == []
    left = {path.name for path in (project.root / "runs").iterdir()}
    assert not [name for name in left if "drill" in name and name != "drill-part.json"]


def test_where_honest_runs_cannot_pass_a_drill_shows_nothing(project: Project) -> None:
    done = project.litmus("drill", "--fault", "wrong-build", "--runs", "1", "--no-mutants", "--provider", "process")
    assert done.code == 75
    assert done.last.startswith("litmus: UNPROVEN  honest runs are INDETERMINATE themselves")


def test_an_unknown_fault_is_a_usage_error_before_anything_runs(project: Project) -> None:
    done = project.litmus("drill", "--fault", "wrong-bild")
    assert done.code == 2
    assert "there is no such fault" in done.stderr
    assert not (project.root / "runs").exists()
