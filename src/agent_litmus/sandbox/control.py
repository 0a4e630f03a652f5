"""Control groups: a limit on the memory of all of a session's processes together, where the host lets us set one.

Version 2 is used where the group above the harness's own is writable and hands its memory controller on (root, or a
user's own service manager); version 1 where the harness's own memory group is writable. Elsewhere there is none.
"""

import contextlib
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError

_PREFIX = "agent-litmus-"
_ROOT = Path("/sys/fs/cgroup")
_LIMITS = {2: ("memory.max", "memory.swap.max"), 1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")}
_EVENTS = {2: "memory.events", 1: "memory.oom_control"}


@dataclass(frozen=True, slots=True)
class Parent:
    """A control group that children with a memory limit can be made in."""

    version: int
    directory: Path


def find_parent(membership: str, root: Path = _ROOT) -> Parent | None:
    """Where groups can be made; ``None``: nowhere.

    Args:
        membership: Content of ``/proc/self/cgroup``.
        root: Where control groups are mounted.
    """
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" and (found := _unified(root, path)):
            return found
        if "memory" in controllers.split(","):
            directory = root / controllers / path.lstrip("/")
            if os.access(directory, os.W_OK) and (directory / _LIMITS[1][0]).exists():
                return Parent(1, directory)
    return None


def _unified(root: Path, path: str) -> Parent | None:
    if path in {"", "/"}:
        return None
    directory = (root / path.lstrip("/")).parent
    try:
        hands_on = "memory" in (directory / "cgroup.subtree_control").read_text().split()
    except OSError:
        return None
    return Parent(2, directory) if hands_on and os.access(directory / "cgroup.procs", os.W_OK) else None


@dataclass(slots=True)
class Group:
    """One control group, used for one session after the other."""

    version: int
    directory: Path
    _seen: int = 0
    _limit: int = 0

    def limit(self, memory_bytes: int) -> None:
        """Set the limit for what comes; raises ``OSError``."""
        if memory_bytes != self._limit:
            self._write(memory_bytes)
            self._limit = memory_bytes
        self._seen = self._kills()

    def _write(self, memory_bytes: int) -> None:
        names = _LIMITS[self.version]
        with contextlib.suppress(OSError):  # the sum's limit can never be below memory's: raise it first
            (self.directory / names[1]).write_text("0" if self.version == 2 else "-1")
        (self.directory / names[0]).write_text(str(memory_bytes))
        if self.version == 1:
            with contextlib.suppress(OSError):  # a kernel that does not count swap
                (self.directory / names[1]).write_text(str(memory_bytes))

    def add(self, pid: int) -> None:
        """Put a process and its future children in; raises ``OSError``. The kernel takes milliseconds for it."""
        (self.directory / "cgroup.procs").write_text(str(pid))

    def killed(self) -> bool:
        """Whether the kernel killed a process for want of memory since the limit was set."""
        return self._kills() > self._seen

    def _kills(self) -> int:
        with contextlib.suppress(OSError):
            found = re.search(
                r"^oom_kill (\d+)$", (self.directory / _EVENTS[self.version]).read_text(), re.MULTILINE
            )
            return int(found[1]) if found else 0
        return 0


def limit_memory(group: Group, memory_bytes: int) -> None:
    """Set a group's limit.

    Raises:
        LitmusSandboxError: The kernel refuses it.
    """
    try:
        group.limit(memory_bytes)
    except OSError as error:
        raise LitmusSandboxError(
            f"the session's memory could not be limited to {memory_bytes} bytes: {error}",
            hint="give sessions more memory (`[run] memory_mb`); let nobody else remove this run's control groups",
        ) from error


def remove_abandoned(directory: Path) -> None:
    """Remove the groups whose run is gone; one that still holds processes cannot be removed and stays."""
    for group in directory.glob(f"{_PREFIX}*-*-*"):
        pid = group.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


@dataclass(slots=True)
class Groups:
    """A run's groups, one per slot; ``why`` says why there are none."""

    name: str
    parent: Parent | None = None
    why: str = ""
    _made: dict[int, Group] = field(default_factory=dict)

    @classmethod
    def of_this_run(cls) -> "Groups":
        """This run's groups, tried out once; those that killed runs left are removed."""
        try:
            parent = find_parent(Path("/proc/self/cgroup").read_text())
        except (OSError, ValueError):
            parent = None
        name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        groups = cls(name, parent, "" if parent else "no control group of this host is handed to this user")
        if parent is not None:
            remove_abandoned(parent.directory)
            try:
                groups.slot(0).limit(1 << 30)
            except OSError as error:
                groups.close()
                groups.parent, groups.why = None, f"control groups cannot be made: {error}"
        return groups

    def slot(self, number: int) -> Group:
        """The group of a slot; raises ``OSError``."""
        if self.parent is None:
            raise OSError(self.why)
        if number not in self._made:
            directory = self.parent.directory / f"{self.name}-{number}"
            directory.mkdir()
            self._made[number] = Group(self.parent.version, directory)
        return self._made[number]

    def close(self) -> None:
        """Remove them; their processes must be gone."""
        while self._made:
            with contextlib.suppress(OSError):
                self._made.popitem()[1].directory.rmdir()
