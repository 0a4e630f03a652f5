"""The arguments bubblewrap gets: what a session can see, and where."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from agent_litmus.sandbox.protocol import Mount

WORKSPACE, AGENT, HOME = "/workspace", "/agent", "/home/agent"
RUN, ANSWER_DIRECTORY = "/run/litmus", "/run/litmus-answer"
STUB_DIRECTORY = "/run/litmus-stub"
DISK, LOWER = "/run/litmus-disk", "/run/litmus-lower"
AUTHORITY = "ca.pem"
UID = 1000
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem")
_TOP = ("bin", "lib", "lib64", "lib32", "libx32", "sbin")
_ETC_DIRECTORIES = ("ld.so.conf.d", "ssl", "pki", "ca-certificates", "crypto-policies", "alternatives")
_ETC_FILES = ("ld.so.cache", "ld.so.conf", "localtime", "mime.types", "protocols", "services")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_MADE_ETC = {
    "passwd": f"root:x:0:0:root:/root:/bin/sh\nagent:x:{UID}:{UID}:agent:{HOME}:/bin/sh\n",
    "group": f"root:x:0:\nagent:x:{UID}:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    "host.conf": "multi on\n",
}


class Workspace(Enum):
    """Where the workspace comes from and its changes go."""

    MEMORY = "memory"
    """The template; changes go to memory of a limited size that the stub mounts."""
    FINAL = "final"
    """The session's ``final`` directory; changes go to such memory and are lost."""
    DISK = "disk"
    """The template; changes go to the session's ``upper`` directory, whose size nothing limits."""
    DISK_FINAL = "disk-final"
    """The template and ``upper``; changes go to memory and are lost."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Host paths of one session, as bubblewrap's starter sees them."""

    etc: str
    stub: str
    """The directory of the stub."""
    empty: str
    snapshot: str
    mounts: Sequence[Mount]
    masked: Sequence[str]
    session: str
    """Holds ``lower``, ``upper``, ``work``, ``run`` and ``answer``."""


def write_etc(directory: Path) -> None:
    """Make the sandbox's ``/etc``: few of the host's files, none that says who uses it; every mount costs time."""
    for name in _ETC_FILES:
        with contextlib.suppress(OSError):
            _write(directory / name, Path("/etc", name).read_bytes())
    for name, content in _MADE_ETC.items():
        _write(directory / name, content.encode())
    for name in _ETC_DIRECTORIES:
        if Path("/etc", name).is_dir():
            (directory / name).mkdir()
            (directory / name).chmod(0o755)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o644)


def arguments(layout: Layout, memory_bytes: int, workspace: Workspace, *, trust: bool = False) -> list[str]:
    """The options of bubblewrap, without the command.

    Args:
        layout: Where everything lies.
        memory_bytes: Size of ``/tmp`` and of the home directory.
        workspace: Where changes of the workspace go.
        trust: Whether the session's ``run`` directory holds an authority, to take the place of the system's.
    """
    return [
        *_identity(),
        *_system(),
        *_etc(layout.etc),
        *_devices(),
        *("--proc", "/proc"),
        *_memory("/tmp", memory_bytes),  # noqa: S108  the sandbox's own
        *_memory(HOME, memory_bytes, "0755"),
        *("--ro-bind", layout.stub, STUB_DIRECTORY),
        *_exposed(layout),
        *("--ro-bind", f"{layout.session}/run", RUN),
        *(_trusted(f"{layout.session}/run/{AUTHORITY}") if trust else ()),
        *_workspace(layout.session, workspace),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", WORKSPACE),
    ]


def _identity() -> list[str]:
    rights = ("--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_NET_BIND_SERVICE")
    user = ("--uid", str(UID), "--gid", str(UID), "--hostname", "sandbox")
    return ["--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1", "--clearenv", *user, *rights]


def _system() -> list[str]:
    found = ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            found += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            found += ["--ro-bind", str(path), str(path)]
    return found


def _etc(made: str) -> list[str]:
    found = ["--ro-bind", made, "/etc"]
    for name in _ETC_DIRECTORIES:
        if Path("/etc", name).is_dir():
            found += ["--ro-bind", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
    return found


def _devices() -> list[str]:
    """Devices one by one: ``--dev`` would make a second user namespace and lose the stub's network rights."""
    found = ["--perms", "0755", "--tmpfs", "/dev"]
    for name in _DEVICES:
        found += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        found += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    return [*found, "--symlink", "/proc/self/fd", "/dev/fd", *_memory("/dev/shm", 64 << 20)]  # noqa: S108  as above


def _memory(target: str, size: int, mode: str = "1777") -> list[str]:
    return ["--size", str(size), "--perms", mode, "--tmpfs", target]


def _exposed(layout: Layout) -> list[str]:
    found = []
    for mount in layout.mounts:
        found += ["--ro-bind", str(mount.source), mount.target]
    for directory in layout.masked:
        found += ["--ro-bind", layout.empty, directory]
    return [*found, "--ro-bind", layout.snapshot, AGENT]


def _trusted(authority: str) -> list[str]:
    """Put ``authority`` where programs look that read no variable: there is nothing real here to be trusted."""
    found = [Path(name) for name in _BUNDLES]
    return [
        word
        for path in found
        if path.is_file() and path.resolve() == path
        for word in ("--ro-bind", authority, str(path))
    ]


def _workspace(session: str, workspace: Workspace) -> list[str]:
    if workspace is Workspace.MEMORY or workspace is Workspace.FINAL:
        lower = f"{session}/{'lower' if workspace is Workspace.MEMORY else 'final'}"
        places = (word for place in (WORKSPACE, DISK, ANSWER_DIRECTORY) for word in ("--dir", place))
        # An overlay acts with the rights of who mounted it; the stub gives them up before the agent begins.
        return ["--cap-add", "ALL", *places, "--ro-bind", lower, LOWER]
    answer = ["--bind", f"{session}/answer", ANSWER_DIRECTORY, "--overlay-src", f"{session}/lower"]
    if workspace is Workspace.DISK:
        return [*answer, "--overlay", f"{session}/upper", f"{session}/work", WORKSPACE]
    return [*answer, "--overlay-src", f"{session}/upper", "--tmp-overlay", WORKSPACE]
