"""The command as a process: what an interrupt before its first line of work makes of the exit code."""

import subprocess
import sys
from pathlib import Path

import pytest

IN_COMPILED_TEXT = """
from agent_litmus.cli import main
def interrupted(*_, **__):
    exec("raise KeyboardInterrupt")  # as the making of a dataclass in an import would
main.app = interrupted
main.main()
"""
WHILE_IMPORTING = """
import sys
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "agent_litmus.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
from agent_litmus.__main__ import main
main()
"""


@pytest.mark.integration
@pytest.mark.parametrize("code", [IN_COMPILED_TEXT, WHILE_IMPORTING], ids=["compiled-text", "importing"])
def test_an_interrupt_while_modules_are_imported_ends_with_130_and_a_word(tmp_path: Path, code: str) -> None:
    (tmp_path / "started.py").write_text(code)  # a module, as `python -m agent_litmus` is one
    done = subprocess.run(
        [sys.executable, "-m", "started"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done
    assert done.stderr == "litmus: INTERRUPTED  nothing was judged\n"
