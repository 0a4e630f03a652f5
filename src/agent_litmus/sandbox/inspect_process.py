"""Questions about a waiting process, answered from ``/proc`` of the harness. Evidence, not enforcement."""

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_litmus.sandbox import linux
from agent_litmus.sandbox.memory import Address, parse_address

_TCP_LISTEN = "0A"
_UNIX_LISTENING = 0x10000
_MULTIPATH_TCP = 262
"""A connection of it to a TCP listener is one of TCP."""


@contextlib.contextmanager
def opened(fd: int) -> Iterator[int]:
    """``fd``, closed afterwards."""
    try:
        yield fd
    finally:
        os.close(fd)


def status_field(pid: int, name: str) -> str:
    """One field of ``/proc/PID/status``; empty where it cannot be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes().decode(errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{name}:\s*(.*)$", status, re.MULTILINE)
    return found[1] if found else ""


def parent(pid: int) -> int | None:
    """The process that started ``pid`` (or adopted it); ``None`` where unknown."""
    try:
        with opened(os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)) as stat:
            return int(os.read(stat, 4096).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def own_address(pid: int, fd: int) -> Address | None:
    """The address that a socket of the process is bound to; ``None`` where there is none to be seen."""
    group = status_field(pid, "Tgid")
    try:
        with opened(os.pidfd_open(int(group or pid))) as pidfd:
            return _name_of(linux.pidfd_getfd(pidfd, fd))
    except (OSError, ValueError):
        return None


def _name_of(fd: int) -> Address | None:
    with socket.socket(fileno=fd) as sock:
        name = sock.getsockname()
        family = sock.family
    if family in {socket.AF_INET, socket.AF_INET6}:
        return Address("inet" if family == socket.AF_INET else "inet6", str(name[0]), int(name[1]))
    if family != socket.AF_UNIX:
        return None
    data = name if isinstance(name, bytes) else os.fsencode(name)
    return parse_address(socket.AF_UNIX.to_bytes(2, "little") + data)


def inner_group(pid: int) -> int:
    """The thread group id as the process itself sees it; 0 where unknown."""
    ids = status_field(pid, "NStgid").split()
    return int(ids[-1]) if ids else 0


def namespace_of(pid: int, kind: str) -> str:
    """Name of a namespace of ``pid`` (0: of the harness), such as ``pid:[4026532]``; empty where unknown."""
    try:
        return os.readlink(f"/proc/{pid or 'self'}/ns/{kind}")  # noqa: PTH115  the text, not a path
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class SocketKind:
    """What a socket is; ``None`` where that cannot be seen."""

    type: int | None = None
    protocol: int | None = None

    @property
    def readable(self) -> bool:
        """Whether it speaks a protocol that the harness answers: others need a listener of their own kind."""
        return self.protocol in {None, 0, socket.IPPROTO_TCP, socket.IPPROTO_UDP, _MULTIPATH_TCP}


def socket_kind(pid: int, fd: int) -> SocketKind:
    """What the socket behind a descriptor of the process is."""
    group = status_field(pid, "Tgid")
    try:
        pidfd = os.pidfd_open(int(group or pid))
        with opened(pidfd), socket.socket(fileno=linux.pidfd_getfd(pidfd, fd)) as sock:
            return SocketKind(sock.type, sock.proto)
    except (OSError, ValueError):
        return SocketKind()


def is_listening(pid: int, address: Address) -> bool:
    """Whether something in the process's network listens on ``address`` (any address is local there)."""
    if address.family == "unix":
        return _listening_unix(pid, address.address)
    want = f":{address.port:04X}"
    for line in _table(pid, "tcp") + _table(pid, "tcp6"):
        words = line.split()
        if len(words) > 3 and words[3] == _TCP_LISTEN and words[1].endswith(want):
            return True
    return False


def _listening_unix(pid: int, path: str) -> bool:
    for line in _table(pid, "unix"):
        words = line.split(maxsplit=7)
        if len(words) == 8 and words[7] == path and int(words[3], 16) & _UNIX_LISTENING:
            return True
    return False


def _table(pid: int, name: str) -> list[str]:
    try:
        data = Path(f"/proc/{pid}/net/{name}").read_bytes()
    except OSError:
        return []
    return data.decode("utf-8", "backslashreplace").splitlines()[1:]


def exists_inside(first: int, target: int) -> bool:
    """Whether the sandbox of process 1 ``first`` (outside number) has a process ``target`` (inside number)."""
    return os.path.isdir("/".join(("/proc", str(first), "root", "proc", str(target))))  # noqa: PTH112  one call, no path object


def pidfd_target(pid: int, pidfd: int) -> int:
    """Innermost process id behind a pidfd of the process; -1 where unknown."""
    try:
        info = Path(f"/proc/{pid}/fdinfo/{pidfd}").read_text()
    except OSError:
        return -1
    found = re.search(r"^NSpid:\s*(.*)$", info, re.MULTILINE)
    return int(found[1].split()[-1]) if found and found[1].split() else -1
