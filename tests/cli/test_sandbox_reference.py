import subprocess
import sys
from pathlib import Path

from agent_litmus.records.effect import Channel

ROOT = Path(__file__).parents[2]


def test_the_page_about_the_sandbox_is_current() -> None:
    done = subprocess.run([sys.executable, "scripts/sandbox_reference.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run: python scripts/sandbox_reference.py"


def test_the_page_names_every_channel() -> None:
    page = (ROOT / "docs/reference/sandbox.md").read_text(encoding="utf-8")
    assert [channel for channel in Channel if f"| `{channel}` |" not in page] == []
