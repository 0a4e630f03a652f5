"""What an agent's interpreter consists of, and so what a sandbox must mount and hide for it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_litmus.errors import LitmusConfigError

_TIMEOUT = 20.0
_SYSTEM = tuple(Path(p) for p in ("/usr", "/bin", "/sbin", "/lib", "/lib64"))
"""Mounted in every sandbox, so never mounted by us."""
_SYSTEM_SITES = (
    "/usr/lib/python3/dist-packages",
    "/usr/lib/python3*/dist-packages",
    "/usr/lib/python3*/site-packages",
    "/usr/lib64/python3*/site-packages",
    "/usr/local/lib/python3*/dist-packages",
    "/usr/local/lib/python3*/site-packages",
    "/usr/local/lib64/python3*/site-packages",
)

# Runs without site (-S), so that no .pth file or sitecustomize of the agent runs outside its sandbox.
_QUESTION = """
import json, os, platform, site, sys
libs = set()
try:
    with open("/proc/self/maps") as maps:
        libs = {line.split(None, 5)[5].strip() for line in maps if "/libpython" in line}
except OSError:
    pass
print(json.dumps({
    "executable": sys.executable,
    "base_executable": getattr(sys, "_base_executable", sys.executable),
    "base_prefix": sys.base_prefix,
    "version": platform.python_version(),
    "series": "%d.%d" % sys.version_info[:2],
    "implementation": sys.implementation.name,
    "stdlib": os.path.dirname(os.__file__),
    "sites": site.getsitepackages([sys.base_prefix]),
    "libraries": sorted(libs),
}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter as it lies on disk."""

    python: Path
    """What ``{python}`` stands for: an executable, no shim; inside ``venv`` if there is one."""
    binary: Path
    """The real file behind ``python``."""
    implementation: str
    version: str
    base_prefix: Path
    stdlib: Path
    venv: Path | None = None
    sites: tuple[Path, ...] = ()
    """Existing directories of installed distributions that the agent can import from."""
    libraries: tuple[Path, ...] = ()
    """Shared libraries that hold the interpreter proper."""
    mounts: tuple[Path, ...] = ()
    """Directories to mount read-only at their own path, besides the system's."""
    masked: tuple[Path, ...] = ()
    """Existing directories to hide: site-packages that are not the agent's."""


def inspect_interpreter(python: Path | None = None) -> Interpreter:
    """Ask an interpreter what it consists of.

    Args:
        python: An interpreter, one of a virtual environment, or a version manager's shim. ``None``: the base
            interpreter this process runs on, with every site-packages hidden.

    Raises:
        LitmusConfigError: It cannot be run, is no Python 3 or must not be mounted.
    """
    bare = python is None
    asked = _base_executable() if python is None else _located(python)
    said = _ask(asked)
    executable = Path(said["executable"])
    venv = _venv_of(executable)
    base_prefix = Path(said["base_prefix"])
    base_sites = _existing(said["sites"])
    sites = () if bare else _visible_sites(venv, said["series"], base_sites)
    mounts = _mounts(base_prefix, venv, executable)
    return Interpreter(
        python=executable,
        binary=executable.resolve(),
        implementation=said["implementation"],
        version=said["version"],
        base_prefix=base_prefix,
        stdlib=Path(said["stdlib"]),
        venv=venv,
        sites=sites,
        libraries=_existing(said["libraries"]),
        mounts=mounts,
        masked=_masked(base_sites, sites),
    )


def is_system(path: Path) -> bool:
    """Whether ``path`` lies in a directory that every sandbox has from the host's system."""
    return any(path.is_relative_to(system) for system in _SYSTEM)


def holds_home(path: Path) -> bool:
    """Whether ``path`` holds a person's files too, so that mounting it would show more than a program."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
    return home.is_relative_to(path) or path in (Path("/"), home / ".local")


def _base_executable() -> Path:
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()


def _located(python: Path) -> Path:
    if python.is_dir():
        raise _unusable(python, "is a directory", hint="name the executable, such as .venv/bin/python")
    found = shutil.which(python)
    if found is None:
        raise _unusable(python, "is not there or is not executable")
    return Path(os.path.abspath(found))  # noqa: PTH100 - resolving links would lose the virtual environment


def _ask(python: Path) -> dict[str, Any]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter the configuration names
            [python, "-I", "-S", "-c", _QUESTION],
            capture_output=True,
            check=False,
            cwd="/",
            env=env,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT,
        )
        said = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise _unusable(python, f"did not answer in {_TIMEOUT:.0f} s") from error
    except OSError as error:
        raise _unusable(python, f"cannot be run: {error.strerror or error}") from error
    except ValueError as error:
        tail = done.stderr.decode("utf-8", "backslashreplace").strip()[-300:]
        raise _unusable(python, f"did not answer as Python 3 does (exit {done.returncode}): {tail}") from error
    if not isinstance(said, dict) or not said.get("executable"):
        raise _unusable(python, "does not know its own executable")
    return said


def _unusable(python: Path, why: str, hint: str = "") -> LitmusConfigError:
    return LitmusConfigError(
        f"[agent] python: {python} {why}",
        hint=hint or "name a Python 3 interpreter, such as .venv/bin/python, or leave the key out",
        slug="interpreter",
    )


def _venv_of(executable: Path) -> Path | None:
    directory = executable.parent.parent
    return directory if (directory / "pyvenv.cfg").is_file() else None


def _visible_sites(venv: Path | None, series: str, base_sites: tuple[Path, ...]) -> tuple[Path, ...]:
    if venv is None:
        return base_sites
    own = _existing([str(venv / lib / f"python{series}" / "site-packages") for lib in ("lib", "lib64")])
    return own + (base_sites if _includes_system(venv) else ())


def _includes_system(venv: Path) -> bool:
    for line in (venv / "pyvenv.cfg").read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "include-system-site-packages":
            return value.strip().lower() == "true"
    return False


def _existing(paths: list[str]) -> tuple[Path, ...]:
    """Those that exist, each place once (``lib64`` is often a link to ``lib``)."""
    by_place = {os.path.realpath(path): Path(path) for path in reversed(paths) if os.path.exists(path)}  # noqa: PTH110 - text in, text out
    return tuple(reversed(by_place.values()))


def _mounts(base_prefix: Path, venv: Path | None, executable: Path) -> tuple[Path, ...]:
    wanted = [p for p in (base_prefix, venv) if p is not None and not is_system(p)]
    for path in wanted:
        if holds_home(path):
            raise _unusable(
                executable,
                f"belongs to {path}, which holds more than an interpreter and would be readable to the agent",
                hint="make a virtual environment from an interpreter that has a directory of its own",
            )
    inside = (*wanted, *_SYSTEM)
    for hop in _hops(executable):
        if not any(hop.is_relative_to(directory) for directory in inside):
            raise _unusable(
                executable,
                f"is reached over {hop}, which is outside {' and '.join(map(str, inside[: len(wanted)]))}",
                hint="make the virtual environment again from the interpreter's real path",
            )
    return tuple(sorted(set(wanted)))


def _hops(path: Path) -> list[Path]:
    """``path`` and each file that its chain of links leads over."""
    hops = [path]
    while hops[-1].is_symlink() and len(hops) < 40:  # the kernel's own limit
        hops.append(Path(os.path.normpath(hops[-1].parent / hops[-1].readlink())))
    return hops


def _masked(base_sites: tuple[Path, ...], visible: tuple[Path, ...]) -> tuple[Path, ...]:
    system = [str(path) for pattern in _SYSTEM_SITES for path in Path("/").glob(pattern[1:])]
    shown = {os.path.realpath(path) for path in visible}
    return tuple(p for p in _existing([*map(str, base_sites), *system]) if os.path.realpath(p) not in shown)
