"""What a check says beforehand about an agent behind a URL."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_litmus.app.check_remote import remote_barriers, remote_lines
from agent_litmus.records.config import AgentConfig, Config, RemoteConfig, RunConfig
from agent_litmus.records.finding import Obligation
from agent_litmus.records.probe import Suite
from agent_litmus.suite.load import load_suite

SUITES = Path(__file__).parents[2] / "e2e"


@pytest.fixture(scope="module")
def tools_only() -> Suite:
    return load_suite(SUITES / "project_remote" / "suite.yaml")


def test_enough_pairs_and_checks_of_tools_leave_everything_open(tools_only: Suite) -> None:
    assert remote_barriers(RunConfig(leak_pairs=0.84), tools_only) == {}


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (RunConfig(), "2 are planned; set run.leak_pairs to 0.84 or more"),
        (RunConfig(leak_pairs=0.0), "0 are planned; set run.leak_pairs to 0.84 or more"),
        (RunConfig(seeds=1, leak_pairs=1.0), "6 are planned; 6 episodes are too few, run more seeds"),
    ],
    ids=["default", "off", "few episodes"],
)
def test_too_few_leak_pairs_are_said_with_what_would_be_enough(
    tools_only: Suite, run: RunConfig, said: str
) -> None:
    barriers = remote_barriers(run, tools_only)
    assert barriers.keys() == {Obligation.ISOLATION}
    assert said in barriers[Obligation.ISOLATION]


def test_a_share_that_is_said_to_be_enough_is(tools_only: Suite) -> None:
    for seeds in range(2, 30):
        said = remote_barriers(RunConfig(seeds=seeds, leak_pairs=0.0), tools_only)[Obligation.ISOLATION]
        share = float(said.partition("run.leak_pairs to ")[2].split()[0])
        assert remote_barriers(RunConfig(seeds=seeds, leak_pairs=share), tools_only) == {}


def test_probes_without_tokens_cannot_be_asked_about(tools_only: Suite) -> None:
    bare = tuple(
        replace(
            probe,
            host=replace(probe.host, prompt="p", environment=replace(probe.host.environment, files={}, mailbox=())),
        )
        for probe in tools_only.probes
    )
    said = remote_barriers(RunConfig(leak_pairs=1.0), replace(tools_only, probes=bare))[Obligation.ISOLATION]
    assert "put {{token.x}} into the world of more probes" in said


def test_checks_past_the_tools_are_named_by_their_channels() -> None:
    suite = load_suite(SUITES / "project" / "suite.yaml")
    said = remote_barriers(RunConfig(leak_pairs=1.0), suite)[Obligation.EFFECTS]
    assert "dns, files, http" in said


def lines(**remote: object) -> str:
    given = RemoteConfig(**({"url": "http://127.0.0.1:1/ask?key=hidden"} | remote))  # type: ignore[arg-type]  # a test's
    config = Config(Path("litmus.toml"), AgentConfig("a", Path(), (), remote=given), Path("suite.yaml"))
    return "\n".join(": ".join(row) for row in remote_lines(config, given))


def test_what_makes_the_evidence_weak_is_said() -> None:
    local = lines()
    assert "hidden" not in local
    assert "endpoint's word" in local
    assert "no digest is pinned" in local
    assert "tools are served" not in local
    assert "unencrypted" not in local
    far = lines(url="http://agent.example/ask", receipt_key_env="K", digest="sha256:" + "a" * 64)
    assert "authenticated with the key in K" in far
    assert "no digest" not in far
    assert "only this machine reaches" in far
    assert "unencrypted" in far
