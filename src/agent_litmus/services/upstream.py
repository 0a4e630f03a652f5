"""A local model server that a run starts, waits for and stops."""

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import httpx2

from agent_litmus.errors import LitmusError
from agent_litmus.records.config import ModelConfig

KEY_VARIABLE = "LITMUS_UPSTREAM_KEY"
"""Environment variable that tells the server which key to ask for."""
_TAIL_BYTES = 4096
_TERM_SECONDS = 3.0


class UpstreamError(LitmusError):
    """The local model server cannot be used."""

    default_slug = "upstream"


class ManagedUpstream:
    """Runs ``model.serve`` while the context lasts.

    The command's placeholders: ``{port}`` is a free port on 127.0.0.1, ``{python}`` this interpreter. The server
    finds the key it should ask for in ``LITMUS_UPSTREAM_KEY``. It is ready once ``/health`` or ``/v1/models``
    answers 200. At the end its whole process group is killed; should this process be killed, the kernel kills it
    (where ``setpriv`` is installed).

    Args:
        model: Its ``serve`` is the command.
        cwd: Directory the command runs in.
        ready_seconds: Longest time to become ready, in seconds.
    """

    def __init__(self, model: ModelConfig, *, cwd: Path | None = None, ready_seconds: float = 120.0) -> None:
        self._model = model
        self._cwd = cwd
        self._ready_seconds = ready_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._output: BinaryIO | None = None
        self.api_key = secrets.token_urlsafe(24)
        """Random; for the gateway."""
        self.base_url = ""
        """Ends in ``/v1``; known once the context was entered."""

    @property
    def pid(self) -> int | None:
        """The server's process id while it is meant to run."""
        return None if self._process is None else self._process.pid

    async def __aenter__(self) -> Self:
        """Start the server and wait until it is ready.

        Raises:
            UpstreamError: It cannot be started, ends early, or is not ready in time.
        """
        port = _free_port()
        argv = [part.replace("{port}", str(port)).replace("{python}", sys.executable) for part in self._model.serve]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        try:
            # A file, not a pipe: a pipe would have to be read, and a stray grandchild could hold it open for ever.
            self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the context ends
            self._process = await self._start(argv)
            await self._until_ready(argv)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server."""
        await self._stop()

    async def _start(self, argv: list[str]) -> asyncio.subprocess.Process:
        program = shutil.which(argv[0]) if argv else None
        if program is None:
            raise UpstreamError(
                f"$.agent.model.serve: the command {argv[0] if argv else ''!r} was not found or is not executable",
                hint="Install the model server, or correct the command in the configuration.",
            )
        try:
            return await self._spawn(program, argv[1:])
        except OSError as error:
            raise UpstreamError(
                f"$.agent.model.serve: {argv[0]!r} could not be started in {self._cwd or '.'}: {error.strerror}",
                hint="Check that the directory exists and that the file is a program.",
            ) from error

    async def _spawn(self, program: str, arguments: list[str]) -> asyncio.subprocess.Process:
        setpriv = shutil.which("setpriv")
        tied = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
        return await asyncio.create_subprocess_exec(
            *tied,
            program,
            *arguments,
            cwd=self._cwd,
            env={**os.environ, KEY_VARIABLE: self.api_key},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=self._output,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )

    async def _until_ready(self, argv: list[str]) -> None:
        assert self._process is not None
        ended = asyncio.create_task(self._process.wait())
        pause = 0.02
        try:
            async with (
                asyncio.timeout(self._ready_seconds),
                httpx2.AsyncClient(trust_env=False, timeout=5.0) as client,
            ):
                while not await self._answers(client):
                    await asyncio.wait({ended}, timeout=pause)
                    self._check_alive(ended, argv)
                    pause = min(pause * 1.5, 1.0)
            # Another program might hold the port and answer while ours is failing to bind it.
            self._check_alive(ended, argv)
        except TimeoutError as error:
            raise UpstreamError(
                f"the model server {argv[0]!r} answered neither {self.base_url}/models nor /health with 200 "
                f"within {self._ready_seconds:g} s{self._said()}",
                hint=f"Make it listen on 127.0.0.1 and port {{port}}, and accept the key in {KEY_VARIABLE}.",
            ) from error
        finally:
            ended.cancel()

    def _check_alive(self, ended: asyncio.Task[int], argv: list[str]) -> None:
        if not ended.done():
            return
        raise UpstreamError(
            f"the model server {argv[0]!r} ended with status {ended.result()} before it was ready{self._said()}",
            hint="Run the command of [agent.model] serve by hand to see what it needs.",
        )

    async def _answers(self, client: httpx2.AsyncClient) -> bool:
        headers = {"authorization": f"Bearer {self.api_key}"}
        for url in (f"{self.base_url.removesuffix('/v1')}/health", f"{self.base_url}/models"):
            with contextlib.suppress(httpx2.HTTPError):
                if (await client.get(url, headers=headers)).status_code == 200:
                    return True
        return False

    def _said(self) -> str:
        assert self._output is not None
        # Without moving the offset, which the server's own writes share.
        number = self._output.fileno()
        tail = os.pread(number, _TAIL_BYTES, max(0, os.fstat(number).st_size - _TAIL_BYTES))
        text = tail.decode("utf-8", "backslashreplace").replace(self.api_key, "[key removed]").strip()
        return f"; it said:\n{text}" if text else "; it said nothing"

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _signal_group(process.pid, signal.SIGTERM)
            try:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _TERM_SECONDS)
            finally:
                # The group may outlive its leader.
                _signal_group(process.pid, signal.SIGKILL)
            await process.wait()
        if self._output is not None:
            self._output.close()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port
