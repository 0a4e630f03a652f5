"""The page on the agent's contract names what an agent is really given."""

from pathlib import Path
from typing import get_args

from agent_litmus.config.schema import AgentTable
from agent_litmus.records.probe import Condition, Environment, HostTask, Probe
from agent_litmus.sandbox.base import environment
from agent_litmus.sandbox.demand import MAX_LISTENERS
from agent_litmus.sandbox.protocol import Launch, Limits, SandboxPaths, SandboxSpec
from agent_litmus.targets.command import TRUST_VARIABLES, session_environment
from agent_litmus.targets.protocol import LaunchContext

PAGE = (Path(__file__).parents[3] / "docs/reference/agent.md").read_text(encoding="utf-8")
PATHS = SandboxPaths(
    workspace="/workspace",
    agent="/agent",
    home="/home",
    python="/usr/bin/python3",
    answer="/answer",
    prompt_file="/prompt",
    mcp_config="/mcp.json",
    gateway_url="http://127.0.0.1:1",
    tools_url="http://127.0.0.1:2/mcp",
    ca_file="/ca.pem",
)
PROBE = Probe("h", Condition.CONTROL, HostTask("h", Environment("e"), "do it", (), ()))
GIVEN = session_environment(LaunchContext(PATHS, PROBE, "do it", 0, "id", lambda value: value, "PEM"))


def rows() -> dict[str, str]:
    """First cell to second cell of every table row whose first cell is one name."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    return {cells[0].strip("`"): cells[1] for cells in lines}


def test_every_variable_has_its_row() -> None:
    assert GIVEN.keys() <= rows().keys()


def test_variables_with_a_fixed_value_are_given_with_it() -> None:
    for name in ("PATH", "LANG", "TERM", "PYTHONDONTWRITEBYTECODE", "OPENAI_API_KEY"):
        assert rows()[name].startswith(f"`{GIVEN[name]}`"), name


def test_the_authority_is_named_only_where_there_is_one() -> None:
    without = session_environment(LaunchContext(PATHS, PROBE, "do it", 0, "id", lambda value: value))
    assert GIVEN.keys() - without.keys() == set(TRUST_VARIABLES)
    assert {GIVEN[name] for name in TRUST_VARIABLES} == {"/ca.pem"}


def test_what_the_sandbox_adds_is_named() -> None:
    for name in environment(Launch(("true",), {}), "/home", "/workspace", "/tmp"):
        assert f"`{name}`" in PAGE, name


def test_every_way_of_the_prompt_has_its_row() -> None:
    for way in get_args(AgentTable.model_fields["prompt"].annotation):
        assert way in rows()


def test_limits_and_ports_are_those_of_the_sandbox() -> None:
    limits = Limits()
    for text in (
        f"| processes | {limits.processes} |",
        f"| open files per process | {limits.open_files} |",
        f"| one file | {limits.file_bytes >> 20} MiB |",
        f"| workspace with the answer | {limits.disk_bytes >> 20} MiB;",
        f"| CPU time per process | {limits.cpu_seconds} s |",
        f"| standard output, standard error | {limits.output_bytes >> 20} MiB each |",
        "Ports {} and {} are open from the start".format(*SandboxSpec("id", {}).sink_ports),
        f"{MAX_LISTENERS} destinations",
    ):
        assert text in PAGE, text
