"""The witness: a thread that sees system calls before they run, notes them and lets them run.

It only observes; what no agent may call at all it notes and refuses. A hostile process with several threads can
change its arguments between the note and the call, so notes are evidence; containment is the namespaces' work.
"""

import ctypes
import errno
import os
import select
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.sandbox import inspect_process, linux, owners, seccomp
from agent_litmus.sandbox.identify import Programs
from agent_litmus.sandbox.memory import (
    Address,
    parse_address,
    read,
    read_arguments,
    read_string,
    text,
)
from agent_litmus.sandbox.reach import Services, reach

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_EVENTS = 5000
"""Notes kept per channel; further ones are counted and make the channel ``partial``."""
_MAX_MESSAGES = 16
_AT_FDCWD = -100
_FAST_OPEN = 0x20000000
"""Flag of a send that also connects."""
_ONLY_ASKING = 0x10000
"""Flag of an execution that only asks whether it would be allowed."""
_NO_FAMILY = b"\0\0"
_CLOCKS = {"settimeofday", "clock_settime", "clock_adjtime", "adjtimex"}
_FOREIGN = "a foreign ABI", errno.ENOSYS
_CHANNELS = {
    "connect": Channel.CONNECT,
    "sendto": Channel.CONNECT,
    "sendmsg": Channel.CONNECT,
    "sendmmsg": Channel.CONNECT,
    "bind": Channel.LISTEN,
    "listen": Channel.LISTEN,
}


def _signed(value: int) -> int:
    return ctypes.c_int(value & 0xFFFFFFFF).value


