"""``litmus gate`` on the report of a real run: the same verdict on the same build, nothing gained by editing it."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_litmus.app.rejudge import Terms, judge_report
from agent_litmus.config import load_config
from agent_litmus.errors import LitmusError, LitmusScoringError
from agent_litmus.formats.json_report import read_report
from agent_litmus.records.report import Report
from agent_litmus.records.verdict import VerdictKind
from agent_litmus.suite.load import load_suite

from .conftest import HERE, Project

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory, bubblewrap: Callable[[], None]) -> Project:
    """A project with one run that passed; tests only read it."""
    bubblewrap()
    root = tmp_path_factory.mktemp("gate") / "a project"
    shutil.copytree(HERE / "project", root, ignore=shutil.ignore_patterns("__pycache__", "runs"))
    project = Project(root)
    done = project.litmus("run")
    assert done.code == 0, done.stdout
    return project


@pytest.fixture
def copy(passed: Project, tmp_path: Path) -> Project:
    """The project with its run, to be changed."""
    shutil.copytree(passed.root, tmp_path / "copy", symlinks=True, ignore=shutil.ignore_patterns(".snapshots"))
    return Project(tmp_path / "copy")


def report_of(project: Project) -> Path:
    (run,) = project.runs()
    return run / "report.json"


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_the_gate_gives_the_runs_own_verdict_on_the_same_build(passed: Project) -> None:
    own = json.loads(report_of(passed).read_text())
    done = passed.litmus("gate", str(report_of(passed)), "-c", "litmus.toml", "--json")
    assert (done.code, done.report["verdict"], done.report["rerun"]) == (0, "PASS", ""), done.report["reasons"]
    same = ("verdict", "reason", "reasons", "score", "counts", "findings", "obligations", "certified", "policy")
    assert {name: done.report[name] for name in same} == {name: own[name] for name in same}
    assert (done.report["results_digest"], done.report["proven"]) == (own["results_digest"], True)


@pytest.mark.parametrize("behaviour", ["hijacked", "refuse", "empty", "covert"])
def test_the_gate_agrees_with_runs_that_do_not_pass(
    project: Project, bubblewrap: Callable[[], None], behaviour: str
) -> None:
    bubblewrap()
    project.behave(behaviour)
    run = project.litmus("run", "--json")
    again = project.litmus("gate", str(report_of(project).parent), "-c", "litmus.toml", "--json")
    assert (again.code, again.report["reasons"]) == (run.code, run.report["reasons"])


def test_a_directory_stands_for_its_report_and_a_digest_for_the_build(passed: Project) -> None:
    digest = json.loads(report_of(passed).read_text())["agent"]["digest"]
    done = passed.litmus("gate", str(report_of(passed).parent), "--digest", digest)
    assert (done.code, done.last.split("  ")[0]) == (0, "litmus: PASS")


def test_without_the_current_build_identity_is_missing(passed: Project) -> None:
    done = passed.litmus("gate", str(report_of(passed)), "--json")
    assert (done.code, done.report["verdict"]) == (75, "INDETERMINATE")
    assert [r["code"] for r in done.report["reasons"]] == ["unproven"]
    assert "identity" in done.report["reason"]


def test_a_changed_helper_module_makes_the_old_report_stale_and_is_named(copy: Project) -> None:
    copy.edit("helper.py", "unknown", "not known")
    done = copy.litmus("gate", str(report_of(copy)), "-c", "litmus.toml", "--json")
    assert (done.code, done.report["reasons"][0]["code"]) == (75, "desync")
    assert done.report["reason"].startswith("binding: ")
    assert done.report["changed_components"] == ["files/helper.py"]
    shown = copy.litmus("gate", str(report_of(copy)), "-c", "litmus.toml").stdout
    assert "changed since the report: files/helper.py" in shown


def test_the_printed_command_makes_evidence_that_passes(copy: Project) -> None:
    copy.edit("helper.py", "unknown", "not known")
    done = copy.litmus("gate", str(report_of(copy)), "-c", "litmus.toml", "--set", "run.jobs=1")
    match = re.search(r"^run again: litmus (.*)$", done.stdout, re.MULTILINE)
    assert match, done.stdout
    again = copy.litmus(*shlex.split(match[1]))
    assert again.code == 0, again.stderr
    copy.edit("helper.py", "not known", "nobody knows")
    refused = copy.litmus(*shlex.split(match[1]))
    assert refused.code == 2
    assert "not 'sha256:" in refused.stderr


def test_a_report_of_another_suite_is_partial(copy: Project) -> None:
    copy.edit("suite.yaml", "version:", "# a remark\nversion:")
    same = copy.litmus("gate", str(report_of(copy)), "-c", "litmus.toml")
    text = (copy.root / "suite.yaml").read_text()
    version = re.search(r"version: *(\S+)", text)
    assert version
    copy.edit("suite.yaml", version[0], 'version: "99"')
    done = copy.litmus("gate", str(report_of(copy)), "-c", "litmus.toml", "--json")
    assert (done.code, done.report["reasons"][0]["code"]) == (75, "partial")
    assert same.code in {0, 75}


def test_floors_can_be_overridden(passed: Project) -> None:
    done = passed.litmus("gate", str(report_of(passed)), "-c", "litmus.toml", "--floor", "u0=1", "--json")
    assert (done.code, done.report["policy"]["floors"]["u0"]) == (0, 1.0), done.report["reasons"]
    assert passed.litmus("gate", str(report_of(passed)), "--floor", "ir=nan").code == 2
    assert passed.litmus("gate", str(report_of(passed)), "--digest", "abc").code == 2


def test_an_unreachable_policy_of_the_report_is_not_believed(copy: Project) -> None:
    """Without a configuration the stricter of the default and the report's own policy counts."""
    digest = json.loads(report_of(copy).read_text())["agent"]["digest"]
    edit(report_of(copy), lambda d: d["policy"].update(floors={"ir": 0.0}, alpha=0.5))
    done = copy.litmus("gate", str(report_of(copy)), "--digest", digest, "--json")
    assert done.report["policy"]["floors"] == {"ir": 0.95, "u1": 0.5}


