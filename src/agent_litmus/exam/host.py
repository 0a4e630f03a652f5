"""The host before and after the exam."""

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_SYSCTLS = ("kernel/core_pattern", "kernel/hostname", "kernel/randomize_va_space", "net/ipv4/ip_forward")
_FILES = ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/hosts", "/etc/resolv.conf")


@dataclass(frozen=True, slots=True)
class Host:
    """What must be as it was."""

    facts: Mapping[str, str]
    children: frozenset[int]
    descriptors: int


def look_at_host() -> Host:
    """The host as it is now."""
    return Host(dict(_facts()), frozenset(_children()), len(os.listdir("/proc/self/fd")))  # noqa: PTH208


def changes(before: Host, after: Host) -> list[str]:
    """What is not as it was."""
    found = [name for name, value in before.facts.items() if after.facts.get(name) != value]
    left = len(after.children - before.children)
    more = after.descriptors - before.descriptors
    return found + [f"{left} child processes"] * (left > 0) + [f"{more} open descriptors"] * (more > 0)


def _facts() -> Iterator[tuple[str, str]]:
    yield "mounts", Path("/proc/self/mountinfo").read_text()
    yield "the root directory", repr(sorted(os.listdir("/")))  # noqa: PTH208
    yield "the working directory", str(Path.cwd())
    for name in _SYSCTLS:
        yield f"/proc/sys/{name}", _content(Path("/proc/sys", name))
    for name in _FILES:
        yield name, _content(Path(name))
    for place in ("/", "/etc", "/usr", "/usr/bin", "/dev", tempfile.gettempdir()):
        status = Path(place).stat()
        yield f"the rights of {place}", f"{status.st_mode:o} {status.st_uid} {status.st_gid}"


def _content(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.errno}"


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").iterdir():
        try:
            yield from map(int, (task / "children").read_text().split())
        except OSError:
            continue
