"""Whole runs with an agent behind a URL: an endpoint in a process of its own, honest or at fault."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.app.run import run_config
from agent_litmus.config import load_config

from .conftest import HERE, Project

pytestmark = pytest.mark.e2e

KEY = "shared-key-of-the-receipts"
AUTH = "Bearer a-credential-of-the-endpoint"
DIGEST = "sha256:" + hashlib.sha256(b"build 1").hexdigest()
OTHER = "sha256:" + hashlib.sha256(b"build 2").hexdigest()
SECRETS = {"RECEIPT_KEY": KEY, "AGENT_AUTH": AUTH}


def make_project(directory: Path) -> Project:
    """A copy of the configuration, the suite and the endpoint."""
    root = directory / "a project"
    shutil.copytree(HERE / "project_remote", root, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(root)


@pytest.fixture
def remote(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@contextmanager
def endpoint(project: Project, character: str) -> Iterator[dict[str, str]]:
    """The endpoint while the context lasts; gives the environment that reaches it."""
    command = [sys.executable, str(project.root / "endpoint.py"), character]
    with subprocess.Popen(command, env=os.environ | SECRETS, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        try:
            yield SECRETS | {"AGENT_URL": f"http://127.0.0.1:{port}/agent"}
        finally:
            process.kill()


def run(project: Project, character: str, environment: pytest.MonkeyPatch) -> dict[str, Any]:
    """The report of one whole run, in this process; no secret is in anything that it wrote."""
    with endpoint(project, character) as variables:
        for name, value in variables.items():
            environment.setenv(name, value)
        outcome = run_config(load_config(project.root / "litmus.toml"))
    everything = b"".join(p.read_bytes() for p in (project.root / "runs").rglob("*") if p.is_file())
    assert KEY.encode() not in everything
    assert AUTH.split()[1].encode() not in everything
    report: dict[str, Any] = json.loads((outcome.directory / "report.json").read_bytes())
    return report


def finding(report: dict[str, Any], signal: str) -> dict[str, Any]:
    (found,) = [finding for finding in report["findings"] if finding["signal"] == signal]
    return dict(found)


def test_an_honest_remote_agent_can_pass(remote: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    report = run(remote, "honest", monkeypatch)
    assert report["verdict"] == "PASS", report["reasons"]
    assert report["agent"]["digest"] == DIGEST
    assert report["provider"]["name"] == "remote"
    assert {duty["obligation"]: duty["by"] for duty in report["obligations"]} == {
        "identity": ["binding"],
        "freshness": ["freshness"],
        "delivery": ["delivery"],
        "isolation": ["leak_pairs"],
        "effects": ["watermarks"],
        "accounting": ["accounting"],
        "replication": ["seed_invariance"],
    }
    assert report["certified"] == 1.0


def test_a_hijacked_remote_agent_fails(remote: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(remote, "hijacked", monkeypatch)["verdict"] == "FAIL"


@pytest.mark.parametrize(
    ("character", "said"),
    [
        ("skew", "report another build"),
        ("moved", "first after the run"),
        ("another-key", "wrong HMAC"),
        ("no-receipt", "wrong HMAC"),
        ("old-receipt", "wrong HMAC"),
    ],
)
def test_a_receipt_that_cannot_be_right_is_an_exact_alarm(
    remote: Project, monkeypatch: pytest.MonkeyPatch, character: str, said: str
) -> None:
    report = run(remote, character, monkeypatch)
    binding = finding(report, "binding")
    assert (binding["state"], binding["strength"]) == ("alarm", "exact"), binding
    assert said in binding["seen"]
    assert (report["verdict"], report["reasons"][0]["code"]) == ("INDETERMINATE", "desync")


def test_cached_answers_with_fresh_receipts_are_seen_by_their_tokens(
    remote: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(remote, "cache", monkeypatch)
    assert finding(report, "binding")["state"] == "clear"
    reuse = finding(report, "session_reuse")
    assert (reuse["state"], reuse["strength"]) == ("alarm", "exact"), reuse
    assert finding(report, "freshness")["state"] == "missing"
    assert (report["verdict"], report["reasons"][0]["code"]) == ("INDETERMINATE", "desync")


def test_a_memory_shared_by_sessions_is_seen_by_leak_pairs(
    remote: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(remote, "memory", monkeypatch)
    assert finding(report, "leak_pairs")["state"] == "alarm"
    assert report["verdict"] == "INDETERMINATE"


def test_tools_of_its_own_prove_nothing(remote: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    report = run(remote, "mocked", monkeypatch)
    assert report["verdict"] != "PASS"
    for section in report["episodes"]:
        channels = {channel["channel"]: channel for channel in section["evidence"]["channels"]}
        assert channels["tools"]["state"] == "not_observed"
        assert all(check["state"] == "unassessed" for check in section["evidence"]["forbidden_checks"])


def test_one_error_of_the_endpoint_is_unassessed_and_no_alarm(
    remote: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(remote, "broken", monkeypatch)
    lost = [s for s in report["episodes"] if s["evidence"]["answer_why"]]
    assert [s["evidence"]["answer_why"] for s in lost] == ["the endpoint answered with status 502"]
    assert finding(report, "binding")["state"] == "clear"
    assert report["counts"]["unassessed"] == 1


def test_an_endpoint_that_repeats_credentials_does_not_get_them_into_records(
    remote: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(remote, "echo-auth", monkeypatch)
    assert {s["evidence"]["answer"] for s in report["episodes"]} == {"Bearer [key removed]"}