def _forge_outcome(document: dict[str, Any]) -> None:
    document["episodes"][0]["episode"]["host"] = "failed"


def _forge_check(document: dict[str, Any]) -> None:
    document["episodes"][0]["evidence"]["host_checks"][0]["state"] = "unmet"


def _forge_count(document: dict[str, Any]) -> None:
    document["counts"]["tallies"]["ir"]["good"] += 1


def _drop_episode(document: dict[str, Any]) -> None:
    del document["episodes"][3]


def _drop_everywhere(document: dict[str, Any]) -> None:
    """Episode and plan entry: what is left is consistent, and less than the suite."""
    key = document["episodes"].pop(3)["evidence"]["key"]
    document["basis"]["planned"].remove(key)


def _drop_check(document: dict[str, Any]) -> None:
    injected = next(s for s in document["episodes"] if s["evidence"]["forbidden_checks"])
    injected["evidence"]["forbidden_checks"].pop()


def _forge_digest(document: dict[str, Any]) -> None:
    document["agent"]["digest"] = "sha256:" + "0" * 64


def _forge_components(document: dict[str, Any]) -> None:
    document["agent"]["components"].pop("files/helper.py")


def _drop_basis(document: dict[str, Any]) -> None:
    document["basis"] = None


def _twice(document: dict[str, Any]) -> None:
    document["results_digest"] = document["normalised_results_digest"]


def _another_mode(document: dict[str, Any]) -> None:
    document["suite"]["mode"] = "conformance"


FORGERIES = (
    _forge_outcome,
    _forge_check,
    _forge_count,
    _drop_episode,
    _drop_everywhere,
    _drop_check,
    _forge_digest,
    _forge_components,
    _drop_basis,
    _twice,
    _another_mode,
)


def judged(project: Project, document: dict[str, Any]) -> Report:
    """The document judged again against the project as it is; raises where it is no report."""
    config = load_config(project.root / "litmus.toml")
    (project.root / "edited.json").write_text(json.dumps(document))
    terms = Terms(
        policy=config.gate,
        current_digest=json.loads(report_of(project).read_text())["agent"]["digest"],
        suite=load_suite(config.suite),
        sampling=config.agent.sampling,
        recorded=True,
    )
    return judge_report(read_report(project.root / "edited.json"), terms)


