"""A sandboxed, fully observed session against a bare bubblewrap and a bare process: ratios, interleaved.

    python benchmarks/sandbox.py [rounds]

Wall clock is the median of the rounds. CPU counts the harness and the children it waited for: steadier on a busy
machine.
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

from agent_litmus.sandbox.binary import find_bubblewrap
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Launch, Mount, Provider, RunMounts, SandboxSpec

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


def cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages)


async def measure(rounds: int) -> None:
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
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
