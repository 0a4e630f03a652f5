import shutil
from pathlib import Path

import pytest
from tests.unit.history.runs import BUILD, SUITE, a_drill, a_run

from agent_litmus.history.origin import beside
from agent_litmus.history.place import place_of
from agent_litmus.history.store import RESTORED, History
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.verdict import VerdictKind


def at(file: Path) -> History:
    return History(place_of(f"sqlite:///{file}"), ("main",))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A history with an accepted run, a failed one and a drill."""
    file = tmp_path / "runs" / "history.sqlite"
    history = at(file)
    history.record(a_run("accepted"))
    history.record(a_run("failed", at=2000.0, verdict=VerdictKind.FAIL))
    history.record_drill(a_drill())
    return file


def restored(file: Path, to: Path) -> Path:
    """What a cache does: everything is put away, removed and brought back, times and all."""
    away = shutil.copytree(file.parent, to / "cache")
    shutil.rmtree(file.parent)
    shutil.copytree(away, file.parent)
    return file


def test_a_history_that_stayed_where_it_was_is_trusted(file: Path) -> None:
    facts = at(file).facts(SUITE, agent_digest=BUILD, tool_version="0.1.0")
    assert [run.run_id for run in facts.runs or ()] == ["accepted", "failed"]
    assert facts.accepted is not None
    assert facts.drill is not None


def test_a_history_from_a_cache_is_missing(file: Path, tmp_path: Path) -> None:
    history = at(restored(file, tmp_path))
    assert history.facts(SUITE, tool_version="0.1.0") == HistoryFacts(None, RESTORED)
    assert history.last_accepted(SUITE) is None
    assert history.last_drill(SUITE, "0.1.0") is None


def test_a_copy_is_missing_and_the_original_is_not(file: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(file.parent, tmp_path / "copy")) / file.name
    assert at(copy).facts(SUITE).runs is None
    assert at(file).facts(SUITE).runs is not None


@pytest.mark.parametrize("harm", ["removed", "written again"])
def test_without_the_file_that_vouches_for_it_a_history_is_missing(file: Path, harm: str) -> None:
    words = beside(file).read_text("utf-8")
    beside(file).unlink()
    if harm == "written again":
        beside(file).write_text(words, "utf-8")
    assert at(file).facts(SUITE) == HistoryFacts(None, RESTORED)


def test_runs_recorded_after_a_restoration_count_and_the_older_ones_do_not(file: Path, tmp_path: Path) -> None:
    history = at(restored(file, tmp_path))
    history.record(a_run("new", at=3000.0, protected=False, ref=""))
    facts = history.facts(SUITE, agent_digest=BUILD, tool_version="0.1.0")
    assert [run.run_id for run in facts.runs or ()] == ["new"]
    assert (facts.accepted, facts.drill) == (None, None)
    assert {run.run_id: run.restored for run in history.list()} == {"accepted": True, "failed": True, "new": False}


def test_a_drill_recorded_after_a_restoration_counts(file: Path, tmp_path: Path) -> None:
    history = at(restored(file, tmp_path))
    history.record_drill(a_drill(name="new"))
    found = history.last_drill(SUITE, "0.1.0")
    assert found is not None
    assert found.name == "new"
    assert history.facts(SUITE).runs is None
