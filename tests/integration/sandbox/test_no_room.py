"""Providers where no temporary file can be written."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

_PROGRAM = """
import asyncio, os, resource, sys
from pathlib import Path
from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.protocol import RunMounts, SandboxSpec

kind, when, snapshot, base = sys.argv[1:]
make = {"bubblewrap": BubblewrapProvider, "process": ProcessProvider}[kind]

def full():  # what a full disk does to every write, without filling one
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

async def main():
    if when == "at once":
        full()
    provider = make(RunMounts(Path(snapshot), Path(os.path.realpath(sys.executable))), base=Path(base))
    try:
        full()
        await provider.open(SandboxSpec("s", {"template": "text"}))
    finally:
        await provider.close()

try:
    asyncio.run(main())
except LitmusSandboxError as error:
    print(error.message, "|", error.hint)
"""


@pytest.mark.parametrize(
    ("kind", "when"), [("bubblewrap", "at once"), ("bubblewrap", "later"), ("process", "later")]
)
def test_a_full_disk_is_an_error_that_says_what_to_do_and_leaves_nothing(
    tmp_path: Path, namespaces: str, kind: str, when: str
) -> None:
    if kind == "bubblewrap" and namespaces:
        pytest.skip(f"bubblewrap does not work here: {namespaces}")
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "agent.py").write_text("pass\n")
    (tmp_path / "base").mkdir()
    words = [kind, when, str(tmp_path / "snapshot"), str(tmp_path / "base")]
    ran = subprocess.run([sys.executable, "-c", _PROGRAM, *words], capture_output=True, text=True, check=False)
    assert "space" in ran.stdout.split("|")[1], ran.stderr
    assert str(tmp_path / "base") in ran.stdout or "'template'" in ran.stdout
    assert [*(tmp_path / "base").iterdir()] == []
