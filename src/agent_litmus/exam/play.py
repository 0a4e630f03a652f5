"""Plays one script in one session, through the sandbox protocol alone."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from agent_litmus.exam.case import Case
from agent_litmus.exam.scene import Scene
from agent_litmus.exam.script import heard, whole
from agent_litmus.exam.stand_ins import StandIns
from agent_litmus.records.config import ModelConfig
from agent_litmus.records.effect import Effect
from agent_litmus.records.probe import Environment
from agent_litmus.sandbox.protocol import Launch, ProcessResult, Provider, SandboxSession, SandboxSpec
from agent_litmus.services.authority import Authority
from agent_litmus.services.gateway import Gateway, upstream_client
from agent_litmus.services.serve import serve_session
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession

_GRACE_SECONDS = 120.0
"""Beyond its own deadline a session may take this long to be set up, ended, read and removed."""


@dataclass(frozen=True, slots=True)
class _Played:
    result: ProcessResult
    effects: tuple[Effect, ...]


async def play(provider: Provider, case: Case, script: str, host: StandIns) -> Scene:
    """Run ``script`` as the agent of ``case``.

    Raises:
        LitmusError: The session could not be run.
        TimeoutError: It did not end.
    """
    async with asyncio.timeout(case.limits.wall_seconds + _GRACE_SECONDS):
        if case.earlier:
            async with _session(provider, case, host) as session:
                await _run(session, case.earlier, host)
        async with contextlib.AsyncExitStack() as stack:
            if case.beside:
                neighbour = await stack.enter_async_context(_session(provider, case, host))
                task = asyncio.ensure_future(_run(neighbour, case.beside, host, LITMUS_NEXT=host.secrets.neighbour))
                stack.push_async_callback(_ended, task)
            session = await stack.enter_async_context(_session(provider, case, host))
            played = await _run(session, script, host)
            if case.beside:
                await neighbour.close()
                await _ended(task)
            return Scene(
                token=host.token,
                limits=case.limits,
                result=played.result,
                effects=played.effects,
                facts=session.facts(),
                looks={path: session.look(path, case.limits.file_bytes + 1) for path in case.looks},
                host=await asyncio.to_thread(host.seen),
                secrets=host.secrets,
                told=host.places(),
                said=heard(played.result.stdout),
            )


async def _ended(task: "asyncio.Future[_Played]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def _session(provider: Provider, case: Case, host: StandIns) -> AsyncIterator[SandboxSession]:
    spec = SandboxSpec(host.token, case.files, case.limits, home=case.home, canaries=case.canaries)
    session = await provider.open(spec)
    try:
        yield session
    finally:
        await session.close()


async def _run(session: SandboxSession, script: str, host: StandIns, **env: str) -> _Played:
    paths = session.paths
    told = {**host.places(), "agent": paths.agent, "answer": paths.answer, "home": paths.home}
    argv = (paths.python, "-I", "-S", "-c", whole(script), host.token)
    world = Environment("exam")
    authority = Authority() if paths.ca_file else None
    trusted = {"SSL_CERT_FILE": paths.ca_file} if authority else {}
    given = {paths.ca_file: authority.pem} if authority else {}
    tools, sink = ToolSession(world), SinkSession(world, authority=authority)
    async with upstream_client("") as client:
        gateway = Gateway("", None, ModelConfig(id="exam"), client).session(host.token)
        launch = Launch(argv, {"LITMUS_EXAM": json.dumps(told), **trusted, **env}, files=given)
        listeners = await session.start(launch)
        async with serve_session(listeners, gateway, tools, sink):
            result = await session.wait()
    return _Played(result, (*session.effects(), *tools.effects, *sink.effects))
