"""An agent's directory, a suite, and a way to write the configuration beside them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_litmus.config import load_config
from agent_litmus.errors import LitmusConfigError

Writer = Callable[[str], Path]

MINIMAL = """\
[agent]
name = "desk"
root = "agent"
command = ["{python}", "{agent}/agent.py"]

[suite]
path = "suite.yaml"
"""


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "agent.py").write_text("print('hi')\n")
    (agent / "system.md").write_text("You are a help desk.\n")
    (tmp_path / "suite.yaml").write_text("{}\n")

    def write(text: str) -> Path:
        path = tmp_path / "litmus.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def problems(path: Path, **overrides: object) -> list[str]:
    """The lines of the error that loading raises, without the directory; empty if it loads."""
    try:
        load_config(path, {name.replace("__", "."): value for name, value in overrides.items()})
    except LitmusConfigError as error:
        return error.message.replace(f"{path.parent}/", "").splitlines()
    return []
