"""A sandboxed, fully observed session against a bare bubblewrap and a bare process: ratios, interleaved.

    python benchmarks/sandbox.py [rounds] [sessions]

Wall clock is the median of the rounds. CPU counts the harness and the children it waited for: steadier on a busy
machine. Then, in the same run: that many trivial sessions two at a time, the difference of 2,000 changed files,
what the witness costs per executed program, and the life cycle of a session's servers.
"""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent_litmus.records.config import ModelConfig
from agent_litmus.records.probe import Environment
from agent_litmus.sandbox.binary import find_bubblewrap
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.diff import file_effects
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Launch, Mount, Provider, RunMounts, SandboxSpec
from agent_litmus.sandbox.state import overlay_place
from agent_litmus.sandbox.tree import Node, Tree, overlaid
from agent_litmus.services.gateway import Gateway, upstream_client
from agent_litmus.services.serve import serve_session
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession
from agent_litmus.testing.local import local_listeners

AGENTS = {"true": ("/bin/true",), "python": ("{python}", "-I", "-S", "-c", "pass")}
Work = Callable[[], Awaitable[None]]


def mounts(directory: Path) -> RunMounts:
    python = Path(os.path.realpath(sys.executable))
    prefix = python.parents[1]
    (directory / "agent.py").write_text("pass\n")
    directory.chmod(0o755)
    return RunMounts(directory, python, () if prefix == Path("/usr") else (Mount(prefix, str(prefix)),))


def session(provider: Provider, argv: tuple[str, ...]) -> Work:
    async def run() -> None:
        opened = await provider.open(SandboxSpec(os.urandom(8).hex(), {"a.txt": "a", "d/b.txt": "b"}))
        listeners = await opened.start(Launch(argv, {}))
        result = await opened.wait()
        for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()
        opened.effects()
        await opened.close()
        if not result.exit.clean:
            raise SystemExit(f"{argv}: {result}")

    return run


def bare(argv: tuple[str, ...]) -> Work:
    async def run() -> None:
        subprocess.run(argv, check=True, env={})  # noqa: ASYNC221  nothing else runs

    return run


def bare_bubblewrap(argv: tuple[str, ...], found: RunMounts) -> Work:
    binds = [word for m in found.mounts for word in ("--ro-bind", str(m.source), m.target)]
    links = [word for name in ("bin", "lib", "lib64", "sbin") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    options = ["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", *links, "--proc", "/proc"]
    return bare((str(find_bubblewrap().path), *options, "--dev", "/dev", "--tmpfs", "/tmp", *binds, *argv))


async def many(provider: Provider, sessions: int) -> None:
    """Trivial observed sessions, two at a time."""
    work, left = session(provider, ("/bin/true",)), iter(range(sessions))

    async def worker() -> None:
        for _ in left:
            await work()

    wall, used = time.perf_counter(), cpu()
    await asyncio.gather(worker(), worker())
    wall, used = time.perf_counter() - wall, cpu() - used
    print(
        f"{sessions} sessions, two at a time: {wall:.1f} s wall, {used:.1f} s CPU; "
        f"for 1,000 that is {1000 * wall / sessions:.1f} s of wall clock (at most 30), "
        f"{500 * used / sessions:.1f} s of two processors"
    )


def difference(rounds: int) -> None:
    """Reading an upper layer of 2,000 files and telling what changed."""
    before = Tree({f"d{n % 20}/f{n}": Node("file", 0o644, 1, "0") for n in range(2000)})
    times = []
    with tempfile.TemporaryDirectory(dir=overlay_place()) as name:
        for number in range(2000):
            path = Path(name, f"d{number % 20}", f"f{number}")
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"changed {number}" * 10)
        for _ in range(rounds):
            wall, used = time.perf_counter(), time.process_time()
            file_effects(before, overlaid(before, Path(name)), 0.0)
            times.append((time.perf_counter() - wall, time.process_time() - used))
    wall, used = (statistics.median(column) * 1e3 for column in zip(*times, strict=True))
    print(f"difference of 2,000 changed files: {wall:.1f} ms wall, {used:.1f} ms CPU (at most 25)")


