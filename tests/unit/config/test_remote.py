"""An agent behind a URL in ``litmus.toml``."""

from pathlib import Path

import pytest

from agent_litmus.config import load_config
from agent_litmus.records.config import RemoteConfig

from .conftest import Writer, problems

DIGEST = "sha256:" + "a" * 64
REMOTE = """\
[agent]
name = "desk"
url = "https://agent.example/ask"

[suite]
path = "suite.yaml"
"""


def _with(line: str) -> str:
    return REMOTE.replace("\n\n", f"\n{line}\n\n", 1)


def _at(url: str) -> str:
    return REMOTE.replace("https://agent.example/ask", url)


BAD: dict[str, tuple[str, str]] = {
    "both kinds": (_with('command = ["true"]'), ":1: $.agent: give exactly one of 'command'"),
    "no kind": (REMOTE.replace('url = "https://agent.example/ask"\n', ""), ":1: $.agent: give exactly one of"),
    "root": (_with('root = "agent"'), ":4: $.agent.root: does not go with 'url'"),
    "env": (_with('env = {A = "1"}'), "$.agent.env: does not go with 'url'"),
    "model": (_with("[agent.model]"), "$.agent.model: does not go with 'url'"),
    "key of a remote agent": (
        _with(f'digest = "{DIGEST}"').replace('url = "https://agent.example/ask"', 'command = ["true"]'),
        "$.agent.digest: does not go with 'command'",
    ),
    "no digest": (_with('digest = "sha256:1"'), "$.agent.digest: is no build digest"),
    "scheme": (_at("ftp://agent.example"), "$.agent.url: must start with http:// or https://"),
    "no host": (_at("https:///ask"), "$.agent.url: must start with http"),
    "blank": (_at("https://agent.example/a b"), "$.agent.url: must start with http"),
    "port": (_at("https://agent.example:port/"), "$.agent.url: Port could not be cast"),
    "password": (_at("https://me:secret@agent.example/"), "under 'auth_env'"),
    "fragment": (_at("https://agent.example/#a"), "#fragment"),
    "variable": (_at("${NOT_SET_ANYWHERE}"), "NOT_SET_ANYWHERE is not set"),
    "digest_url": (_with('digest_url = "agent.example"'), "$.agent.digest_url: must start"),
    "variable's name": (_with('auth_env = "Bearer x"'), "$.agent.auth_env"),
    "replicas": (_with("replicas = 0"), "$.agent.replicas"),
    "any host": (REMOTE + '[run]\ntools_host = "0.0.0.0"\n', ":8: $.run.tools_host: means every address"),
    "any host of IPv6": (REMOTE + '[run]\ntools_host = "::"\n', "$.run.tools_host: means every address"),
    "host with port": (REMOTE + '[run]\ntools_host = "host:80"\n', "$.run.tools_host: is no address or name"),
    "host with path": (REMOTE + '[run]\ntools_host = "http://host"\n', "$.run.tools_host"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_a_located_problem(write: Writer, name: str) -> None:
    text, said = BAD[name]
    (problem,) = problems(write(text))
    assert said in problem


def test_without_more_the_endpoint_is_taken_at_its_word(write: Writer) -> None:
    config = load_config(write(REMOTE))
    assert config.agent.remote == RemoteConfig("https://agent.example/ask")
    assert (config.agent.command, config.run.tools_host) == ((), "127.0.0.1")


def test_every_key_of_a_remote_agent_is_read(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "http://127.0.0.1:8000")
    keys = (
        f'digest_url = "${{WHERE}}/build"\ndigest = "{DIGEST}"\nreceipt_key_env = "K"\nauth_env = "A"\nreplicas = 3'
    )
    text = _with(keys).replace("https://agent.example", "${WHERE}") + '[run]\ntools_host = "::1"\n'
    config = load_config(write(text))
    assert config.agent.remote == RemoteConfig(
        "http://127.0.0.1:8000/ask", "http://127.0.0.1:8000/build", DIGEST, "K", "A", 3
    )
    assert config.run.tools_host == "::1"


def test_a_command_has_no_endpoint(write: Writer) -> None:
    assert (
        load_config(write(REMOTE.replace('url = "https://agent.example/ask"', 'command = ["true"]'))).agent.remote
        is None
    )


def test_a_configuration_of_a_remote_agent_is_no_file_of_an_agent_beside_it(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "remote.toml").write_text(REMOTE)
    command = REMOTE.replace('url = "https://agent.example/ask"', 'command = ["true"]')
    assert "/remote.toml" in load_config(write(command)).agent.exclude