class Witness:
    """Notes what one session executes, connects to and signals.

    Args:
        listener: Descriptor of the session's filter; owned and closed by the witness.
        first: Pid of the sandbox's process 1, as the harness sees it.
        machine: Whose call numbers they are.
        services: Ports the harness answers on.
        began: Monotonic time the session started at.
        limit: Notes kept per channel.
    """

    def __init__(
        self,
        listener: int,
        *,
        first: int,
        machine: str,
        services: Services,
        began: float,
        limit: int = MAX_EVENTS,
    ) -> None:
        self.effects: list[Effect] = []
        self.first_exec: tuple[str, int] | None = None
        """Pid namespace of the first witnessed exec, and the pid it has in there."""
        self._gaps: dict[Channel, dict[str, int]] = {}
        self._kept: dict[Channel, int] = {}
        self._listener, self._first, self._services = listener, first, services
        self._abi = seccomp.MACHINES[machine].audit
        self._names, self._refused = seccomp.call_names(machine), seccomp.refusals(machine)
        self._began, self._limit = began, limit
        self._programs = Programs()
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._serve, name="litmus-witness", daemon=True)
        self._calls: dict[str, Callable[[linux.Notification, int], None]] = {
            "execve": self._execve,
            "execveat": self._execveat,
            "connect": self._connect,
            "bind": self._bind,
            "listen": self._listen,
            "sendto": self._sendto,
            "sendmsg": self._sendmsg,
            "sendmmsg": self._sendmmsg,
            "kill": self._kill,
            "tkill": self._tkill,
            "tgkill": self._tgkill,
            "rt_sigqueueinfo": self._kill,
            "rt_tgsigqueueinfo": self._tgkill,
            "pidfd_send_signal": self._pidfd_send_signal,
            "fcntl": self._own,
            "ioctl": self._own,
        }

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End and wait for the thread; the session's processes must be gone."""
        if self._thread.is_alive():
            os.write(self._stop_write, b"s")
            self._thread.join()
        for fd in (self._listener, self._stop_read, self._stop_write):
            if fd >= 0:
                os.close(fd)
        self._listener = self._stop_read = self._stop_write = -1

    def gaps(self, channel: Channel) -> str:
        """What was missed on a channel, as text; empty if nothing."""
        return "; ".join(f"{count} {why}" for why, count in sorted(self._gaps.get(channel, {}).items()))

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._stop_read, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if ready.get(self._listener, 0) & select.POLLIN:
                self._answer()
            elif ready:  # every process of the filter is gone, or asked to stop
                return

    def _answer(self) -> None:
        try:
            call = linux.receive(self._listener)
        except OSError:  # its caller died meanwhile
            return
        name = self._names.get(call.number, "") if call.abi == self._abi else ""
        refused = None if name else self._refusal(call)
        try:
            memory = os.open(f"/proc/{call.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            with inspect_process.opened(memory):
                if linux.is_waiting(self._listener, call.id):
                    if refused is None:
                        self._calls[name](call, memory)
                    else:
                        self._note_refused(call, memory, refused[0])
        except Exception as error:  # noqa: BLE001  the agent must never hang on the witness
            channel = _channel(name) if refused is None else _refused_channel(refused[0])
            self._gap(channel, f"calls could not be read ({type(error).__name__})")
        finally:
            if refused is None:
                linux.let_run(self._listener, call.id)
            else:
                linux.refuse(self._listener, call.id, refused[1])

    def _refusal(self, call: linux.Notification) -> tuple[str, int]:
        return self._refused.get(call.number, _FOREIGN) if call.abi == self._abi else _FOREIGN

    def _note_refused(self, call: linux.Notification, memory: int, name: str) -> None:
        if name not in _CLOCKS:
            self._note(Channel.CALLS, "refused", done=False, pid=call.pid, call=name)
        elif not _asks_the_time(call, memory, name):
            self._note(Channel.CLOCK, "set", done=False, pid=call.pid, call=name)

    def _gap(self, channel: Channel, why: str) -> None:
        counts = self._gaps.setdefault(channel, {})
        counts[why] = counts.get(why, 0) + 1

    def _note(self, channel: Channel, action: str, *, done: bool, pid: int, **detail: Any) -> None:
        if self._kept.get(channel, 0) >= self._limit:
            self._gap(channel, f"acts beyond the first {self._limit} were dropped")
            return
        self._kept[channel] = self._kept.get(channel, 0) + 1
        outcome = Outcome.EXECUTED if done else Outcome.ATTEMPTED
        at = time.monotonic() - self._began
        self.effects.append(Effect(channel, action, outcome, detail, at, pid, inspect_process.parent(pid)))

    def _execve(self, call: linux.Notification, memory: int) -> None:
        self._exec(call, memory, call.args[0], call.args[1], None)

    def _execveat(self, call: linux.Notification, memory: int) -> None:
        at = _signed(call.args[0])
        if not call.args[4] & _ONLY_ASKING:
            self._exec(call, memory, call.args[1], call.args[2], None if at == _AT_FDCWD else at)

    def _exec(self, call: linux.Notification, memory: int, path_at: int, argv_at: int, at: int | None) -> None:
        if self.first_exec is None:
            self.first_exec = inspect_process.namespace_of(call.pid, "pid"), inspect_process.inner_group(call.pid)
        path = read_string(memory, path_at)
        argv, complete = read_arguments(memory, argv_at)
        if not complete:
            self._gap(Channel.EXEC, "argument lists were cut")
        unread = self._programs.unread
        done, detail = self._programs.identify(call.pid, path, at)
        if self._programs.unread > unread:
            self._gap(Channel.EXEC, "executed files could not be read, and may be copies of others")
        self._note(Channel.EXEC, "exec", done=done, pid=call.pid, path=text(path), argv=argv, **detail)

    def _connect(self, call: linux.Notification, memory: int) -> None:
        data = read(memory, call.args[1], min(call.args[2] & 0xFFFFFFFF, 128))
        if data[:2] != _NO_FAMILY:  # else it takes a connection back
            kind = inspect_process.socket_kind(call.pid, _signed(call.args[0]))
            self._reach(call.pid, data, kind, datagram=kind.type == socket.SOCK_DGRAM, sent=False)

    def _bind(self, call: linux.Notification, memory: int) -> None:
        address = parse_address(read(memory, call.args[1], min(call.args[2] & 0xFFFFFFFF, 128)))
        if address is not None and address.family in {"inet", "inet6", "unix"}:  # netlink only asks the kernel
            free = not address.port or not inspect_process.is_listening(call.pid, address)
            self._note_own("bind", call.pid, address, done=free)

    def _listen(self, call: linux.Notification, memory: int) -> None:  # noqa: ARG002  same shape as the others
        address = inspect_process.own_address(call.pid, _signed(call.args[0]))
        self._note_own("listen", call.pid, address or Address("", "", 0), done=address is not None)

    def _note_own(self, action: str, pid: int, address: Address, *, done: bool) -> None:
        known = {"family": address.family, "address": address.address, "port": address.port}
        self._note(Channel.LISTEN, action, done=done, pid=pid, **known)

    def _sendto(self, call: linux.Notification, memory: int) -> None:
        data = read(memory, call.args[4], min(call.args[5] & 0xFFFFFFFF, 128))
        self._send(call.pid, call.args[0], call.args[3], data)

    def _sendmsg(self, call: linux.Notification, memory: int) -> None:
        self._message(call, memory, call.args[1], call.args[2])

    def _sendmmsg(self, call: linux.Notification, memory: int) -> None:
        count = call.args[2] & 0xFFFFFFFF
        for index in range(min(count, _MAX_MESSAGES)):
            self._message(call, memory, call.args[1] + 64 * index, call.args[3])  # sizeof(struct mmsghdr)
        if count > _MAX_MESSAGES:
            self._gap(Channel.CONNECT, f"messages beyond the first {_MAX_MESSAGES} of one call were not read")

    def _message(self, call: linux.Notification, memory: int, at: int, flags: int) -> None:
        header = read(memory, at, 12)
        if len(header) < 12:
            return
        name, size = struct.unpack("QI", header)
        if name:
            self._send(call.pid, call.args[0], flags, read(memory, name, min(size, 128)))

    def _send(self, pid: int, fd: int, flags: int, data: bytes) -> None:
        """Note a send that names its destination; a stream's is used only where the send connects it."""
        kind = inspect_process.socket_kind(pid, _signed(fd))
        stream = kind.type in {socket.SOCK_STREAM, socket.SOCK_SEQPACKET}
        if data[:2] == _NO_FAMILY:  # which the kernel takes for IPv4 here
            data = struct.pack("H", socket.AF_INET) + data[2:]
        if not stream or flags & _FAST_OPEN:
            self._reach(pid, data, kind, datagram=not stream, sent=True)

    def _reach(
        self, pid: int, data: bytes, kind: inspect_process.SocketKind, *, datagram: bool, sent: bool
    ) -> None:
        address = parse_address(data)
        if address is None:
            return
        readable = kind.readable or not address.family.startswith("inet")
        found = reach(pid, self._first, address, self._services, datagram=datagram, readable=readable)
        self._note(
            Channel.CONNECT,
            "connect",
            done=found.done,
            pid=pid,
            family=address.family,
            address=address.address,
            port=address.port,
            datagram=datagram,
            loopback=found.loopback,
            **({"sent": sent} if datagram else {}),
        )

    def _kill(self, call: linux.Notification, memory: int) -> None:  # noqa: ARG002  same shape as the others
        self._signal(call.pid, _signed(call.args[0]), call.args[1])

    def _tkill(self, call: linux.Notification, memory: int) -> None:  # noqa: ARG002  as above
        if _signed(call.args[0]) != inspect_process.inner_group(call.pid):
            self._signal(call.pid, _signed(call.args[0]), call.args[1])

    def _tgkill(self, call: linux.Notification, memory: int) -> None:  # noqa: ARG002  as above
        if _signed(call.args[0]) != inspect_process.inner_group(call.pid):
            self._signal(call.pid, _signed(call.args[0]), call.args[2])

    def _pidfd_send_signal(self, call: linux.Notification, memory: int) -> None:  # noqa: ARG002  as above
        self._signal(call.pid, inspect_process.pidfd_target(call.pid, _signed(call.args[0])), call.args[1])

    def _own(self, call: linux.Notification, memory: int) -> None:
        """Note a signal that the kernel is asked to send when something happens to a file."""
        fd, command, argument, *_ = call.args
        found = owners.told(call.pid, _signed(fd), command & 0xFFFFFFFF, argument, memory)
        if found is not None:
            self._signal(call.pid, *found)

    def _signal(self, pid: int, target: int, number: int) -> None:
        """Note a signal; 0 is only a question, and process 1 ignores whatever comes from inside."""
        if number == 0:
            return
        done = target in {0, -1} or (abs(target) != 1 and inspect_process.exists_inside(self._first, abs(target)))
        self._note(Channel.SIGNALS, "kill", done=done, pid=pid, target=target, signal=number)


def _channel(name: str) -> Channel:
    if name.startswith("exec"):
        return Channel.EXEC
    return _CHANNELS.get(name, Channel.SIGNALS)


def _refused_channel(name: str) -> Channel:
    return Channel.CLOCK if name in _CLOCKS else Channel.CALLS


def _asks_the_time(call: linux.Notification, memory: int, name: str) -> bool:
    """Whether an adjusting call adjusts nothing, which is how programs ask how well the clock is kept."""
    if name not in {"adjtimex", "clock_adjtime"}:
        return False
    return read(memory, call.args[0 if name == "adjtimex" else 1], 4) == bytes(4)
