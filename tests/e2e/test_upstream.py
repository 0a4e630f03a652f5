"""What a failing model does to a run: never a good result, never a leaked key, always a reason."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from agent_litmus.testing.upstream import (
    Reply,
    Request,
    Script,
    UpstreamSimulator,
    content,
    cut_stream,
    failure,
    hanging_stream,
    leak_key,
    raw,
)

from .conftest import Project

pytestmark = pytest.mark.e2e

KEY = "sk-real-upstream-key-0123456789"
MODEL = """include = ["*.py"]
env = {{STREAM = "{stream}"}}

[agent.model]
id = "tiny-2026-01-01"
base_url = "{url}"
api_key_env = "UPSTREAM_KEY"
"""


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


@contextmanager
def upstream(*scripts: Script) -> Iterator[UpstreamSimulator]:
    """The simulator in a loop of its own thread."""
    loop = asyncio.new_event_loop()
    simulator = UpstreamSimulator(*scripts)
    loop.run_until_complete(simulator.__aenter__())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield simulator
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(simulator.__aexit__(None, None, None))
        loop.close()


def configure(project: Project, url: str, *, stream: bool = False) -> None:
    """A model behind the agent; the harness asks it nothing itself, because its replies are given in turn."""
    project.edit("litmus.toml", "timeout = 20\n", "timeout = 20\ncalibration = 0\nleak_pairs = 0\n")
    project.edit("litmus.toml", "start.py", "model_agent.py")
    project.edit("litmus.toml", 'include = ["*.py"]\n', MODEL.format(url=url, stream=int(stream)))
    project.edit("suite.yaml", "hosts: [report-mail]", "hosts: [report-note]")
    project.edit("suite.yaml", "carriers: [mail]", "carriers: [note]")
    text = (project.root / "suite.yaml").read_text()
    text = re.sub(
        r"  - \{hosts: \[report-note\], injections: all, carriers: \[note\], attacks: all\}\n", "", text, count=1
    )
    text = re.sub(r"  - id: report-mail\n.*?(?=injections:)", "", text, flags=re.DOTALL)
    text = re.sub(r"  - \{id: mail, kind: mail, slot: mail\}\n", "", text)
    (project.root / "suite.yaml").write_text(text.replace("\\n{{slot.mail}}", ""))


def repeat_the_code(request: Request) -> Reply:
    """A model that answers with the code it was shown and the seed, so that answers vary."""
    text = str(request.document["messages"][0]["content"])
    code = re.search(r"[A-Z]{3,}-[0-9]{2}", text)
    assert code is not None
    return content(f"{code.group(0)} (seed {text.rsplit(' ', 1)[1]})")(request)


@pytest.mark.parametrize("stream", [False, True])
def test_a_live_model_passes_and_the_key_is_nowhere(project: Project, stream: bool) -> None:
    with upstream(repeat_the_code) as simulator:
        configure(project, simulator.base_url, stream=stream)
        done = project.litmus("run", "--json", env={"UPSTREAM_KEY": KEY})
    assert done.report["verdict"] == "PASS", done.report["reasons"]
    assert all(section["evidence"]["model_calls"] for section in done.report["episodes"])
    everything = b"".join(p.read_bytes() for p in (project.root / "runs").rglob("*") if p.is_file())
    assert KEY.encode() not in everything
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("script", "stream", "word"),
    [
        (failure(401, "bad key"), False, "exit status 4"),
        (failure(500), False, "exit status 4"),
        (raw(b"{}"), False, "exit status 1"),
        (raw(b'{"choices": []}'), False, "exit status 1"),
        (raw(b"not json"), False, "exit status"),
        (leak_key(), False, "exit status 4"),
        (hanging_stream("par"), True, "exit status"),
        (cut_stream("par"), True, "exit status"),
    ],
    ids=["401", "500", "empty-object", "empty-choices", "not-json", "leaks-key", "hangs", "cut"],
)
def test_a_failing_model_is_unassessed_and_its_calls_are_recorded_as_errors(
    project: Project, script: Script, stream: bool, word: str
) -> None:
    with upstream(script) as simulator:
        configure(project, simulator.base_url, stream=stream)
        arguments = ["--timeout", "4"] if stream else []
        done = project.litmus("run", "--json", "--seeds", "1", *arguments, env={"UPSTREAM_KEY": KEY})
    report = done.report
    assert report["verdict"] != "PASS"
    assert report["counts"]["unassessed"] == len(report["episodes"]) > 0
    calls = [call for section in report["episodes"] for call in section["evidence"]["model_calls"]]
    assert calls
    assert all(call["error"] for call in calls)
    whys = {section["evidence"]["answer_why"] for section in report["episodes"]}
    assert all(word in why or "in time" in why for why in whys), whys
    assert KEY not in done.stdout + done.stderr
    everything = b"".join(p.read_bytes() for p in (project.root / "runs").rglob("*") if p.is_file())
    assert KEY.encode() not in everything


def test_no_upstream_at_all_is_unassessed_and_says_why(project: Project) -> None:
    configure(project, "http://127.0.0.1:9/v1")
    done = project.litmus("run", "--seeds", "1", env={"UPSTREAM_KEY": KEY})
    assert done.code in {1, 75}
    assert "exit status 4" in done.stdout


def test_a_429_that_passes_leaves_an_error_on_record_and_one_unassessed_episode(project: Project) -> None:
    with upstream(failure(429, "slow down"), repeat_the_code) as simulator:
        configure(project, simulator.base_url)
        report = project.litmus("run", "--json", env={"UPSTREAM_KEY": KEY}).report
    calls = [call for section in report["episodes"] for call in section["evidence"]["model_calls"]]
    assert [call["status"] for call in calls if call["error"]] == [429]
    assert report["counts"]["unassessed"] == 1


def test_a_missing_key_is_a_usage_error_before_anything_runs(project: Project) -> None:
    configure(project, "http://127.0.0.1:9/v1")
    done = project.litmus("run", env={"UPSTREAM_KEY": ""})
    assert done.code == 2
    assert "UPSTREAM_KEY is not set" in done.stderr


def test_the_process_provider_refuses_a_real_key(project: Project) -> None:
    configure(project, "http://127.0.0.1:9/v1")
    refused = project.litmus("run", "--provider", "process", env={"UPSTREAM_KEY": KEY})
    assert refused.code == 2
    assert "--unconfined" in refused.stderr
    allowed = project.litmus(
        "run", "--provider", "process", "--unconfined", "--seeds", "1", env={"UPSTREAM_KEY": KEY}
    )
    assert allowed.code in {1, 75}
