"""What the stub inside a sandbox is told, in the form it reads."""

import platform
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_litmus.sandbox import seccomp
from agent_litmus.sandbox.protocol import Limits

GATEWAY_PORT, TOOLS_PORT = 18080, 18081
STUB = Path(__file__).with_name("inner") / "stub.py"
MAX_ARGUMENT = 131_071
"""The kernel's limit of one argument or environment entry, its end mark aside."""


def stub_config(
    argv: Sequence[str], env: Mapping[str, str], limits: Limits, sinks: Sequence[int], *, witnessed: bool
) -> bytes:
    """The stub's configuration.

    Raises:
        ValueError: An argument or a variable holds a NUL byte or is longer than the kernel takes.
    """
    machine = platform.machine()
    entries = [f"{name}={value}" for name, value in env.items()]
    for text in (*argv, *entries):
        if "\0" in text or len(text.encode("utf-8", "surrogateescape")) > MAX_ARGUMENT:
            raise ValueError(f"argument or variable {text[:40]!r}… holds a NUL or is over {MAX_ARGUMENT} bytes")
    fields = [*_counted(argv), *_counted(entries), *_counted(_limits(limits)), *_counted([str(p) for p in sinks])]
    fields += [str(GATEWAY_PORT), str(TOOLS_PORT), str(seccomp.seccomp_number(machine))]
    fields.append(seccomp.program(machine, witnessed=True).hex() if witnessed else "")
    fields.append(seccomp.program(machine, witnessed=False).hex())
    return "\0".join(fields).encode("utf-8", "surrogateescape")


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
