"""Chooses the sandbox provider of a run."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from agent_litmus.errors import LitmusConfigError, LitmusSandboxError
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import Launch, Limits, Provider, RunMounts, SandboxSpec

PROVIDERS = ("auto", "bubblewrap", "process")
_TRIAL = SandboxSpec("trial", {"trial.txt": "trial"}, Limits(wall_seconds=30))


def choose_provider(name: str, mounts: RunMounts) -> Provider:
    """The provider called ``name``; ``auto`` is bubblewrap where a trial session works, else ``process``.

    Why ``auto`` fell back stands in the provider's ``reason`` and in its report.

    Raises:
        LitmusConfigError: ``name`` is none of :data:`PROVIDERS`.
        LitmusSandboxError: ``bubblewrap`` was asked for and does not work here.
    """
    if name == "process":
        return ProcessProvider(mounts, reason="asked for")
    if name not in PROVIDERS:
        raise LitmusConfigError(f"unknown sandbox provider {name!r}", hint=f"choose one of {', '.join(PROVIDERS)}")
    try:
        _in_own_loop(lambda: _trial(mounts))
    except LitmusSandboxError as error:
        if name == "bubblewrap":
            raise
        return ProcessProvider(mounts, reason=error.message)
    return BubblewrapProvider(mounts)


async def _trial(mounts: RunMounts) -> None:
    provider = BubblewrapProvider(mounts)
    try:
        session = await provider.open(_TRIAL)
        listeners = await session.start(Launch(("true",), {}))
        result = await session.wait()
        for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
            if sock is not None:
                sock.close()
    finally:
        await provider.close()
    if not result.exit.clean:
        raise LitmusSandboxError(
            f"a trial session ended with {result.exit.kind}: {result.exit.why or result.exit.code}",
            hint="run `litmus doctor` to see what this host allows",
        )


def _in_own_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run ``work`` whether or not the caller already runs an event loop."""
    failure: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001  handed to the caller
            failure.append(error)

    thread = threading.Thread(target=run, name="litmus-trial")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
