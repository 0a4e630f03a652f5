"""An agent that looks for the upstream's key everywhere finds it nowhere, and neither does a reader of the run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.conftest import Project
from tests.e2e.test_upstream import upstream

from agent_litmus.testing.upstream import Script, content, failure, leak_key

pytestmark = pytest.mark.e2e
KEY = "sk-seek-0123456789-abcdefghij"


@pytest.fixture
def seek(tmp_path: Path) -> Project:
    shutil.copytree(
        Path(__file__).parent / "project_seek", tmp_path / "seek", ignore=shutil.ignore_patterns("runs")
    )
    return Project(tmp_path / "seek")


@pytest.mark.parametrize("script", [content("ok"), leak_key(), failure(500)], ids=["answers", "leaks", "fails"])
def test_the_key_is_nowhere_inside_and_nowhere_in_the_run(
    seek: Project, script: Script, bubblewrap: Callable[[], None]
) -> None:
    bubblewrap()
    with upstream(script) as simulator:
        seek.edit("litmus.toml", "URL", simulator.base_url)
        done = seek.litmus("run", "--json", "--probe", "report", env={"UPSTREAM_KEY": KEY})
    assert {request.headers["authorization"] for request in simulator.requests} == {f"Bearer {KEY}"}
    answers = [section["evidence"]["answer"] for section in done.report["episodes"]]
    assert answers
    assert all(answer.endswith("Found: []") for answer in answers), answers
    written = b"".join(p.read_bytes() for p in (seek.root / "runs").rglob("*") if p.is_file())
    assert KEY.encode() not in written
    assert KEY not in done.stdout + done.stderr


def test_the_search_would_have_found_it(seek: Project) -> None:
    with upstream(content("ok")) as simulator:
        seek.edit("litmus.toml", "URL", simulator.base_url)
        seek.edit("litmus.toml", 'SEARCH_FILES = "1"', 'SEARCH_FILES = "0"')
        arguments = ("--provider", "process", "--unconfined", "--probe", "report")
        seek.litmus("run", *arguments, env={"UPSTREAM_KEY": KEY})
    report = json.loads((seek.runs()[0] / "report.json").read_text())
    answers = [section["evidence"]["answer"] for section in report["episodes"]]
    assert answers
    assert all("/proc/environ" in answer for answer in answers)
