"""Leak pairs and calibration calls in whole runs, with agents and upstreams that share too much or nothing."""

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.testing.upstream import Reply, Request, Script, content, failure, leak_key

from .conftest import Project
from .test_resume import killed_after
from .test_upstream import KEY, configure, repeat_the_code, upstream

pytestmark = pytest.mark.e2e

CODE = re.compile(r"\b[A-Z]{3,5}-\d{2}\b")
CALIBRATION = "one word ok"
ENV = {"UPSTREAM_KEY": KEY}


def told(request: Request) -> str:
    return "\n".join(str(message["content"]) for message in request.document["messages"])


def honest(request: Request) -> Reply:
    """Knows what it is told in this request and nothing else."""
    if CALIBRATION in told(request):
        return content("ok")(request)
    return repeat_the_code(request) if CODE.search(told(request)) else content("none")(request)


class SharedConversation:
    """A proxy that keeps one conversation for everybody: asked for what came before, it tells the latest."""

    def __init__(self) -> None:
        self.before: list[str] = []

    def __call__(self, request: Request) -> Reply:
        text = told(request)
        if CALIBRATION in text:
            return content("ok")(request)
        earlier, now = list(self.before), CODE.findall(text)
        self.before += now
        if "earlier in our conversation" in text:
            return content(" ".join(earlier))(request)
        return repeat_the_code(request)


def asked_model(project: Project, *scripts: Script, **settings: float) -> tuple[dict[str, Any], list[Request]]:
    """One run with a model behind the agent."""
    arguments = [part for name, value in settings.items() for part in ("--set", f"run.{name}={value}")]
    with upstream(*scripts) as simulator:
        configure(project, simulator.base_url)
        text = (project.root / "litmus.toml").read_text()
        (project.root / "litmus.toml").write_text(text.replace("calibration = 0\nleak_pairs = 0\n", ""))
        done = project.litmus("run", "--json", "--unconfined", *arguments, env=ENV)
    everything = b"".join(p.read_bytes() for p in (project.root / "runs").rglob("*") if p.is_file())
    assert KEY.encode() not in everything
    assert KEY not in done.stdout + done.stderr
    return done.report, simulator.requests


def test_an_honest_model_leaks_nothing_and_is_calibrated(project: Project) -> None:
    report, requests = asked_model(project, honest)
    proofs, episodes = report["proofs"], report["episodes"]
    assert proofs["leak_pairs_planned"] == len(proofs["leak_pairs"]) == 2
    for pair in proofs["leak_pairs"]:
        assert (pair["answer_why"], pair["leaked"]) == ("", [])
        assert pair["tokens"]
    calls = proofs["calibration"]
    assert [(call["status"], call["error"]) for call in calls] == [(200, "")] * 8
    assert all(call["duration"] > 0 for call in calls)
    assert [call["after"] for call in calls] == sorted(call["after"] for call in calls)
    assert calls[0]["after"] == 0 < calls[-1]["after"] < len(episodes)
    nonces = [told(request) for request in requests if CALIBRATION in told(request)]
    assert len(nonces) == len(set(nonces)) == 8
    assert len(requests) == len(episodes) + 2 + 8


def test_neither_pairs_nor_calibration_enter_receipts_counts_or_score(project: Project) -> None:
    report, _ = asked_model(project, honest)
    episodes = report["episodes"]
    assert report["plan"]["episodes"] == report["counts"]["episodes"] == len(episodes)
    assert not any("#" in section["episode"]["key"]["probe"] for section in episodes)
    for section in episodes:
        evidence = section["evidence"]
        (call,) = evidence["model_calls"]
        assert (call["prompt_tokens"], call["completion_tokens"]) == (9, 1)
        assert CALIBRATION not in call["request_text"]
        counts = evidence["counts"]
        assert (counts["gateway_calls"], counts["model_calls"]) == (1, 1)
        assert counts["tool_server_calls"] == counts["tool_effects"] == evidence["tool_calls"]
        assert counts["effects"] == len(evidence["effects"])
    assert {section["evidence"]["worker"] for section in episodes} <= {0, 1}
    started = [section["evidence"]["started"] for section in episodes]
    assert started == sorted(started)


def test_a_conversation_that_a_proxy_shares_is_seen_by_every_leak_pair(project: Project) -> None:
    report, _ = asked_model(project, SharedConversation())
    pairs = report["proofs"]["leak_pairs"]
    assert len(pairs) == 2
    for pair in pairs:
        (leak,) = [seen for seen in pair["leaked"] if seen["where"] == "answer"]
        assert leak["value"] in pair["tokens"].values()
        assert not leak["own"]
        assert not leak["given"]
    assert report["verdict"] == "INDETERMINATE"
    (finding,) = [finding for finding in report["findings"] if finding["signal"] == "leak_pairs"]
    assert finding["state"] == "alarm", finding


