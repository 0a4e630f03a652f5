"""The command line in a process of its own, on a small project with a scripted agent."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.errors import LitmusError
from agent_litmus.mounts import run_mounts
from agent_litmus.sandbox.select import choose_provider

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Done:
    """A finished ``litmus`` process."""

    code: int
    stdout: str
    stderr: str

    @property
    def last(self) -> str:
        return self.stdout.rstrip().splitlines()[-1]

    @property
    def report(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.stdout)
        return document

    def cells(self) -> dict[str, int]:
        cells: dict[str, int] = self.report["counts"]["cells"]
        return {cell: count for cell, count in cells.items() if count}


class Project:
    """A copy of the small project in a directory of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def behave(self, name: str) -> None:
        """Give the agent a character (part of its build, as a prompt would be)."""
        self.edit("litmus.toml", 'include = ["*.py"]', f'include = ["*.py"]\nenv = {{BEHAVIOUR = "{name}"}}')

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "agent_litmus", *arguments]

    def litmus(self, *arguments: str, env: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            self.argv(*arguments), cwd=self.root, capture_output=True, check=False, env=os.environ | (env or {})
        )
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        assert "Traceback" not in err, err
        return Done(done.returncode, out, err)

    def runs(self) -> list[Path]:
        return sorted(path.parent for path in (self.root / "runs").glob("*/journal.jsonl"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "a project"
    shutil.copytree(HERE / "project", root, ignore=shutil.ignore_patterns("__pycache__", "runs"))
    return Project(root)


@pytest.fixture(scope="session")
def bubblewrap(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], None]:
    """Skips, with the reason, where bubblewrap cannot work."""
    mounts = run_mounts(inspect_interpreter(None), Snapshot(tmp_path_factory.mktemp("snapshot"), "", {}))
    try:
        asyncio.run(choose_provider("bubblewrap", mounts).close())
    except LitmusError as error:
        why = error.message

        def skip() -> None:
            pytest.skip(why)

        return skip
    return lambda: None
