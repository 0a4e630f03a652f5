"""The design's own holes: what one session, or one user, could get from another."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.build.snapshot import SnapshotStore
from agent_litmus.sandbox.protocol import Launch, Limits, Listeners, Provider, SandboxSession, SandboxSpec

pytestmark = pytest.mark.integration
STRANGER = 60_999
SECRET = "neighbour-secret-4f1d"


def sockets(listeners: Listeners) -> list[socket.socket]:
    return [s for s in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http) if s is not None]


async def neighbours(
    make: Callable[[], Provider], work: Callable[[Provider, SandboxSession], Awaitable[Any]]
) -> Any:
    """``work`` beside a running session that keeps a secret and answers on its own gateway port."""
    provider = make()
    try:
        spec = SandboxSpec("neighbour", {"secret.txt": SECRET}, Limits(wall_seconds=60))
        session = await provider.open(spec)
        listeners = await session.start(
            Launch(("sh", "-c", f"echo {SECRET} > made.txt; sleep 1000"), {"MINE": SECRET})
        )
        async with contextlib.AsyncExitStack() as stack:
            for sock in sockets(listeners):
                stack.callback(sock.close)
            server = await asyncio.start_server(_tell, sock=listeners.gateway)
            stack.push_async_callback(server.wait_closed)
            stack.callback(server.close)
            return await work(provider, session)
    finally:
        await provider.close()


async def _tell(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(SECRET.encode())
    writer.close()


def test_a_session_does_not_reach_anothers_listeners(bubblewrap: Callable[[], Provider], play: Any) -> None:
    async def work(provider: Provider, other: SandboxSession) -> Any:
        url = other.paths.gateway_url
        host, port = url.removeprefix("http://").split(":")
        code = (
            "import socket\n"
            f"s = socket.create_connection(({host!r}, {port}), 10)\n"
            "s.settimeout(2)\n"
            "try: print('got', s.recv(99))\n"
            "except TimeoutError: print('nobody')"
        )
        return await play(provider, "{python}", "-I", "-S", "-c", code)

    seen = asyncio.run(neighbours(bubblewrap, work))
    assert seen.output == "nobody\n"  # its own listener, which this test does not serve


def test_a_session_does_not_find_anothers_workspace_or_processes(
    bubblewrap: Callable[[], Provider], play: Any
) -> None:
    async def work(provider: Provider, other: SandboxSession) -> Any:
        directory = other._place.directory  # type: ignore[attr-defined]
        script = f"cat {directory}/upper/made.txt {directory}/lower/secret.txt; ls {directory.parent}; "
        script += f"grep -rl {SECRET} /workspace /home /tmp /run /proc/*/environ /proc/*/cwd/ 2>/dev/null; true"
        return await play(provider, "sh", "-c", script)

    seen = asyncio.run(neighbours(bubblewrap, work))
    assert seen.output == ""


def test_a_session_cannot_use_up_the_users_file_notifications(
    bubblewrap: Callable[[], Provider], play: Any
) -> None:
    async def alone() -> Any:
        provider = bubblewrap()
        try:
            code = (
                "import ctypes, os; libc = ctypes.CDLL(None); got = 0\n"
                "while got < 200 and libc.inotify_init() >= 0: got += 1\n"
                "print(got)\n"
                "try: open('/proc/sys/user/max_inotify_instances', 'w').write('1000')\n"
                "except OSError: print('kept')"
            )
            return await play(provider, "{python}", "-I", "-S", "-c", code)
        finally:
            await provider.close()

    seen = asyncio.run(alone())
    if "in memory" not in next(held.why for held in _containment(bubblewrap) if held.property == "disk"):
        pytest.skip("workspaces are on disk here, and the limit needs the rights that come with memory")
    assert seen.output.splitlines() == ["24", "kept"]


def _containment(make: Callable[[], Provider]) -> Any:
    provider = make()
    try:
        return provider.report.containment
    finally:
        asyncio.run(provider.close())


def test_another_user_of_the_host_cannot_read_a_running_session(bubblewrap: Callable[[], Provider]) -> None:
    async def work(_: Provider, other: SandboxSession) -> list[str]:
        directory = other._place.directory  # type: ignore[attr-defined]
        return await asyncio.to_thread(_readable_by_a_stranger, directory)

    assert asyncio.run(neighbours(bubblewrap, work)) == []


def _readable_by_a_stranger(directory: Path) -> list[str]:
    """What a user without rights can read below a directory; as an unprivileged harness: what the modes allow."""
    if os.geteuid() != 0:
        return (
            [] if any(p.stat().st_mode & 0o077 == 0 for p in (directory, *directory.parents)) else [str(directory)]
        )
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setresgid(STRANGER, STRANGER, STRANGER)
        os.setresuid(STRANGER, STRANGER, STRANGER)
        for path in (directory, *(directory / name for name in ("lower", "upper", "lower/secret.txt"))):
            with contextlib.suppress(OSError):
                os.write(theirs, f"{os.listdir(path) if path.is_dir() else path.read_text()}\n".encode())  # noqa: PTH208
        os._exit(0)
    os.close(theirs)
    os.waitpid(pid, 0)
    with open(ours, "rb") as stream:  # noqa: PTH123  a descriptor
        return stream.read().decode().splitlines()


def test_the_snapshot_store_is_shut_to_other_users(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = SnapshotStore(tmp_path / "runs" / ".snapshots")
    (store.root / "kept").mkdir(parents=True, exist_ok=True)
    (store.root / "kept" / "agent.py").write_text(SECRET)
    (store.root / "kept").chmod(0o755)
    assert store.root.stat().st_mode & 0o777 == 0o700
    assert _readable_by_a_stranger(store.root / "kept") == []
