"""Every command that the tutorial shows is run, in order, on the files it shows."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def play(page: Path, folder: Path) -> int:
    """Write the page's files and run its commands; returns how many were run."""
    ran = 0
    for language, info, body in FENCE.findall(page.read_text(encoding="utf-8")):
        options = dict(part.partition("=")[::2] for part in info.split())
        if "file" in options:
            target = folder / options["file"]
            if "replace" in options:
                text = target.read_text()
                assert body in text, f"{page.name}: the lines to take out are not in {target.name}"
                target.write_text(text.replace(body, ""))
            elif "append" in options:
                target.write_text(target.read_text() + "\n" + body)
            else:
                target.write_text(body)
        elif language == "console":
            for line in body.splitlines():
                if line.startswith("$ "):
                    run(line[2:], int(options.get("exit", "0")), folder, page)
                    ran += 1
    return ran


def run(command: str, expected: int, folder: Path, page: Path) -> None:
    words = shlex.split(command)
    assert words[0] == "litmus", f"{page.name}: {command}"
    argv = [sys.executable, "-m", "agent_litmus", *words[1:]]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == expected, f"{page.name}: {command}\n{done.stdout}\n{done.stderr}"


def test_the_tutorial_does_what_it_says(tmp_path: Path, bubblewrap: Callable[[], None]) -> None:
    bubblewrap()
    assert play(DOCS / "tutorial/first-run.md", tmp_path) == 5


def test_the_suite_that_is_built_step_by_step_is_fit(tmp_path: Path, bubblewrap: Callable[[], None]) -> None:
    bubblewrap()
    assert play(DOCS / "how-to/write-a-suite.md", tmp_path) == 2
