"""The few Linux calls Python does not offer, over ctypes. Every function raises ``OSError``."""

import contextlib
import ctypes
import fcntl
import os
import platform
import signal
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 4096, 16384, 1 << 18, 2, 4
_PIDFD_GETFD, _OPENAT2 = 438, 437
_RESOLVE_IN_ROOT, _RESOLVE_NO_MAGICLINKS = 0x10, 0x02
_NOTIF_RECV, _NOTIF_SEND, _NOTIF_ID_VALID = 0xC0502100, 0xC0182101, 0x40082102
_CONTINUE = 1
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class _Identity:
    setresuid: int
    setresgid: int
    setgroups: int


_IDENTITY = {"x86_64": _Identity(117, 119, 116), "aarch64": _Identity(147, 149, 159)}


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def dying_with_parent() -> Callable[[], object]:
    """What a forked child calls to be killed when the thread that forked it ends; an ``exec`` keeps that."""
    prctl = _libc().prctl  # looked up here: the loader may be locked in a child
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def unshare(flags: int) -> None:
    """Leave the shared namespaces of ``flags``; affects the calling thread alone."""
    _checked(_libc().unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount; empty text stands for no argument."""
    words = [os.fsencode(word) if word else None for word in (source, target, kind)]
    data = options.encode() if options else None
    _checked(_libc().mount(*words, ctypes.c_ulong(flags), data), f"mount {source} on {target}")


@contextlib.contextmanager
def acting_as(uid: int) -> Iterator[None]:
    """Make the calling thread alone a user without rights; what it executes meanwhile cannot come back.

    The thread keeps root as its saved identity, which an ``exec`` gives up. The C library's own functions would
    change every thread, hence the bare system calls.
    """
    groups, own = os.getgroups(), (os.getresuid(), os.getresgid())
    numbers = _IDENTITY[platform.machine()]
    try:
        _set_groups(numbers, [])
        _checked(_libc().syscall(numbers.setresgid, uid, uid, own[1][2]), "setresgid")
        _checked(_libc().syscall(numbers.setresuid, uid, uid, own[0][2]), "setresuid")
        yield
    finally:
        _checked(_libc().syscall(numbers.setresuid, *own[0]), "setresuid")
        _checked(_libc().syscall(numbers.setresgid, *own[1]), "setresgid")
        _set_groups(numbers, groups)


def _set_groups(numbers: "_Identity", groups: list[int]) -> None:
    packed = struct.pack(f"{len(groups)}I", *groups)
    _checked(_libc().syscall(numbers.setgroups, len(groups), packed), "setgroups")


def pidfd_getfd(pidfd: int, fd: int) -> int:
    """A copy of another process's descriptor."""
    return _checked(_libc().syscall(_PIDFD_GETFD, pidfd, fd, 0), "pidfd_getfd")


def open_in_root(root: int, path: bytes) -> int:
    """An ``O_PATH`` descriptor of ``path``, symbolic links resolved as if ``root`` were ``/``."""
    how = struct.pack("QQQ", os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    return _checked(_libc().syscall(_OPENAT2, root, path, how, len(how)), "openat2")


@dataclass(frozen=True, slots=True)
class Notification:
    """A system call that waits for the witness."""

    id: int
    pid: int
    """Thread id in the harness's own pid namespace."""
    number: int
    args: tuple[int, ...]
    abi: int = 0
    """Audit number of the ABI it was made through."""


def receive(listener: int) -> Notification:
    """Take the next waiting call; ``FileNotFoundError``: its caller died meanwhile."""
    buffer = bytearray(80)
    fcntl.ioctl(listener, _NOTIF_RECV, buffer)
    identity, pid, _, number, abi, _, *args = struct.unpack("QIIiIQ6Q", buffer)
    return Notification(identity, pid, number, tuple(args), abi)


def is_waiting(listener: int, identity: int) -> bool:
    """Whether the caller still waits, so that its pid cannot have been given to another process."""
    try:
        fcntl.ioctl(listener, _NOTIF_ID_VALID, struct.pack("Q", identity))
    except OSError:
        return False
    return True


def let_run(listener: int, identity: int) -> None:
    """Let the call run as it would have; a caller that died meanwhile is no error."""
    _respond(listener, struct.pack("QqiI", identity, 0, 0, _CONTINUE))


def refuse(listener: int, identity: int, error: int) -> None:
    """Let the call fail with ``error`` without running; a caller that died meanwhile is no error."""
    _respond(listener, struct.pack("QqiI", identity, 0, -error, 0))


def _respond(listener: int, response: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        fcntl.ioctl(listener, _NOTIF_SEND, response)
