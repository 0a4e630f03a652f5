"""``litmus audit``: fresh sessions of the recorded episodes, through the whole pipeline."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_litmus.app.episode_files import stored_of
from agent_litmus.formats.episodes import episode_writer
from agent_litmus.formats.json_report import read_report
from agent_litmus.records.stored import EpisodesSummary

from .conftest import HERE, Project

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory, bubblewrap: Callable[[], None]) -> Project:
    """A project with one run of the honest agent; tests only read it."""
    bubblewrap()
    root = tmp_path_factory.mktemp("audit") / "a project"
    shutil.copytree(HERE / "project", root, ignore=shutil.ignore_patterns("__pycache__", "runs"))
    assert Project(root).litmus("run").code == 0
    return Project(root)


@pytest.fixture
def ran(once: Project, tmp_path: Path) -> Project:
    """The project with its run, to be changed."""
    shutil.copytree(once.root, tmp_path / "copy", symlinks=True, ignore=shutil.ignore_patterns(".snapshots"))
    return Project(tmp_path / "copy")


def report_of(project: Project) -> str:
    return str(project.runs()[0] / "report.json")


def episodes_of(project: Project, path: Path) -> Path:
    """The run's outcomes as a file of another harness would hold them."""
    rows = [stored_of(section.episode, "theirs") for section in read_report(Path(report_of(project))).episodes]
    with episode_writer(path) as writer:
        for row in rows:
            writer.add(row)
        writer.finish(EpisodesSummary("elsewhere", len(rows)))
    return path


def test_an_honest_report_is_clear_and_another_build_is_an_alarm(ran: Project) -> None:
    done = ran.litmus("audit", report_of(ran), "--agent", "litmus.toml", "-m", "12", "--json")
    assert (done.code, done.report["audit"], done.report["drawn"]) == (0, "CLEAR", 12)
    assert 0 < done.report["detectable_share"] <= 1
    assert done.report["report_digest"] == done.report["current_digest"]
    ran.behave("quote")
    other = ran.litmus("audit", report_of(ran), "--agent", "litmus.toml", "-m", "12")
    assert other.code == 75
    assert other.last.startswith("litmus: AUDIT ALARM  ")
    assert "note: the report declares another build" in other.stdout


def test_few_episodes_are_underpowered_and_the_draw_can_be_repeated(ran: Project) -> None:
    arguments = ("audit", report_of(ran), "--agent", "litmus.toml", "-m", "2", "--draw-seed", "7", "--json")
    done = ran.litmus(*arguments)
    assert (done.code, done.report["audit"], done.report["seed"]) == (75, "UNDERPOWERED", 7)


def test_imported_outcomes_are_audited_by_their_probe_ids(ran: Project, tmp_path: Path) -> None:
    path = episodes_of(ran, tmp_path / "theirs.jsonl")
    done = ran.litmus("audit", str(path), "--agent", "litmus.toml", "-m", "12", "--json")
    assert (done.code, done.report["audit"], done.report["imported"]) == (0, "CLEAR", True)
    ran.behave("hijacked")
    worse = ran.litmus("audit", str(path), "--agent", "litmus.toml", "-m", "12", "--json")
    assert (worse.code, worse.report["audit"]) == (75, "ALARM")
    assert {test["name"] for test in worse.report["tests"] if test["significant"]} >= {"outcomes"}


def test_imported_outcomes_are_scored_by_the_gate_and_never_pass(ran: Project, tmp_path: Path) -> None:
    path = episodes_of(ran, tmp_path / "theirs.jsonl")
    done = ran.litmus("gate", str(path), "-c", "litmus.toml", "--json")
    assert (done.code, done.report["verdict"], done.report["imported"]) == (75, "INDETERMINATE", True)
    assert {reason["code"] for reason in done.report["reasons"]} == {"unproven"}
    assert done.report["score"]["ir"]["value"] == 1.0
    assert not any(status["discharged"] for status in done.report["obligations"])


@pytest.mark.parametrize("text", ["", "{}", '{"format": "agent-litmus-episodes", "schema_version": 1}\n'])
def test_what_cannot_be_audited_is_a_clear_error(project: Project, text: str) -> None:
    (project.root / "odd.json").write_text(text)
    done = project.litmus("audit", "odd.json", "--agent", "litmus.toml")
    assert (done.code, done.stdout) == (2, "")
    assert "odd.json" in done.stderr


def test_another_suite_cannot_be_audited(ran: Project) -> None:
    path = Path(report_of(ran))
    document = json.loads(path.read_text())
    document["suite"]["digest"] = "sha256:" + "0" * 64
    path.write_text(json.dumps(document))
    done = ran.litmus("audit", str(path), "--agent", "litmus.toml", "-m", "4")
    assert done.code == 2
    assert "error [another-suite]" in done.stderr
