"""Signals that a process has the kernel send in its stead: when something happens to a file that has an owner."""

import fcntl
import os
import signal
import struct

from agent_litmus.sandbox import linux
from agent_litmus.sandbox.inspect_process import inner_group, opened, status_field
from agent_litmus.sandbox.memory import read

SET_OWNER, SET_SIGNAL, SET_OWNER_EX = 8, 10, 15
"""Commands of ``fcntl``."""
OWNER_REQUESTS = (0x8901, 0x8902)
"""Requests of ``ioctl``: FIOSETOWN, SIOCSPGRP."""
_GET_SIGNAL, _GROUP = 11, 2


def told(pid: int, fd: int, command: int, argument: int, memory: int) -> tuple[int, int] | None:
    """Whom a change of a file's owner, or of its signal, has the kernel signal, and with what.

    Args:
        pid: The process that makes it.
        fd: Descriptor of the file in that process.
        command: One of ``fcntl``'s above, or of ``OWNER_REQUESTS``.
        argument: As it was given.
        memory: Memory of the process.

    Returns:
        Process as it is numbered inside (negative: a group) and signal; ``None``: nobody but itself.
    """
    with opened(os.pidfd_open(int(status_field(pid, "Tgid") or pid))) as process:
        file = linux.pidfd_getfd(process, fd)
    with opened(file):
        if command == SET_SIGNAL:
            target, number = _inside(fcntl.fcntl(file, fcntl.F_GETOWN)), argument
        else:
            target, number = _owner(command, argument, memory), fcntl.fcntl(file, _GET_SIGNAL)
    return None if target in {0, inner_group(pid)} else (target, number or int(signal.SIGIO))


def _owner(command: int, argument: int, memory: int) -> int:
    if command == SET_OWNER:
        return int(struct.unpack("i", struct.pack("I", argument & 0xFFFFFFFF))[0])
    if command == SET_OWNER_EX:
        kind, owner = struct.unpack("ii", read(memory, argument, 8))
        return -owner if kind == _GROUP else int(owner)
    (owner,) = struct.unpack("i", read(memory, argument, 4))
    return int(owner)


def _inside(owner: int) -> int:
    """An owner as it is numbered inside; 0 for none."""
    ids = status_field(abs(owner), "NSpid").split() if owner else []
    return int(ids[-1]) * (1 if owner > 0 else -1) if ids else 0