async def executions(provider: Provider, rounds: int) -> None:
    """The witness's share of executing a program: sessions with many executions against sessions with few."""
    few, lots = 1, 201
    loop = "i=0; while [ $i -lt {} ]; do /bin/true; i=$((i+1)); done"
    works = {f"{n}": session(provider, ("sh", "-c", loop.format(n))) for n in (few, lots)}
    works |= {f"bare {n}": bare(("sh", "-c", loop.format(n))) for n in (few, lots)}
    found = await interleaved(works, max(3, rounds // 6))
    used = {name: statistics.median(row[1] for row in rows) for name, rows in found.items()}
    each = {kind: (used[f"{kind}{lots}"] - used[f"{kind}{few}"]) / (lots - few) * 1e3 for kind in ("", "bare ")}
    print(
        f"execution of a program: {each['']:.2f} ms CPU witnessed, {each['bare ']:.2f} ms bare; "
        f"{each[''] - each['bare ']:.2f} ms more (at most 0.5)"
    )


async def servers(rounds: int) -> None:
    """Starting and stopping a session's gateway, tool server and sink."""
    model = ModelConfig(id="m")
    async with upstream_client("http://127.0.0.1:9/v1", timeout=5) as client:
        gateway = Gateway("http://127.0.0.1:9/v1", None, model, client)
        times = []
        for number in range(rounds + 2):
            world = Environment("e")
            listeners = local_listeners()
            wall, used = time.perf_counter(), cpu()
            async with serve_session(
                listeners, gateway.session(f"s{number}"), ToolSession(world), SinkSession(world)
            ):
                pass
            times.append((time.perf_counter() - wall, cpu() - used))
    wall, used = (statistics.median(column) * 1e3 for column in zip(*times[2:], strict=True))
    print(f"servers of a session, started and stopped: {wall:.1f} ms wall, {used:.1f} ms CPU (at most 5)")


def cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages)


async def measure(rounds: int, sessions: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        found = mounts(Path(name))
        contained, uncontained = BubblewrapProvider(found), ProcessProvider(found)
        for agent, command in AGENTS.items():
            argv = tuple(word.replace("{python}", str(found.python)) for word in command)
            works = {
                "bare process": bare(argv),
                "bare bubblewrap": bare_bubblewrap(argv, found),
                "session, process": session(uncontained, argv),
                "session, bubblewrap": session(contained, argv),
            }
            report(agent, await interleaved(works, rounds))
        await many(contained, sessions)
        difference(rounds)
        await executions(contained, rounds)
        await servers(rounds)
        await contained.close()
        await uncontained.close()


async def interleaved(works: dict[str, Work], rounds: int) -> dict[str, list[tuple[float, float]]]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for number in range(rounds + 2):
        for name, work in works.items():
            wall, used = time.perf_counter(), cpu()
            await work()
            if number >= 2:  # the first rounds warm caches
                times[name].append((time.perf_counter() - wall, cpu() - used))
    return times


def report(agent: str, times: dict[str, list[tuple[float, float]]]) -> None:
    base = statistics.median(wall for wall, _ in times["bare bubblewrap"])
    print(f"agent: {agent} (wall clock against bare bubblewrap)")
    for name, rows in times.items():
        wall = statistics.median(row[0] for row in rows)
        used = statistics.fmean(row[1] for row in rows)
        print(
            f"  {name:22} {wall * 1e3:7.1f} ms wall  {used * 1e3:7.1f} ms CPU  {wall / base:5.2f} x bare bubblewrap"
        )


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(measure(numbers[0] if numbers else 30, numbers[1] if len(numbers) > 1 else 1000))
