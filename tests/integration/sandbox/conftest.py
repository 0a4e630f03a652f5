"""Runs one session under a provider and keeps everything it yielded."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.records.effect import Channel, Effect
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import (
    CommandResult,
    Launch,
    Limits,
    Listeners,
    Look,
    Mount,
    ProcessResult,
    Provider,
    RunMounts,
    SandboxPaths,
    SandboxSession,
    SandboxSpec,
    SessionFacts,
)
from agent_litmus.sandbox.select import choose_provider

During = Callable[[SandboxSession, Listeners], Awaitable[None]]


@dataclass(frozen=True)
class Seen:
    """Everything a session yielded, read before it was closed."""

    result: ProcessResult
    effects: tuple[Effect, ...]
    facts: SessionFacts
    paths: SandboxPaths
    read: Mapping[str, bytes | None]
    commands: tuple[CommandResult, ...]
    look: Mapping[str, Look]

    def files(self) -> set[tuple[str, str]]:
        return {(e.action, e.detail["path"]) for e in self.on(Channel.FILES)}

    def on(self, channel: Channel) -> list[Effect]:
        return [e for e in self.effects if e.channel is channel]

    @property
    def output(self) -> str:
        return self.result.stdout.decode(errors="replace")


@dataclass(frozen=True)
class Play:
    """One session to run: what there is, what runs, what is asked afterwards."""

    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=lambda: Limits(wall_seconds=30))
    launch_files: Callable[[SandboxPaths], Mapping[str, str]] = lambda _: {}
    during: During | None = None
    read: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    look: tuple[str, ...] = ()
    home: Mapping[str, str] = field(default_factory=dict)
    canaries: tuple[str, ...] = ()


def _close(listeners: Listeners) -> None:
    for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
        if sock is not None:
            sock.close()


def _filled(word: str, places: Mapping[str, str]) -> str:
    for name, place in places.items():
        word = word.replace(name, place)
    return word


def _spec(play: Play) -> SandboxSpec:
    return SandboxSpec(os.urandom(8).hex(), play.files, play.limits, home=play.home, canaries=play.canaries)


async def play_on(provider: Provider, play: Play) -> Seen:
    """Run one session on an open provider."""
    session = await provider.open(_spec(play))
    try:
        paths = session.paths
        places = {"{answer}": paths.answer, "{python}": paths.python, "{agent}": paths.agent}
        argv = tuple(_filled(word, places) for word in play.argv)
        listeners = await session.start(Launch(argv, play.env, play.stdin, play.launch_files(paths)))
        helper = asyncio.ensure_future(play.during(session, listeners)) if play.during else None
        result = await session.wait()
        if helper:
            helper.cancel()
            await asyncio.gather(helper, return_exceptions=True)
        _close(listeners)
        commands = [await session.command(argv, 20) for argv in play.commands]
        read = {path: session.read(path) for path in play.read}
        look = {path: session.look(path) for path in play.look}
        return Seen(result, session.effects(), session.facts(), paths, read, tuple(commands), look)
    finally:
        await session.close()


@pytest.fixture
def mounts(tmp_path: Path) -> RunMounts:
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "agent.py").write_text("print('the agent')\n")
    snapshot.chmod(0o755)  # readable for every session's user, as snapshots are
    (snapshot / "agent.py").chmod(0o644)
    python = Path(os.path.realpath(sys.executable))
    prefix = python.parents[1]
    return RunMounts(snapshot, python, () if prefix == Path("/usr") else (Mount(prefix, str(prefix)),))


@pytest.fixture(scope="session")
def namespaces(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Empty where bubblewrap works, else why not."""
    snapshot = tmp_path_factory.mktemp("snapshot")
    python = Path(os.path.realpath(sys.executable))
    prefix = python.parents[1]
    found = () if prefix == Path("/usr") else (Mount(prefix, str(prefix)),)
    try:
        provider = choose_provider("bubblewrap", RunMounts(snapshot, python, found))
    except LitmusSandboxError as error:
        return error.message
    asyncio.run(provider.close())
    return ""


@pytest.fixture
def bubblewrap(mounts: RunMounts, namespaces: str) -> Callable[[], Provider]:
    if namespaces:
        pytest.skip(f"bubblewrap does not work here: {namespaces}")
    return lambda: BubblewrapProvider(mounts)


@pytest.fixture
def process(mounts: RunMounts) -> Callable[[], Provider]:
    return lambda: ProcessProvider(mounts)


@pytest.fixture(params=["bubblewrap", "process"])
def provider(request: pytest.FixtureRequest) -> Callable[[], Provider]:
    made: Callable[[], Provider] = request.getfixturevalue(request.param)
    return made


def _player(make: Callable[[], Provider]) -> Callable[..., Seen]:
    async def once(play: Play) -> Seen:
        provider = make()
        try:
            return await play_on(provider, play)
        finally:
            await provider.close()

    return lambda *argv, **rest: asyncio.run(once(Play(argv, **rest)))


@pytest.fixture
def both(provider: Callable[[], Provider]) -> Callable[..., Seen]:
    """Plays a session under each provider in turn."""
    return _player(provider)


@pytest.fixture
def contained(bubblewrap: Callable[[], Provider]) -> Callable[..., Seen]:
    """Plays a session under bubblewrap."""
    return _player(bubblewrap)


@pytest.fixture
def uncontained(process: Callable[[], Provider]) -> Callable[..., Seen]:
    """Plays a session under the process provider."""
    return _player(process)


@pytest.fixture
def play() -> Callable[..., Any]:
    """:func:`play_on`, for tests that keep one provider open."""
    return lambda provider, *argv, **rest: play_on(provider, Play(argv, **rest))
