"""Local model servers as child processes."""

import os
import select
import signal
import sys
from pathlib import Path

import httpx2
import pytest

from agent_litmus.records.config import ModelConfig
from agent_litmus.services.upstream import ManagedUpstream, UpstreamError

pytestmark = [pytest.mark.integration, pytest.mark.anyio]

SIMULATOR = ("{python}", "-m", "agent_litmus.testing.upstream", "--port", "{port}")


def python(code: str, *arguments: str) -> ModelConfig:
    return ModelConfig(id="m", serve=("{python}", "-c", code, *arguments))


def alive(pid: int) -> bool:
    """Whether a process runs; one that only awaits reaping does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def test_the_server_runs_while_the_context_lasts_and_not_longer() -> None:
    async with ManagedUpstream(ModelConfig(id="m", serve=SIMULATOR)) as upstream:
        async with httpx2.AsyncClient(trust_env=False) as client:
            response = await client.post(f"{upstream.base_url}/chat/completions", json={"model": "m"})
        assert response.json()["choices"][0]["message"]["content"] == "ok"
    async with httpx2.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"{upstream.base_url}/models")


SHOWS_KEY = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        good = self.headers["authorization"] == "Bearer " + os.environ["LITMUS_UPSTREAM_KEY"]
        self.send_response(200 if good and self.path == "/v1/models" else 403)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


async def test_the_server_is_told_a_random_key_and_may_ask_for_it() -> None:
    model = python(SHOWS_KEY, "{port}")
    async with ManagedUpstream(model) as one, ManagedUpstream(model) as two:
        assert len(one.api_key) >= 32
        assert one.api_key != two.api_key
        assert one.base_url != two.base_url


async def test_the_command_runs_in_the_given_directory(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SHOWS_KEY)
    model = ModelConfig(id="m", serve=("{python}", "server.py", "{port}"))
    async with ManagedUpstream(model, cwd=tmp_path) as upstream:
        assert upstream.base_url.endswith("/v1")


LEAVES_CHILD = (
    """
import os, signal, sys, time
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
open("child", "w").write(str(child))
"""
    + SHOWS_KEY
)


async def test_the_whole_process_group_is_killed(tmp_path: Path) -> None:
    async with ManagedUpstream(python(LEAVES_CHILD, "{port}"), cwd=tmp_path):
        child = int((tmp_path / "child").read_text())
        assert alive(child)
    # SIGKILL was sent before the context ended; how soon the kernel acts on it is the only thing left to wait for.
    _await_end(child)
    assert not alive(child)


def _await_end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([descriptor], [], [], 20)
    finally:
        os.close(descriptor)


async def test_a_server_that_dies_early_is_reported_with_what_it_said() -> None:
    code = "import os, sys; print('loading', os.environ['LITMUS_UPSTREAM_KEY']); sys.exit('no such model file')"
    upstream = ManagedUpstream(python(code))
    with pytest.raises(UpstreamError, match="ended with status 1") as caught:
        await upstream.__aenter__()
    assert "no such model file" in str(caught.value)
    assert upstream.api_key not in str(caught.value)
    assert caught.value.hint


async def test_a_server_that_never_answers_is_reported_and_killed(tmp_path: Path) -> None:
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(UpstreamError, match=r"within 0\.5 s") as caught:
        await ManagedUpstream(python(code), cwd=tmp_path, ready_seconds=0.5).__aenter__()
    assert "LITMUS_UPSTREAM_KEY" in caught.value.hint
    if (tmp_path / "pid").exists():
        assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("serve", [("no-such-command-here", "{port}"), ("/etc/passwd",), ()])
async def test_a_command_that_cannot_run_is_reported(serve: tuple[str, ...]) -> None:
    with pytest.raises(UpstreamError, match="not found or is not executable"):
        await ManagedUpstream(ModelConfig(id="m", serve=serve)).__aenter__()


async def test_a_directory_that_is_missing_is_reported(tmp_path: Path) -> None:
    model = ModelConfig(id="m", serve=(sys.executable, "-V"))
    with pytest.raises(UpstreamError, match="could not be started"):
        await ManagedUpstream(model, cwd=tmp_path / "absent").__aenter__()


async def test_a_server_that_dies_later_does_not_break_the_end() -> None:
    async with ManagedUpstream(ModelConfig(id="m", serve=SIMULATOR)) as upstream:
        assert upstream.pid is not None
        os.kill(upstream.pid, signal.SIGKILL)
    assert upstream.pid is None
