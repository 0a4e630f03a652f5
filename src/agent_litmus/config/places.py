"""From paths as written to absolute ones, and what of them is never part of the agent."""

import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from importlib.resources import files as resource_files
from pathlib import Path

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def absolute(base: Path, text: str) -> Path:
    """``text`` below ``base``, without ``..``; links are kept, for a virtual environment's python is one."""
    return Path(os.path.normpath(base / text))


def interpreter_path(base: Path, text: str) -> Path | None:
    """An interpreter: a name without a slash is looked up on PATH (``None`` if absent), else it is a path."""
    if "/" in text:
        return absolute(base, text)
    found = shutil.which(text)
    return Path(found) if found else None


def builtin_suites() -> dict[str, Path]:
    """Names of the suites that come with the program, and where they are."""
    directory = Path(str(resource_files("agent_litmus") / "suite" / "builtin"))
    found = sorted(directory.iterdir()) if directory.is_dir() else []
    return {
        p.stem: p for p in found if p.suffix in {".yaml", ".yml"} or (p.is_dir() and not p.name.startswith("_"))
    }


def expand(text: str, environment: Mapping[str, str]) -> str:
    """``text`` with each ``${NAME}`` replaced.

    Raises:
        ValueError: A variable is not set or empty; the message names it.
    """
    missing = sorted({name for name in _VARIABLE.findall(text) if not environment.get(name)})
    if missing:
        raise ValueError(f"the environment variable {', '.join(missing)} is not set; export it, or take it out")
    return _VARIABLE.sub(lambda match: environment[match[1]], text)


def never_the_agents(root: Path, source: Path, others: tuple[Path, ...]) -> tuple[str, ...]:
    """Exclude patterns for what lies below ``root`` and is the harness's: configurations, suite, results.

    An agent that could read its exam would not be measured; and a digest that covered the harness's configuration
    would change with a floor.
    """
    wanted = (*others, *(p for p in sorted(source.parent.glob("*.toml")) if p == source or _is_config(p)))
    return tuple(
        pattern
        for path in wanted
        if path != root and path.is_relative_to(root)
        for pattern in [_literal(root, path)]
    )


def _is_config(path: Path) -> bool:
    if not path.is_file():  # opening a pipe would wait for ever
        return False
    try:
        value = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    agent = value.get("agent")
    return isinstance(agent, dict) and not agent.keys().isdisjoint({"command", "url"}) and "suite" in value


def _literal(root: Path, path: Path) -> str:
    """A gitignore pattern that matches exactly this path."""
    return "/" + re.sub(r"([\\*?\[\]!# ])", r"\\\1", path.relative_to(root).as_posix())
