"""The filter, run by a small interpreter of the BPF subset it uses."""

import errno
import struct

import pytest

from agent_litmus.sandbox import seccomp

ALLOW, NOTIFY, ERRNO, KILL = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
MACHINES = ("x86_64", "aarch64")


def decide(program: bytes, audit: int, number: int, args: tuple[int, ...] = ()) -> int:
    data = struct.pack("IIQ6Q", number, audit, 0, *(args + (0,) * (6 - len(args))))
    code = list(struct.iter_unpack("HBBI", program))
    accumulator = at = 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("I", data, value)
        elif operation == 0x15:
            at += yes if accumulator == value else no
        elif operation == 0x35:
            at += yes if accumulator >= value else no
        else:
            assert operation == 0x06
            return int(value)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("witnessed", "decision"), [(True, NOTIFY), (False, KILL)])
def test_a_foreign_abi_is_left_to_the_witness_or_killed(machine: str, witnessed: bool, decision: int) -> None:
    assert decide(seccomp.program(machine, witnessed=witnessed), 0x40000003, 11) == decision


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_are_allowed(machine: str) -> None:
    known = seccomp.MACHINES[machine]
    program = seccomp.program(machine, witnessed=True)
    for numbers in ((0, 63), (1, 64), (257, 56), (60, 93), (272, 97)):  # read, write, openat, exit, unshare
        assert decide(program, known.audit, numbers[known.column]) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_evidence_calls_go_to_the_witness_or_are_allowed_without_one(machine: str) -> None:
    audit = seccomp.MACHINES[machine].audit
    conditional = {"sendto", "fcntl", "ioctl"}
    names = {number: name for number, name in seccomp.call_names(machine).items() if name not in conditional}
    assert {"execve", "execveat", "connect", "sendmsg", "kill", "pidfd_send_signal"} <= set(names.values())
    for number in names:
        assert decide(seccomp.program(machine, witnessed=True), audit, number) == NOTIFY
        assert decide(seccomp.program(machine, witnessed=False), audit, number) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "command", "decision"),
    [
        ("fcntl", 8, NOTIFY),
        ("fcntl", 10, NOTIFY),
        ("fcntl", 15, NOTIFY),
        ("fcntl", 3, ALLOW),
        ("ioctl", 0x8901, NOTIFY),
        ("ioctl", 0x8902, NOTIFY),
        ("ioctl", 0x5401, ALLOW),
    ],
)
def test_giving_a_file_an_owner_is_evidence(machine: str, name: str, command: int, decision: int) -> None:
    number = next(n for n, known in seccomp.call_names(machine).items() if known == name)
    audit = seccomp.MACHINES[machine].audit
    assert decide(seccomp.program(machine, witnessed=True), audit, number, (3, command, 7)) == decision
    assert decide(seccomp.program(machine, witnessed=False), audit, number, (3, command, 7)) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("address", "decision"), [(0, ALLOW), (1, NOTIFY), (1 << 32, NOTIFY), (0x7FFF_0000_0010, NOTIFY)]
)
def test_sendto_is_evidence_only_with_an_address(machine: str, address: int, decision: int) -> None:
    number = next(n for n, name in seccomp.call_names(machine).items() if name == "sendto")
    program = seccomp.program(machine, witnessed=True)
    assert decide(program, seccomp.MACHINES[machine].audit, number, (3, 1, 1, 0, address, 16)) == decision


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("witnessed", [True, False])
@pytest.mark.parametrize(
    ("family", "allowed"), [(1, True), (2, True), (10, True), (16, True), (17, False), (38, False), (40, False)]
)
def test_sockets_that_may_lead_out_of_the_network_namespace_do_not_exist(
    machine: str, witnessed: bool, family: int, allowed: bool
) -> None:
    known = seccomp.MACHINES[machine]
    number = (41, 198)[known.column]
    decision = decide(seccomp.program(machine, witnessed=witnessed), known.audit, number, (family | 1 << 32, 1))
    assert decision == (ALLOW if allowed else ERRNO | errno.EAFNOSUPPORT)


@pytest.mark.parametrize(
    ("machine", "ptrace", "mount", "keyctl"), [("x86_64", 101, 165, 250), ("aarch64", 117, 40, 219)]
)
def test_harmful_calls_fail_or_are_left_to_the_witness(machine: str, ptrace: int, mount: int, keyctl: int) -> None:
    audit = seccomp.MACHINES[machine].audit
    blind, witnessed = (seccomp.program(machine, witnessed=seen) for seen in (False, True))
    for number, error in {ptrace: 1, mount: 1, keyctl: 1, 425: 38, 426: 38, 427: 38, 447: 38}.items():
        assert decide(blind, audit, number) == ERRNO | error
        assert decide(witnessed, audit, number) == NOTIFY
        assert seccomp.refusals(machine)[number][1] == error


def test_no_call_is_both_evidence_and_refused() -> None:
    for machine in MACHINES:
        assert not seccomp.call_names(machine).keys() & seccomp.refusals(machine).keys()


@pytest.mark.parametrize(("witnessed", "decision"), [(True, NOTIFY), (False, ERRNO | errno.ENOSYS)])
def test_x32_calls_do_not_exist(witnessed: bool, decision: int) -> None:
    program = seccomp.program("x86_64", witnessed=witnessed)
    assert decide(program, 0xC000003E, 0x40000000 | 59) == decision


def test_an_unknown_machine_is_an_error() -> None:
    with pytest.raises(KeyError):
        seccomp.program("riscv64", witnessed=True)
