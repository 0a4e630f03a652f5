"""What the stub inside a sandbox is told, in the form it reads."""

import os
import platform
import py_compile
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_litmus.sandbox import seccomp
from agent_litmus.sandbox.protocol import Limits

GATEWAY_PORT, TOOLS_PORT = 18080, 18081
_STUB = Path(__file__).with_name("inner") / "stub.py"


def write_stub(directory: Path, python: Path) -> str:
    """Put the stub into ``directory``; its file name.

    It is compiled where ``python`` is the harness's own interpreter: compiling takes a tenth of a short session.
    """
    if os.path.realpath(python) != os.path.realpath(sys.executable):
        (directory / "stub.py").write_bytes(_STUB.read_bytes())
        (directory / "stub.py").chmod(0o644)
        return "stub.py"
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    target = str(directory / "stub.pyc")
    py_compile.compile(str(_STUB), target, "stub.py", doraise=True, optimize=2, invalidation_mode=unchecked)
    Path(target).chmod(0o644)
    return "stub.pyc"


@dataclass(frozen=True, slots=True)
class Inside:
    """What the stub lays out inside before the command starts."""

    layers: tuple[str, ...] = ()
    """Lower directories of the workspace, topmost first; none: it is mounted already."""
    home: Mapping[str, str] = field(default_factory=dict)
    """Files of the home directory: relative path to text."""
    canaries: tuple[str, ...] = ()
    """Absolute paths of files whose reading is told."""


INSIDE = Inside()


def stub_config(
    argv: Sequence[str],
    env: Mapping[str, str],
    limits: Limits,
    sinks: Sequence[int],
    *,
    witnessed: bool,
    inside: Inside = INSIDE,
) -> bytes:
    """The stub's configuration. A command that cannot even be written down is refused by the stub."""
    machine = platform.machine()
    entries = [f"{name}={value}" for name, value in env.items()]
    refusal = _refusal([*argv, *entries], argv)
    if refusal:
        argv, entries = (), []
    fields = [*_counted(argv), *_counted(entries), *_counted(_limits(limits)), *_counted([str(p) for p in sinks])]
    home = [word for name, content in inside.home.items() for word in (name, _bytes(content).hex())]
    fields += [*_counted(inside.layers), *_counted(inside.canaries), *_counted(home)]
    fields += [str(GATEWAY_PORT), str(TOOLS_PORT), str(seccomp.seccomp_number(machine))]
    fields += [str(limits.disk_bytes if inside.layers else 0), refusal]
    fields.append(seccomp.program(machine, witnessed=True).hex() if witnessed else "")
    fields.append(seccomp.program(machine, witnessed=False).hex())
    return _bytes("\0".join(fields))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _refusal(texts: Sequence[str], argv: Sequence[str]) -> str:
    if not argv:
        return "the command is empty"
    return "the command or its environment holds a NUL byte" if any("\0" in text for text in texts) else ""


def _counted(items: Sequence[str]) -> list[str]:
    return [str(len(items)), *items]


def _limits(limits: Limits) -> list[str]:
    values = {
        resource.RLIMIT_CPU: max(1, limits.cpu_seconds),
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    return [f"{name}={value}" for name, value in values.items()]
