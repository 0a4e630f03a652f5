"""``check``, ``run``, ``gate``, ``audit`` and ``drill`` of an agent behind a URL."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Project
from .test_remote import DIGEST, OTHER, endpoint, make_project
from .test_resume import journal_keys

pytestmark = pytest.mark.e2e


@pytest.fixture
def remote(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def reached(remote: Project) -> Iterator[dict[str, str]]:
    with endpoint(remote, "honest") as environment:
        yield environment


def test_a_check_asks_the_endpoint_and_says_whether_a_pass_is_in_reach(
    remote: Project, reached: dict[str, str]
) -> None:
    fit = remote.litmus("check", env=reached)
    assert (fit.code, fit.last) == (0, "litmus: FIT  this suite can judge this agent here")
    assert f"agent  elsewhere  {DIGEST}  as its endpoint reports" in fit.stdout
    assert "obligations of a remote agent, 2 seeds:" in fit.stdout
    few = remote.litmus("check", "--set", "run.leak_pairs=0.1", env=reached)
    assert few.code == 2
    assert "can never PASS: isolation: 10 clean leak pairs stand for it, and 2 are planned" in few.stdout


def test_an_endpoint_that_cannot_be_used_ends_a_run_before_it_begins(
    remote: Project, reached: dict[str, str]
) -> None:
    cases = {
        "ConnectError": reached | {"AGENT_URL": "http://127.0.0.1:1/agent"},
        "the HMAC is wrong": reached | {"RECEIPT_KEY": "another key of 16 bytes"},
    }
    for said, environment in cases.items():
        done = remote.litmus("run", env=environment)
        assert (done.code, done.stdout) == (2, "")
        assert "error [endpoint]" in done.stderr
        assert said in done.stderr
    pinned = remote.litmus("run", "--set", f"agent.digest={OTHER}", env=reached)
    assert (pinned.code, "error [another-build]" in pinned.stderr) == (2, True)
    expected = remote.litmus("run", "--expect-digest", OTHER, env=reached)
    assert (expected.code, "error [another-build]" in expected.stderr) == (2, True)
    alone = remote.litmus("run", "--set", "agent.replicas=2", env=reached)
    assert (alone.code, "1 of 2 replicas" in alone.stderr) == (2, True)
    assert remote.runs() == []


def test_a_report_is_judged_against_the_build_that_the_endpoint_reports_now(
    remote: Project, reached: dict[str, str]
) -> None:
    ran = remote.litmus("run", env=reached)
    assert ran.code == 0, ran.stdout
    (run,) = remote.runs()
    judged = remote.litmus("gate", str(run), "-c", "litmus.toml", env=reached)
    assert judged.code == 0, judged.stdout
    told = remote.litmus("gate", str(run), "--digest", DIGEST)
    assert told.code == 0, told.stdout
    audited = remote.litmus("audit", str(run), "--agent", "litmus.toml", "-m", "8", env=reached)
    assert audited.code == 0, audited.stdout
    with endpoint(remote, "other") as deployed:
        stale = remote.litmus("gate", str(run), "-c", "litmus.toml", env=deployed)
    assert stale.code == 75
    assert "binding" in stale.stdout
    assert "--provider" not in stale.stdout
    assert f"--expect-digest {OTHER}" in stale.stdout


def test_an_interrupted_run_is_finished_with_the_same_build_alone(remote: Project, reached: dict[str, str]) -> None:
    process = subprocess.Popen(
        remote.argv("run", "--jobs", "1"),
        cwd=remote.root,
        env=os.environ | reached,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[3/"):
            break
    process.send_signal(signal.SIGKILL)
    process.stderr.read()
    process.wait()
    (run,) = remote.runs()
    assert 3 <= len(journal_keys(run)) < 12
    with endpoint(remote, "other") as deployed:
        refused = remote.litmus("run", "--resume", str(run), env=deployed)
    assert (refused.code, "the agent build changed" in refused.stderr) == (2, True)
    done = remote.litmus("run", "--resume", str(run), "--json", env=reached)
    assert (done.code, len(done.report["episodes"])) == (0, 12), done.report["reasons"]
    assert len(done.report["proofs"]["endpoint_start"]) == 2
    assert len(done.report["proofs"]["endpoint_end"]) == 1
    kinds = [json.loads(line)["type"] for line in (run / "journal.jsonl").read_text("utf-8").splitlines()]
    assert kinds.count("endpoint") == 2


def test_a_drill_says_that_it_needs_a_command(remote: Project, reached: dict[str, str]) -> None:
    done = remote.litmus("drill", "-c", "litmus.toml", env=reached)
    assert done.code == 2
    assert "error [remote-drill]" in done.stderr
