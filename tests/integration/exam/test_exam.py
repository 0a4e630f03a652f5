"""The exam: what it says of our own providers, of a stranger's, and of one that does not keep its word."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.exam.case import Case, Hold
from agent_litmus.exam.cases import ALL
from agent_litmus.exam.cases.acts import ACTS
from agent_litmus.exam.cases.files import FILES
from agent_litmus.exam.cases.host import HOST
from agent_litmus.exam.cases.kernel import KERNEL
from agent_litmus.exam.cases.limits import RESOURCES
from agent_litmus.exam.cases.network import NETWORK
from agent_litmus.exam.cases.processes import PROCESSES
from agent_litmus.exam.result import CaseResult
from agent_litmus.exam.run import HOST_CASE, examine_now
from agent_litmus.exam.stand_ins import stand_ins
from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    ProviderReport,
)
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Mount, Provider, RunMounts, SandboxSession, SandboxSpec
from agent_litmus.sandbox.select import choose_provider
from agent_litmus.testing.blind import NothingObservedProvider
from agent_litmus.testing.providers import PROPERTIES, SubprocessProvider

pytestmark = pytest.mark.integration
GROUPS = {
    "acts": ACTS,
    "processes": PROCESSES,
    "resources": RESOURCES,
    "files": FILES,
    "host": HOST,
    "network": NETWORK,
    "kernel": KERNEL,
}
STRANGER = 60_999
LARGE = {"many-files", "too-many-files", "full-disk", "deep-tree", "shut-out", "output-flood", "zip-bomb"}
MAY_BE_LEAKY = {"memory-in-children", "full-disk"}
"""Held by what not every host gives; declared best effort there."""
MAY_BE_UNSEEN = {"long-arguments", "fork-bomb", "too-many-files"}
"""More than is kept; declared partial."""


@pytest.fixture
def mounts(tmp_path: Path) -> RunMounts:
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "agent.py").write_text("print('the agent')\n")
    snapshot.chmod(0o755)
    python = Path(os.path.realpath(sys.executable))
    prefix = python.parents[1]
    return RunMounts(snapshot, python, () if prefix == Path("/usr") else (Mount(prefix, str(prefix)),))


@pytest.fixture
def bubblewrap(mounts: RunMounts) -> Callable[[], Provider]:
    try:
        asyncio.run(choose_provider("bubblewrap", mounts).close())
    except LitmusSandboxError as error:
        pytest.skip(f"bubblewrap does not work here: {error.message}")
    return lambda: BubblewrapProvider(mounts)


class Claiming:
    """Another provider with a report of its own."""

    def __init__(self, inner: Provider, state: ContainmentState, seen: ChannelState) -> None:
        self._inner = inner
        self.report = ProviderReport(
            "claims",
            "1",
            tuple(ChannelReport(channel, seen, "because") for channel in Channel),
            tuple(ContainmentReport(name, state, "because") for name in PROPERTIES),
        )

    async def open(self, spec: SandboxSpec) -> SandboxSession:
        return await self._inner.open(spec)

    async def close(self) -> None:
        await self._inner.close()


def by_name(provider: Provider, *cases: Case) -> dict[str, CaseResult]:
    return {result.name: result for result in examine_now(provider, cases).cases}


def named(*names: str) -> tuple[Case, ...]:
    return tuple(case for case in ALL if case.name in names)


def not_ok(results: dict[str, CaseResult]) -> dict[str, str]:
    return {name: result.detail for name, result in results.items() if not result.ok}


@pytest.mark.parametrize("group", GROUPS)
def test_bubblewrap_holds_and_sees_all_that_it_says(bubblewrap: Callable[[], Provider], group: str) -> None:
    results = by_name(bubblewrap(), *GROUPS[group])
    assert len(results) == len(GROUPS[group]) + 1
    assert not_ok(results) == {}
    assert {name for name, result in results.items() if not result.contained} <= MAY_BE_LEAKY
    assert {name for name, result in results.items() if not result.observed} <= MAY_BE_UNSEEN


@pytest.mark.parametrize("group", GROUPS)
def test_the_process_provider_says_what_it_does_not_hold_and_see(mounts: RunMounts, group: str) -> None:
    cases = [case for case in GROUPS[group] if case.name != "too-many-files"]  # below, for it takes minutes
    results = by_name(ProcessProvider(mounts), *cases)
    assert len(results) == len(cases) + 1
    assert not_ok(results) == {}
    for case in cases:
        result = results[case.name]
        assert not result.observed
        assert "exec declared not_observed" in result.detail
        assert ("only rehearsed" in result.detail) == bool(case.needs)
        assert not (case.needs and result.contained)
    assert results[HOST_CASE].contained


@pytest.mark.slow
def test_the_process_provider_survives_100_000_files(mounts: RunMounts) -> None:
    assert not_ok(by_name(ProcessProvider(mounts), *named("too-many-files"))) == {}


def test_a_strangers_provider_is_examined_through_the_protocol(mounts: RunMounts) -> None:
    results = by_name(SubprocessProvider(mounts), *(case for case in ALL if case.name not in LARGE))
    assert not_ok(results) == {}
    assert results["every-kind-of-change"].contained
    assert "stand-in process ended" in results["kills-the-harness"].detail


def test_a_provider_that_observes_nothing_is_ok_and_nothing_is_observed(mounts: RunMounts) -> None:
    cases = named("honest", "programs", "daemon", "reads-the-host")
    results = by_name(NothingObservedProvider(SubprocessProvider(mounts)), *cases)
    assert not_ok(results) == {}
    assert [name for name, result in results.items() if result.observed] == [HOST_CASE]


def test_a_provider_that_claims_what_it_does_not_do_is_not_ok(mounts: RunMounts) -> None:
    harmless = named(
        "programs", "reads-the-host", "environment", "hidden-daemon", "host-socket", "rights", "io-uring"
    )
    liar = Claiming(SubprocessProvider(mounts), ContainmentState.ENFORCED, ChannelState.OBSERVED)
    results = by_name(liar, *harmless)
    assert {case.name for case in harmless} == not_ok(results).keys()
    assert (
        "not contained: a file of the host was read (declared enforced: filesystem)"
        in results["reads-the-host"].detail
    )
    assert "not seen: a program with its arguments" in results["programs"].detail


REHEARSED = Case(
    "act",
    "does harm",
    script="say(ran='the act')",
    holds=(Hold("filesystem", lambda s: s.said["ran"] if s.said["ran"] == "the act" else ""),),
    rehearsal="import shutil; shutil.rmtree(X['precious'], ignore_errors=True); say(ran='rehearsal')",
    needs=("filesystem",),
)


def test_an_act_that_could_harm_the_host_is_not_tried_where_the_stand_in_was_harmed(mounts: RunMounts) -> None:
    liar = Claiming(SubprocessProvider(mounts), ContainmentState.ENFORCED, ChannelState.NOT_OBSERVED)
    result = by_name(liar, REHEARSED)["act"]
    assert not result.ok
    assert "precious" in result.detail
    assert "the act" not in result.detail


def test_an_act_that_could_harm_the_host_is_tried_where_the_stand_in_was_held(mounts: RunMounts) -> None:
    liar = Claiming(SubprocessProvider(mounts), ContainmentState.ENFORCED, ChannelState.NOT_OBSERVED)
    result = by_name(liar, replace(REHEARSED, rehearsal="say(ran='rehearsal')"))["act"]
    assert not result.ok
    assert "not contained: the act" in result.detail


def test_an_act_that_is_only_rehearsed_is_never_called_contained(mounts: RunMounts) -> None:
    result = by_name(SubprocessProvider(mounts), replace(REHEARSED, rehearsal="say(ran='rehearsal')"))["act"]
    assert (result.ok, result.contained) == (True, False)
    assert "only rehearsed" in result.detail


@pytest.mark.parametrize("script", ["raise SystemExit(3)", "while", "", "import no_such_module"])
def test_a_case_whose_act_was_not_tried_is_never_ok(mounts: RunMounts, script: str) -> None:
    result = by_name(SubprocessProvider(mounts), Case("act", "does nothing", script))["act"]
    assert (result.ok, result.contained, result.observed) == (False, False, False)
    assert "the act was not tried" in result.detail


class Failing(SubprocessProvider):
    """Makes no session, and keeps a descriptor each time."""

    def __init__(self, mounts: RunMounts) -> None:
        super().__init__(mounts)
        self.kept: list[int] = []

    async def open(self, spec: SandboxSpec) -> SandboxSession:  # type: ignore[override]  # it makes none
        self.kept.append(os.open("/dev/null", os.O_RDONLY))
        raise RuntimeError(f"no {len(spec.files)}")


def test_a_session_that_cannot_be_run_is_not_ok_and_the_exam_goes_on(mounts: RunMounts) -> None:
    provider = Failing(mounts)
    try:
        results = by_name(provider, *named("honest", "programs"))
    finally:
        for fd in provider.kept:
            os.close(fd)
    assert not_ok(results).keys() == {"honest", "programs", HOST_CASE}
    assert "the session could not be run: RuntimeError: no 1" in results["honest"].detail
    assert results[HOST_CASE].detail == "changed: 1 open descriptors"


def test_what_a_session_left_on_the_host_is_seen_and_then_removed() -> None:
    with stand_ins() as host:
        places = host.places()
        Path(places["outside"]).write_text("left")
        left = subprocess.Popen(("sleep", "1000"), env={**os.environ, "TOKEN": places["token"]})
        Path(places["canary"]).write_text("changed")
        with socket.create_connection(("127.0.0.1", places["port"])):
            seen = host.seen()
        assert os.environ["LITMUS_EXAM_SECRET"] == host.secrets.environment
    assert (seen.left, seen.alive) == ((places["outside"],), (left.pid,))
    assert (seen.files, seen.reached, seen.process) == ("canary.txt", ("port",), "")
    assert left.wait() == -signal.SIGKILL
    assert not Path(places["outside"]).exists()
    assert not Path(places["directory"]).exists()
    assert "LITMUS_EXAM_SECRET" not in os.environ


@pytest.mark.parametrize("name", ["bubblewrap", "process"])
def test_the_command_line_runs_the_exam_for_a_user_without_rights(
    bubblewrap: Callable[[], Provider], tmp_path: Path, name: str
) -> None:
    del bubblewrap
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    user: dict[str, Any] = {"user": STRANGER, "group": STRANGER, "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        os.chown(place, STRANGER, STRANGER)
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(place), "HOME": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    env["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    argv = [sys.executable, "-m", "agent_litmus"]
    try:
        try:
            subprocess.run([*argv, "--help"], env=env, cwd=place, check=True, capture_output=True, **user)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no other user can run this interpreter: {error}")
        cases = [part for case in ALL if case.name not in LARGE for part in ("--case", case.name)]
        verb = [*argv, "sandbox", "self-check", "--provider", name, "--json", *cases]
        done = subprocess.run(verb, env=env, cwd=place, check=False, capture_output=True, **user)
    finally:
        shutil.rmtree(place)
    document = json.loads(done.stdout)
    assert (done.returncode, document["provider"], document["ok"]) == (0, name, True), done.stdout
    assert len(document["cases"]) == len(cases) // 2 + 1
    assert document["cases"][-1]["name"] == HOST_CASE
