"""Providers as a whole: choice, many sessions, abuse of the protocol, cleaning up."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.errors import LitmusConfigError, LitmusSandboxError
from agent_litmus.records.effect import Channel, ChannelState, ContainmentState
from agent_litmus.records.session import ExitKind
from agent_litmus.sandbox import binary
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.child import MARK
from agent_litmus.sandbox.files import tree_digest
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Launch, Limits, Listeners, Provider, RunMounts, SandboxSpec
from agent_litmus.sandbox.select import choose_provider
from agent_litmus.sandbox.state import RunState

pytestmark = pytest.mark.integration
Make = Callable[[], Provider]


def run(work: Callable[[Provider], Any], make: Make) -> Any:
    async def main() -> Any:
        provider = make()
        try:
            return await work(provider)
        finally:
            await provider.close()

    return asyncio.run(main())


def test_sessions_side_by_side_do_not_see_each_other(provider: Make, play: Any) -> None:
    async def work(opened: Provider) -> Any:
        jobs = [play(opened, "sh", "-c", f"echo {n} > own; ls; cat own", files={"t": str(n)}) for n in range(5)]
        return await asyncio.gather(*jobs)

    assert [seen.output for seen in run(work, provider)] == [f"own\nt\n{n}\n" for n in range(5)]


def test_a_session_can_be_started_once(provider: Make) -> None:
    async def work(opened: Provider) -> None:
        session = await opened.open(SandboxSpec("s", {}))
        with pytest.raises(LitmusSandboxError, match="not started"):
            await session.wait()
        listeners = await session.start(Launch(("true",), {}))
        with pytest.raises(LitmusSandboxError, match="only once"):
            await session.start(Launch(("true",), {}))
        await session.wait()
        for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()
        await session.close()
        await session.close()

    run(work, provider)


def test_a_command_before_the_end_is_no_result(provider: Make) -> None:
    async def work(opened: Provider) -> Any:
        session = await opened.open(SandboxSpec("s", {}))
        return await session.command(("true",), 5)

    assert run(work, provider).exit_code is None


@pytest.mark.parametrize("path", ["../x", "/etc/x", "", "a/../../x", "a\0b"])
def test_a_template_cannot_leave_the_workspace(provider: Make, path: str) -> None:
    async def work(opened: Provider) -> None:
        with pytest.raises(LitmusSandboxError, match="does not name a file below"):
            await opened.open(SandboxSpec("s", {path: "x"}))

    run(work, provider)


def test_launch_files_cannot_lie_elsewhere(provider: Make) -> None:
    async def work(opened: Provider) -> None:
        session = await opened.open(SandboxSpec("s", {}))
        with pytest.raises(LitmusSandboxError, match="does not lie below"):
            await session.start(Launch(("true",), {}, files={"/etc/passwd": "x"}))

    run(work, provider)


def test_paths_can_still_be_asked_for_when_the_listeners_are_closed(provider: Make) -> None:
    async def work(opened: Provider) -> None:
        session = await opened.open(SandboxSpec("s", {}))
        before = session.paths
        listeners = await session.start(Launch(("true",), {}))
        _close(listeners)
        assert session.paths == before
        await session.wait()
        assert session.paths == before
        await session.close()
        assert session.paths == before

    run(work, provider)


def test_importing_the_agents_modules_does_not_change_the_snapshot(
    provider: Make, mounts: RunMounts, play: Any
) -> None:
    async def work(opened: Provider) -> Any:
        return await play(opened, "{python}", "-c", "import sys; sys.path.insert(0, '{agent}'); import agent")

    seen = run(work, provider)
    assert seen.output == "the agent\n"
    assert seen.facts.base_unchanged
    assert [path.name for path in mounts.snapshot.iterdir()] == ["agent.py"]


def _close(listeners: Listeners) -> None:
    for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
        if sock is not None:
            sock.close()


def test_closing_the_provider_ends_running_sessions_and_leaves_nothing(
    provider: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("TMPDIR", str(state))
    monkeypatch.setattr("tempfile.tempdir", None)
    seen: list[int] = []

    async def work(opened: Provider) -> None:
        session = await opened.open(SandboxSpec("closing-test", {}))
        listeners = await session.start(Launch(("sleep", "1000"), {}))
        seen.append(len(list(state.iterdir())))
        for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()

    run(work, provider)
    assert seen == [1]
    assert list(state.iterdir()) == []
    assert [pid for pid in Path("/proc").iterdir() if _is_sleeping(pid)] == []


def _is_sleeping(process: Path) -> bool:
    try:
        marked = f"{MARK}=closing-test".encode() in (process / "environ").read_bytes()
        return marked and b"sleep" in (process / "cmdline").read_bytes()
    except OSError:
        return False


def test_cancelling_the_wait_leaves_a_session_that_can_be_closed(provider: Make) -> None:
    async def work(opened: Provider) -> None:
        session = await opened.open(SandboxSpec("s", {}))
        listeners = await session.start(Launch(("sleep", "1000"), {}))
        waiting = asyncio.ensure_future(session.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await session.close()
        for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()

    run(work, provider)


def test_a_changed_snapshot_shows_in_the_facts(provider: Make, mounts: RunMounts, play: Any) -> None:
    async def work(opened: Provider) -> Any:
        before = await play(opened, "true")
        (mounts.snapshot / "agent.py").write_text("print('another agent')\n")
        return before, await play(opened, "true")

    before, after = run(work, provider)
    assert before.facts.snapshot_digest != after.facts.snapshot_digest == tree_digest(mounts.snapshot)


def test_a_snapshot_changed_during_the_session_is_a_changed_base(
    provider: Make, mounts: RunMounts, play: Any
) -> None:
    async def change(*_: Any) -> None:
        (mounts.snapshot / "agent.py").write_text("print('another agent')\n")

    async def work(opened: Provider) -> Any:
        return await play(opened, "sh", "-c", "until grep -q another {agent}/agent.py; do :; done", during=change)

    assert run(work, provider).facts.base_unchanged is False


def test_a_missing_snapshot_is_refused(mounts: RunMounts, tmp_path: Path) -> None:
    for kind in (BubblewrapProvider, ProcessProvider):
        with pytest.raises(LitmusSandboxError, match="is no directory"):
            kind(replace(mounts, snapshot=tmp_path / "missing"))


def test_an_interpreter_that_is_not_mounted_is_a_clear_error(bubblewrap: Make, mounts: RunMounts) -> None:
    bad = replace(mounts, python=Path("/no/such/python"))

    async def work(opened: Provider) -> None:
        session = await opened.open(SandboxSpec("s", {}))
        with pytest.raises(LitmusSandboxError, match="/no/such/python"):
            await session.start(Launch(("true",), {}))

    run(work, lambda: BubblewrapProvider(bad))


def test_without_bubblewrap_auto_falls_back_and_says_why(
    mounts: RunMounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binary, "_candidates", list)
    with pytest.raises(LitmusSandboxError, match="no usable bubblewrap"):
        choose_provider("bubblewrap", mounts)
    provider = choose_provider("auto", mounts)
    assert isinstance(provider, ProcessProvider)
    assert "no usable bubblewrap" in provider.reason
    assert any("no usable bubblewrap" in c.why for c in provider.report.containment)
    asyncio.run(provider.close())


def test_auto_takes_bubblewrap_where_it_works(bubblewrap: Make, mounts: RunMounts) -> None:
    provider = choose_provider("auto", mounts)
    assert provider.report.name == "bubblewrap"
    asyncio.run(provider.close())


def test_an_unknown_provider_is_a_configuration_error(mounts: RunMounts) -> None:
    with pytest.raises(LitmusConfigError, match="docker"):
        choose_provider("docker", mounts)


def test_the_process_provider_claims_neither_watching_nor_containing(process: Make, play: Any) -> None:
    async def work(opened: Provider) -> Any:
        return opened.report, await play(opened, "true")

    report, seen = run(work, process)
    unseen = {Channel.EXEC, Channel.CONNECT, Channel.SIGNALS, Channel.DNS, Channel.HTTP}
    unseen |= {Channel.READS, Channel.LISTEN, Channel.CLOCK, Channel.CALLS}
    assert {c.channel for c in seen.facts.channels if c.state is ChannelState.NOT_OBSERVED} == unseen
    assert ContainmentState.ENFORCED not in {c.state for c in report.containment}
    assert seen.facts.process_fresh is None
    assert {e.channel for e in seen.effects} <= {Channel.FILES, Channel.PROCESSES}


def test_a_root_harness_runs_each_session_as_a_user_of_its_own(bubblewrap: Make) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs a harness that is root")

    async def work(opened: Provider) -> set[int]:
        found = set()
        for number in range(2):
            session = await opened.open(SandboxSpec(str(number), {}, Limits(wall_seconds=20)))
            listeners = await session.start(Launch(("sleep", "1000"), {}))
            found.add(_user(session._agent.first))  # type: ignore[attr-defined]
            for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
                if sock is not None:
                    sock.close()
        return found

    assert run(work, bubblewrap) == {61_000, 61_001}


def _user(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1])


def test_a_sandbox_killed_from_outside_is_a_harness_error(bubblewrap: Make) -> None:
    async def work(opened: Provider) -> Any:
        session = await opened.open(SandboxSpec("s", {}))
        listeners = await session.start(Launch(("sleep", "1000"), {}))
        os.kill(session._agent.first, 9)  # type: ignore[attr-defined]
        result = await session.wait()
        for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()
        return result

    assert run(work, bubblewrap).exit.kind is ExitKind.HARNESS_ERROR


def test_sessions_leave_no_descriptor_and_no_thread(provider: Make, play: Any) -> None:
    def kept() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), len(
            [t for t in threading.enumerate() if "witness" in t.name]
        )

    async def work(opened: Provider) -> list[tuple[int, int]]:
        counts = []
        for _ in range(3):
            await play(opened, "sh", "-c", "true; sleep 1000 &", commands=(("true",),))
            await play(opened, "no-such-command")
            counts.append(kept())
        return counts

    _, second, third = run(work, provider)
    assert second == third
    assert third[1] == 0


HARNESS = """
import asyncio, sys
from pathlib import Path
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Launch, Mount, RunMounts, SandboxSpec

async def main(name, snapshot, python, *mounts):
    make = {"bubblewrap": BubblewrapProvider, "process": ProcessProvider}[name]
    provider = make(RunMounts(Path(snapshot), Path(python), tuple(Mount(Path(m), m) for m in mounts)))
    session = await provider.open(SandboxSpec("s", {}))
    await session.start(Launch(("sleep", "1000"), {}))
    print(session._agent.first if name == "bubblewrap" else session._agent._process.pid, flush=True)
    await session.wait()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_killed_harness_takes_its_sessions_with_it(
    provider: Make, mounts: RunMounts, tmp_path: Path, number: signal.Signals, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["provider"]
    places = [name, str(mounts.snapshot), str(mounts.python), *(m.target for m in mounts.mounts)]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, *places], stdout=subprocess.PIPE, env=environment, text=True
    ) as harness:
        assert harness.stdout is not None
        pidfd = os.pidfd_open(int(harness.stdout.readline()))
        harness.send_signal(number)
    assert select.select([pidfd], [], [], 20)[0] == [pidfd]
    os.close(pidfd)
    RunState(tmp_path).remove()
    assert [p.name for p in tmp_path.iterdir()] == ["snapshot"]
