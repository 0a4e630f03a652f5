"""A small agent on disk, and real virtual environments with a tiny distribution."""

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from agent_litmus.records.config import AgentConfig, ModelConfig


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def agent_at(root: Path) -> None:
    write(
        root,
        {
            "agent.py": "import helper\n",
            "helper.py": "LIMIT = 3\n",
            "prompts/system.md": "You are a help desk.\n",
            "tools/send.json": '{"description": "send a mail"}\n',
            ".env": "API_KEY=very-secret\n",
            "sub/.env.local": "X=1\n",
        },
    )


def config_of(root: Path, python: Path | None = None) -> AgentConfig:
    return AgentConfig(
        name="desk",
        root=root,
        command=("{python}", "{agent}/agent.py"),
        python=python,
        system_prompts=("prompts/system.md",),
        model=ModelConfig(id="small-2024-01-01", revision="r1", sampling={"temperature": 0.3}),
    )


@pytest.fixture
def agent(tmp_path: Path) -> AgentConfig:
    root = tmp_path / "desk"
    agent_at(root)
    return config_of(root)


def make_venv(place: Path, *options: str) -> Path:
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", *options, place], check=True, capture_output=True)
    return place / "bin" / "python"


def site_of(python: Path) -> Path:
    return next((python.parent.parent / "lib").glob("python3*")) / "site-packages"


def install(python: Path, name: str = "tinydep", version: str = "1.0", record: bool = True) -> Path:
    """What an installer leaves of a pure wheel: the package, a script with a shebang, dist-info."""
    site, prefix = site_of(python), python.parent.parent
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": "ANSWER = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\n",
        f"{info}/INSTALLER": "hand\n",
        f"../../../bin/{name}": f"#!{prefix}/bin/python\nprint('hi')\n",
    }
    write(site, files)
    if record:
        lines = [f"{path},{_record_hash(text)},{len(text)}" for path, text in files.items()]
        write(site, {f"{info}/RECORD": "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"})
    return site


def _record_hash(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