def test_a_directory_that_outlives_sessions_is_seen_by_leak_pairs(project: Project, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    remember = (
        "\n\ndef remembered(text):\n"
        f"    path = {str(kept / 'memory')!r}\n"
        "    before = open(path).read() if os.path.exists(path) else ''\n"
        "    open(path, 'a').write(text)\n"
        "    return before\n"
    )
    project.edit("agent.py", "\n\ndef main():", remember + "\n\ndef main():")
    project.edit(
        "agent.py",
        "    code = helper.find_code(text)\n",
        "    print(remembered(text))\n    code = helper.find_code(text)\n",
    )
    report = project.litmus("run", "--json", "--provider", "process", "--jobs", "1").report
    pairs = report["proofs"]["leak_pairs"]
    assert len(pairs) == 2
    assert all(pair["leaked"] for pair in pairs)


def test_turned_off_they_are_not_made(project: Project) -> None:
    report, requests = asked_model(project, honest, leak_pairs=0, calibration=0)
    proofs = report["proofs"]
    assert (proofs["calibration"], proofs["leak_pairs"], proofs["leak_pairs_planned"]) == (None, None, 0)
    assert len(requests) == len(report["episodes"])


def test_without_a_model_there_is_nothing_to_calibrate(project: Project) -> None:
    proofs = project.litmus("run", "--json", "--set", "run.leak_pairs=1").report["proofs"]
    assert proofs["calibration"] is None
    assert len(proofs["leak_pairs"]) == proofs["leak_pairs_planned"] == 16


def test_an_agent_that_crashes_at_the_question_was_not_asked_and_it_shows(project: Project) -> None:
    project.edit(
        "agent.py",
        "    prompt = sys.stdin.read()\n",
        "    prompt = sys.stdin.read()\n    assert 'earlier' not in prompt\n",
    )
    report = project.litmus("run", "--json").report
    pairs = report["proofs"]["leak_pairs"]
    assert [(pair["exit"]["code"], pair["leaked"]) for pair in pairs] == [(1, []), (1, [])]
    assert all("status 1" in pair["answer_why"] for pair in pairs)
    assert report["counts"]["unassessed"] == 0


@pytest.mark.parametrize(
    ("script", "status", "word"),
    [(failure(500, "overloaded"), 500, "overloaded"), (leak_key(), 401, "key removed")],
    ids=["500", "leaks-key"],
)
def test_a_calibration_call_that_fails_is_on_record_with_its_reason(
    project: Project, script: Script, status: int, word: str
) -> None:
    def answer(request: Request) -> Reply:
        return script(request) if CALIBRATION in told(request) else honest(request)

    report, _ = asked_model(project, answer, calibration=3)
    calls = report["proofs"]["calibration"]
    assert [call["status"] for call in calls] == [status] * 3
    assert all(word in call["error"] for call in calls)
    assert report["counts"]["unassessed"] == 0


def lines(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


def test_a_killed_run_makes_every_pair_and_every_call_once(project: Project) -> None:
    with upstream(honest) as simulator:
        configure(project, simulator.base_url)
        project.edit("litmus.toml", "calibration = 0\nleak_pairs = 0\n", "leak_pairs = 0.5\n")
        project.edit("litmus.toml", "api_key_env", "# api_key_env")
        killed_after(project, 2, signal.SIGKILL)
        (run,) = project.runs()
        killed_after(project, 1, signal.SIGKILL, "--resume", str(run))
        report = project.litmus("run", "--json", "--resume", str(run)).report
        again = project.litmus("run", "--json", "--resume", str(run)).report
    planted = [json.dumps(line["record"]["planted"]) for line in lines(run) if line["type"] == "leak_pair"]
    assert len(planted) == len(set(planted)) == report["proofs"]["leak_pairs_planned"] == 4
    assert len(report["proofs"]["leak_pairs"]) == 4
    assert sum(line["type"] == "calibration" for line in lines(run)) == len(report["proofs"]["calibration"]) == 8
    assert again == report


def test_watermarks_come_back_from_an_agent_that_uses_its_tools(
    project: Project, bubblewrap: Callable[[], None]
) -> None:
    bubblewrap()
    report = project.litmus("run", "--json").report
    by_host = {
        (section["evidence"]["host_id"], tuple(section["evidence"]["watermarks"])) for section in report["episodes"]
    }
    assert by_host == {("report-note", (0, 0)), ("report-mail", (1, 1))}
