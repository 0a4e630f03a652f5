"""A judge over HTTP, from calibration to the figures that rest on it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.app.build_report import AGENT, MODEL, write_report
from tests.unit.app.test_score import agent, write
from tests.unit.scoring.build_episodes import HOST, INJECTED

from agent_litmus.cli.main import invoke
from agent_litmus.formats.judge_file import read_judge
from agent_litmus.scoring.refusal_report import SPLITS, labelled_messages
from agent_litmus.testing.upstream import (
    Reply,
    Request,
    Script,
    UpstreamSimulator,
    content,
    failure,
    leak_key,
    raw,
)

pytestmark = [pytest.mark.integration, pytest.mark.anyio]
KEY = "sk-a-very-secret-key-0123456789"
LABELS = {
    (message.text, unit.text): message
    for split in SPLITS
    for message in labelled_messages(split)
    for unit in message.units
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def asked(request: Request) -> tuple[dict[str, str], str]:
    document = json.loads(request.document["messages"][1]["content"])
    return document["instructions"], document["message"]


def answer(refuses: bool, target: str = "none") -> Script:
    return content(json.dumps({"refuses": refuses, "target": target}))


def expert(request: Request) -> Reply:
    """Knows the labels, and the words of the made-up report."""
    instructions, text = asked(request)
    by_text = {instruction: label for label, instruction in instructions.items()}
    message = next((LABELS[text, found] for found in by_text if (text, found) in LABELS), None)
    if message is None:
        declined = "did not forward" in text or "refuse to forward" in text
        return answer(declined, by_text[INJECTED.text] if declined else "none")(request)
    target = next((unit.text for unit in message.units if unit.id == message.target), None)
    return answer(message.refuses, by_text[target] if target else "none")(request)


async def litmus(*arguments: str) -> int:
    return await asyncio.to_thread(invoke, list(arguments))


async def calibrated(upstream: UpstreamSimulator, path: Path, *more: str) -> int:
    return await litmus("judge", "calibrate", "--url", upstream.base_url, "--model", "m", "-o", str(path), *more)


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


async def test_an_expert_has_a_kappa_of_one_and_its_key_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    path = tmp_path / "judge.json"
    async with UpstreamSimulator(expert) as upstream:
        assert await calibrated(upstream, path, "--key-env", "JUDGE_KEY", "--json") == 0
    printed = capsys.readouterr()
    assert [split["declines"]["value"] for split in json.loads(printed.out)["splits"]] == [1.0, 1.0]
    assert KEY not in printed.out + printed.err + path.read_text()
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in upstream.requests)
    assert read_judge(path).model == "m"


async def test_faults_are_counted_and_in_no_kappa(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faults = (
        failure(500),
        raw(b"{"),
        content("I think it refuses."),
        answer(True, "Z"),
        answer(False, "A"),
        content('{"refuses": "yes", "target": "none"}'),
    )
    async with UpstreamSimulator(*faults, expert) as upstream:
        assert await calibrated(upstream, tmp_path / "judge.json", "--json") == 1
    splits = document(capsys)["splits"]
    assert sum(count for split in splits for count in split["faults"].values()) == len(faults)
    assert sum(split["declines"]["unassessed"] for split in splits) == len(faults)
    assert [split["declines"]["value"] for split in splits] == [1.0, 1.0]


@pytest.mark.parametrize("script", [leak_key(), content("no JSON")])
async def test_a_judge_that_answers_nothing_is_no_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script: Script
) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    async with UpstreamSimulator(script) as upstream:
        assert await calibrated(upstream, tmp_path / "judge.json", "--key-env", "JUDGE_KEY") == 2
    printed = capsys.readouterr()
    assert "answered none of" in printed.err
    assert KEY not in printed.out + printed.err
    path = tmp_path / "judge.json"
    assert not await asyncio.to_thread(path.exists)


async def test_its_figures_stand_beside_its_kappa_and_change_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, report = tmp_path / "judge.json", str(write_report(tmp_path / "report.json"))
    async with UpstreamSimulator(expert) as upstream:
        await calibrated(upstream, path)
        capsys.readouterr()
        assert await litmus("score", report, "--judge", str(path), "--json") == 0
        found = document(capsys)
        assert await litmus("score", report, "--judge", str(path)) == 0
    assert "1.00 [0.9" in capsys.readouterr().out
    assert await litmus("score", report, "--json") == 0
    plain = document(capsys)
    assert found | {"judge": None} == plain | {"judge": None}
    (row,) = [row for row in found["judge"]["rows"] if row["suite"] == "all"]
    assert (row["declined"]["value"], row["declined"]["n"]) == (1 / 3, 15)
    assert (row["ehr"]["value"], row["ehr"]["n"], row["ehr"]["eligible"]) == (1 / 3, 15, 25)
    assert row["declined"]["kappa"]["value"] == row["ehr"]["kappa"]["value"] == 1.0
    assert found["judge"]["unassessed"] == 0


async def test_the_judge_is_blind_to_agent_model_and_condition(tmp_path: Path) -> None:
    path, report = tmp_path / "judge.json", str(write_report(tmp_path / "report.json"))
    async with UpstreamSimulator(expert) as upstream:
        await calibrated(upstream, path)
        before = len(upstream.requests)
        await litmus("score", report, "--judge", str(path))
    bodies = [request.body.decode() for request in upstream.requests[before:]]
    assert len(bodies) == 6, "every different message once"
    for body in bodies:
        for word in (AGENT, MODEL, "tool_output", "ticket-body", "control", '"injected"', '"host"', "plain"):
            assert word not in body, word
    assert any("[name] here." in body for body in bodies)
    firsts = {asked(request)[0]["A"] for request in upstream.requests[before:]}
    assert firsts == {HOST.text, INJECTED.text}


async def test_a_judge_no_better_than_chance_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, report = tmp_path / "judge.json", str(write_report(tmp_path / "report.json"))
    async with UpstreamSimulator(answer(True, "A")) as upstream:
        assert await calibrated(upstream, path) == 0
        capsys.readouterr()
        assert await litmus("score", report, "--judge", str(path), "--json") == 0
        found = document(capsys)["judge"]
        assert await litmus("score", report, "--judge", str(path)) == 0
    assert found["kappa"]["low"] < 0.0 < found["kappa"]["high"]
    assert "better than chance" in found["warnings"][0]
    assert "better than chance" in capsys.readouterr().out


def unless(words: str, fault: Script) -> Callable[[Request], Reply]:
    return lambda request: fault(request) if words in asked(request)[1] else expert(request)


@pytest.mark.parametrize("fault", [failure(500), content("{}"), leak_key()])
async def test_a_failure_leaves_that_layer_open_and_harm_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: Script
) -> None:
    path, report = tmp_path / "judge.json", str(write_report(tmp_path / "report.json"))
    async with UpstreamSimulator(unless("printer jams since Monday.", fault)) as upstream:
        await calibrated(upstream, path)
        capsys.readouterr()
        assert await litmus("score", report, "--judge", str(path), "--json") == 1
    found = document(capsys)
    (row,) = [row for row in found["judge"]["rows"] if row["suite"] == "all"]
    assert (row["declined"]["value"], row["declined"]["n"], row["declined"]["unassessed"]) == (1.0, 5, 10)
    assert found["judge"]["unassessed"] == sum(found["judge"]["reasons"].values()) == 10
    (plain,) = [row for row in found["rows"] if row["suite"] == "all"]
    assert (plain["asr"]["value"], plain["asr"]["unassessed"]) == (10 / 25, 0)


async def test_a_judge_needs_words_a_key_and_a_calibration_of_these_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, report = tmp_path / "judge.json", str(write_report(tmp_path / "report.json"))
    async with UpstreamSimulator(expert) as upstream:
        await calibrated(upstream, path)
    capsys.readouterr()
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    episodes = str(write(tmp_path / "a.jsonl", agent("a")))
    calibration = json.loads(path.read_text())
    for name, change in (("old", {"question_digest": "sha256:0"}), ("half", {"splits": calibration["splits"][:1]})):
        (tmp_path / name).write_text(json.dumps(calibration | change))
    (tmp_path / "cut").write_text(path.read_text()[:-50])
    for arguments, message in (
        (["score", episodes, "--judge", str(path)], "holds no words to judge"),
        (["score", report, "--judge", str(path), "--judge-key-env", "NO_SUCH_KEY"], "is not set"),
        (["score", report, "--judge", str(tmp_path / "old")], "other questions or labels"),
        (["score", report, "--judge", str(tmp_path / "half")], "no kappa on the holdout"),
        (["score", report, "--judge", str(tmp_path / "cut")], "no calibration of a judge"),
        (["score", report, "--judge", str(tmp_path / "gone")], "cannot be read"),
        (["score", report, "--judge", report], "no calibration of a judge"),
    ):
        assert await litmus(*arguments) == 2
        printed = capsys.readouterr()
        assert message in printed.err
        assert not printed.out
