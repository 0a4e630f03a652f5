"""The system-call filter of a session, as a BPF program the stub installs.

Calls that carry evidence are handed to the witness before they run; calls no agent needs and that could blind the
witness or harm the host fail, noted by the witness where there is one. The filter contains nothing by itself:
namespaces do.
"""

import errno
import socket
import struct
from dataclasses import dataclass
from functools import cache

from agent_litmus.sandbox import owners

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _NOTIFY, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCH_AT, _ARG0_AT, _ARG1_AT, _ARG4_AT = 0, 4, 16, 24, 48
_X32 = 0x40000000

_WITNESSED = {  # name: (x86_64, aarch64)
    "execve": (59, 221),
    "execveat": (322, 281),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
_SENDTO = (44, 206)
_WITNESSED_IF = {  # by their second argument
    "fcntl": ((72, 25), (owners.SET_OWNER, owners.SET_SIGNAL, owners.SET_OWNER_EX)),
    "ioctl": ((16, 29), owners.OWNER_REQUESTS),
}
_SECCOMP = (317, 277)
_SOCKET = (41, 198)
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Kinds of sockets there are: others (to a hypervisor, to radio devices) may lead out of a network namespace."""
_REFUSED = {
    errno.ENOSYS: {
        "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
        "memfd_secret": (447, 447),  # arguments in such memory could not be read
    },
    errno.EPERM: {
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "pidfd_getfd": (438, 438),
        "kcmp": (312, 272),
        "settimeofday": (164, 170),
        "clock_settime": (227, 112),
        "clock_adjtime": (305, 266),
        "adjtimex": (159, 171),
        "keyctl": (250, 219),
        "add_key": (248, 217),
        "request_key": (249, 218),
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "userfaultfd": (323, 282),
        "mount": (165, 40),
        "umount2": (166, 39),
        "pivot_root": (155, 41),
        "open_tree": (428, 428),
        "move_mount": (429, 429),
        "fsopen": (430, 430),
        "fsconfig": (431, 431),
        "fsmount": (432, 432),
        "fspick": (433, 433),
        "mount_setattr": (442, 442),
        "open_tree_attr": (467, 467),
        "open_by_handle_at": (304, 265),
        "name_to_handle_at": (303, 264),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "delete_module": (176, 106),
        "kexec_load": (246, 104),
        "kexec_file_load": (320, 294),
        "reboot": (169, 142),
        "swapon": (167, 224),
        "swapoff": (168, 225),
        "acct": (163, 89),
        "quotactl": (179, 60),
        "syslog": (103, 116),
    },
}


@dataclass(frozen=True, slots=True)
class Machine:
    """One supported machine: its audit number and its column in the tables."""

    audit: int
    column: int
    has_x32: bool


MACHINES = {
    "x86_64": Machine(0xC000003E, 0, has_x32=True),
    "aarch64": Machine(0xC00000B7, 1, has_x32=False),
}


def seccomp_number(machine: str) -> int:
    """Number of the ``seccomp`` system call."""
    return _SECCOMP[MACHINES[machine].column]


def call_names(machine: str) -> dict[int, str]:
    """Numbers of the witnessed calls to their names."""
    column = MACHINES[machine].column
    conditional = {name: numbers for name, (numbers, _) in _WITNESSED_IF.items()}
    return {numbers[column]: name for name, numbers in (_WITNESSED | {"sendto": _SENDTO} | conditional).items()}


def refusals(machine: str) -> dict[int, tuple[str, int]]:
    """Numbers of the refused calls to their names and the errors they fail with."""
    column = MACHINES[machine].column
    return {numbers[column]: (name, error) for error, names in _REFUSED.items() for name, numbers in names.items()}


@cache
def program(machine: str, *, witnessed: bool) -> bytes:
    """The filter for ``machine``; without a witness the evidence calls are simply allowed.

    With one, the refused calls and those of a foreign ABI are handed to it too, and it is for it to refuse them:
    when it is gone, the kernel does.

    Raises:
        KeyError: ``machine`` is not supported.
    """
    known = MACHINES[machine]
    foreign, x32 = (_NOTIFY, _NOTIFY) if witnessed else (_KILL_PROCESS, _ERRNO | errno.ENOSYS)
    code = [(_LOAD, 0, 0, _ARCH_AT), (_IF_EQUAL, 1, 0, known.audit), (_RETURN, 0, 0, foreign)]
    code.append((_LOAD, 0, 0, _NUMBER_AT))
    if known.has_x32:
        code += [(_IF_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, x32)]
    for number, (_, error) in refusals(machine).items():
        code += [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOTIFY if witnessed else _ERRNO | error)]
    code += _sockets(known)
    if witnessed:
        code += _evidence(known)
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in code)


def _sockets(known: Machine) -> list[tuple[int, int, int, int]]:
    count = len(_FAMILIES)
    return [
        (_IF_EQUAL, 0, count + 3, _SOCKET[known.column]),
        (_LOAD, 0, 0, _ARG0_AT),
        *((_IF_EQUAL, count - index, 0, int(family)) for index, family in enumerate(_FAMILIES)),
        (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _evidence(known: Machine) -> list[tuple[int, int, int, int]]:
    code = []
    for numbers in _WITNESSED.values():
        code += [(_IF_EQUAL, 0, 1, numbers[known.column]), (_RETURN, 0, 0, _NOTIFY)]
    for numbers, values in _WITNESSED_IF.values():
        count = len(values)
        code += [(_IF_EQUAL, 0, count + 3, numbers[known.column]), (_LOAD, 0, 0, _ARG1_AT)]
        code += [(_IF_EQUAL, count - index, 0, value) for index, value in enumerate(values)]
        code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]
    # sendto only where it names an address: either half of the pointer is not zero
    code += [
        (_IF_EQUAL, 0, 5, _SENDTO[known.column]),
        (_LOAD, 0, 0, _ARG4_AT),
        (_IF_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, _ARG4_AT + 4),
        (_IF_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _NOTIFY),
    ]
    return code
