"""A digested, copied and mounted build as the agent sees it in a real sandbox."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.manifest import compute_build
from agent_litmus.build.snapshot import SnapshotStore
from agent_litmus.errors import LitmusSandboxError
from agent_litmus.mounts import run_mounts
from agent_litmus.records.config import AgentConfig
from agent_litmus.sandbox.protocol import Launch, Provider, RunMounts, SandboxSpec
from agent_litmus.sandbox.select import choose_provider

pytestmark = pytest.mark.integration

_AGENT = """
import importlib.util, json, os, sys
names = ["tinydep", "mylib", "pydantic", "pip", "json"]
print(json.dumps({
    "found": [name for name in names if importlib.util.find_spec(name)],
    "agent": sorted(os.listdir(os.path.dirname(__file__))),
    "checkout": sorted(os.listdir(sys.argv[1])) if os.path.isdir(sys.argv[1]) else [],
}))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    root.mkdir()
    (root / "agent.py").write_text(_AGENT)
    (root / "mylib.py").write_text("V = 1\n")
    (root / ".env").write_text("API_KEY=very-secret\n")
    return root


def _venv(root: Path) -> Path:
    """An environment inside the root, with one package and the root itself installed editable."""
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    site = next((root / ".venv" / "lib").glob("python3*")) / "site-packages"
    (site / "tinydep.py").write_text("ANSWER = 42\n")
    (site / "_mylib.pth").write_text(f"{root}\n")
    return root / ".venv" / "bin" / "python"


def _seen(root: Path, python: Path | None, store: Path) -> dict[str, list[str]]:
    agent = AgentConfig(name="a", root=root, command=("{python}", "{agent}/agent.py"), python=python)
    interpreter = inspect_interpreter(python)
    snapshot = SnapshotStore(store).make(agent, compute_build(agent, interpreter), interpreter)
    output = anyio.run(_session, _provider(run_mounts(interpreter, snapshot)), str(root))
    seen: dict[str, list[str]] = json.loads(output)
    return seen


def _provider(mounts: RunMounts) -> Provider:
    try:
        return choose_provider("bubblewrap", mounts)
    except LitmusSandboxError as error:
        pytest.skip(f"bubblewrap does not work on this host: {error.message}")


async def _session(provider: Provider, checkout: str) -> bytes:
    session = await provider.open(SandboxSpec("s", {"a.txt": "x"}))
    paths = session.paths
    listeners = await session.start(Launch((paths.python, f"{paths.agent}/agent.py", checkout), {}))
    for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
        if sock is not None:
            sock.close()
    result = await session.wait()
    await session.close()
    await provider.close()
    assert result.exit.clean, result.stderr
    return result.stdout


def test_a_bare_interpreter_sees_the_agents_files_and_no_installed_package(root: Path, tmp_path: Path) -> None:
    seen = _seen(root, None, tmp_path / "store")
    assert seen == {"found": ["mylib", "json"], "agent": ["agent.py", "mylib.py"], "checkout": []}


def test_an_environment_shows_its_own_packages_and_never_the_harness_or_an_env_file(
    root: Path, tmp_path: Path
) -> None:
    seen = _seen(root, _venv(root), tmp_path / "store")
    assert seen["found"] == ["tinydep", "mylib", "json"]
    assert seen["agent"] == ["agent.py", "mylib.py"]
    assert seen["checkout"] == [".venv", "agent.py", "mylib.py"]