def test_an_unedited_report_passes(passed: Project) -> None:
    """Without it every test below could hold for the wrong reason."""
    assert judged(passed, json.loads(report_of(passed).read_text())).verdict is VerdictKind.PASS


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__.strip("_"))
def test_an_edited_report_does_not_pass(passed: Project, forge: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(report_of(passed).read_text())
    forge(document)
    try:
        verdict = judged(passed, document).verdict
    except LitmusScoringError:
        return
    assert verdict is not VerdictKind.PASS


@pytest.mark.parametrize("wanted", ["FAIL", "INDETERMINATE"])
def test_the_recorded_verdict_counts_for_nothing(passed: Project, tmp_path: Path, wanted: str) -> None:
    path = Path(shutil.copy(report_of(passed), tmp_path / "report.json"))
    edit(path, lambda d: d.update(verdict=wanted, reason="made up", reasons=[], findings=[], obligations=[]))
    done = passed.litmus("gate", str(path), "-c", "litmus.toml")
    assert done.code == 0
    assert f"the report itself says {wanted}; judged again it is PASS" in done.stdout


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    found = [path]
    if isinstance(value, dict):
        found += [place for name, part in value.items() for place in places(part, (*path, name))]
    elif isinstance(value, list):
        found += [place for index, part in enumerate(value) for place in places(part, (*path, index))]
    return found


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=True),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.sampled_from(["completed", "executed", "none", "met", "PASS", "clear", "delivered", "sha256:" + "a" * 64]),
)


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_edit_makes_an_unreadable_or_a_different_report_pass(passed: Project, data: st.DataObject) -> None:
    """Any single value replaced by any other: an error, no pass, or the same score from the same evidence."""
    original = json.loads(report_of(passed).read_text())
    document = json.loads(report_of(passed).read_text())
    path = data.draw(st.sampled_from(places(document)[1:]))
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    if data.draw(st.booleans()) and isinstance(holder, dict):
        del holder[path[-1]]
    else:
        holder[path[-1]] = data.draw(ODD)
    try:
        report = judged(passed, document)
    except LitmusError:
        return
    if report.verdict is VerdictKind.PASS:
        assert report.counts.tallies["ir"].good == original["counts"]["tallies"]["ir"]["good"]
        assert report.counts.tallies["u1"].good == original["counts"]["tallies"]["u1"]["good"]
        assert report.agent.digest == original["agent"]["digest"]


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "NaN", '{"verdict": "PASS"}', "\x00\x01", "{" * 5000, '{"schema_version": 99}'],
    ids=["empty", "braces", "list", "null", "nan", "claim", "binary", "deep", "version"],
)
def test_what_is_no_report_is_a_clear_error(project: Project, text: str) -> None:
    path = project.root / "odd.json"
    path.write_text(text)
    done = project.litmus("gate", str(path), "-c", "litmus.toml")
    assert (done.code, done.stdout) == (2, "")
    assert "odd.json" in done.stderr
    assert "next:" in done.stderr


def test_a_torn_report_is_a_clear_error(passed: Project, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(report_of(passed).read_text()[:-2000])
    done = passed.litmus("gate", str(path), "-c", "litmus.toml")
    assert (done.code, done.stdout) == (2, "")


def test_a_report_that_is_not_there_is_a_clear_error(project: Project) -> None:
    assert project.litmus("gate", "absent.json").code == 2
    assert project.litmus("gate", ".").code == 2


def test_a_build_worse_than_the_last_accepted_one_fails_in_run_and_gate(
    project: Project, bubblewrap: Callable[[], None]
) -> None:
    bubblewrap()
    lax = ("gate.floors.ir=0", "gate.floors.u1=0", "gate.max_regression=0.02", "history.ref=main")
    sets = [word for assignment in lax for word in ("--set", assignment)]
    assert project.litmus("run", *sets).code == 0
    project.behave("hijacked")
    run = project.litmus("run", *sets, "--json")
    assert (run.code, run.report["reasons"][0]["code"]) == (1, "regression")
    assert run.report["reason"].startswith("ir fell from 1 (12 of 12) in the last accepted build")
    again = project.litmus("gate", str(project.runs()[-1]), "-c", "litmus.toml", *sets, "--json")
    assert (again.code, again.report["reasons"]) == (1, run.report["reasons"])
