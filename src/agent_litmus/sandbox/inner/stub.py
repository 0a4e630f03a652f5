"""First process inside the sandbox: opens the network's ends, gives up every right, starts and buries the agent.

Runs with ``python -I -S`` on whatever interpreter the sandbox has, so it uses the standard library alone, and
of that the parts that load fast. It is process 1 of its namespace: when it ends, the kernel kills all others.

Messages to the harness, over a SOCK_SEQPACKET pair: ``ready`` with the listening sockets and further descriptors,
by name; after the harness's word the agent begins; then ``end`` with how it ended; or ``fail`` with why nothing
could be started. Over a second pair, if it is given one, it makes further sockets of the sandbox's network as the
harness asks for them.
"""

import _signal  # type: ignore[import-not-found]  # loads faster than signal
import _socket
import _thread
import ctypes
import os
import resource
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 4, 38, 24
SECCOMP_SET_MODE_FILTER, NEW_LISTENER, WAIT_KILLABLE = 1, 8, 32
NR_PIDFD_GETFD = 438
DNS_PORT = 53
MAX_CONFIG = 64 << 20
WORKSPACE, ANSWER, DISK, HOME = "/workspace", "/run/litmus-answer", "/run/litmus-disk", b"/home/agent"
SPARE = b".spare"
MAX_FILES, MAX_NOTIFIERS = 200_000, 24
NOSUID_NODEV, MS_BIND, MNT_DETACH = 6, 4096, 2
IN_ACCESS, IN_OPEN = 1, 32


class Config:
    """What the harness asks for: NUL-separated fields, counted lists first."""

    def __init__(self, data: bytes) -> None:
        self._fields = iter(data.split(b"\0"))
        self.argv = self._list()
        self.env = dict(item.split(b"=", 1) for item in self._list())
        self.limits = [(int(k), int(v)) for k, v in (item.split(b"=") for item in self._list())]
        self.sinks = [int(port) for port in self._list()]
        self.layers, self.watched = self._list(), self._list()
        words = self._list()
        self.home = [(words[at], bytes.fromhex(words[at + 1].decode())) for at in range(0, len(words), 2)]
        self.gateway, self.tools, self.seccomp, self.disk = (int(next(self._fields)) for _ in range(4))
        self.refusal = next(self._fields).decode("utf-8", "backslashreplace")
        self.witnessed, self.plain = (bytes.fromhex(next(self._fields).decode()) for _ in range(2))

    def _list(self) -> list[bytes]:
        return [next(self._fields) for _ in range(int(next(self._fields)))]


def checked(result: int, what: str) -> int:
    """``result`` of a C call, or the error it stands for."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def read_all(fd: int) -> bytes:
    """Everything behind ``fd``, which is closed."""
    with open(fd, "rb") as stream:
        return stream.read(MAX_CONFIG)


def any_address_is_local() -> None:
    """Route every IPv4 and IPv6 address to this machine, so that a listener on a port answers for all of them."""
    rtm_newroute, request_ack_create = 24, 0x405
    table_local, proto_static, scope, type_local = 255, 4, {_socket.AF_INET: 254, _socket.AF_INET6: 0}, 2
    with_oif = struct.pack("HHI", 8, 4, 1)
    netlink = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 0)
    for family in (_socket.AF_INET, _socket.AF_INET6):
        body = struct.pack("BBBBBBBBI", family, 0, 0, 0, table_local, proto_static, scope[family], type_local, 0)
        size = 16 + len(body) + len(with_oif)
        netlink.send(struct.pack("IHHII", size, rtm_newroute, request_ack_create, 1, 0) + body + with_oif)
        number = -struct.unpack_from("i", netlink.recv(4096), 16)[0]
        if number and family == _socket.AF_INET:
            raise OSError(number, f"route to loopback: {os.strerror(number)}")
    netlink.close()


def listen(family: int, address: str, port: int) -> _socket.socket:
    """A listening TCP socket; accepted ones inherit: no Nagle's delay, no urgent bytes beside the stream."""
    sock = _socket.socket(family, _socket.SOCK_STREAM, _socket.IPPROTO_TCP)
    sock.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    sock.setsockopt(_socket.SOL_SOCKET, _socket.SO_OOBINLINE, 1)
    sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    if family == _socket.AF_INET6:
        sock.setsockopt(_socket.IPPROTO_IPV6, _socket.IPV6_V6ONLY, 1)
    sock.bind((address, port))
    sock.listen(128)
    return sock


def name_server() -> _socket.socket:
    """One UDP socket for look-ups over IPv6 and IPv4, over IPv4 alone where the kernel has no IPv6."""
    try:
        sock = _socket.socket(_socket.AF_INET6, _socket.SOCK_DGRAM)
        sock.setsockopt(_socket.IPPROTO_IPV6, _socket.IPV6_V6ONLY, 0)
        sock.bind(("::", DNS_PORT))
    except OSError:
        sock = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
        sock.bind(("0.0.0.0", DNS_PORT))  # noqa: S104  the namespace has no other machine
    return sock


def open_sockets(config: Config) -> list[_socket.socket]:
    """Gateway, tools, DNS, then the sinks."""
    sockets = [
        listen(_socket.AF_INET, "127.0.0.1", config.gateway),
        listen(_socket.AF_INET, "127.0.0.1", config.tools),
        name_server(),
    ]
    for port in config.sinks:
        sockets.append(listen(_socket.AF_INET, "0.0.0.0", port))  # noqa: S104  the namespace has no other machine
        try:
            sockets.append(listen(_socket.AF_INET6, "::", port))
        except OSError:  # a kernel without IPv6 has no IPv6 to catch
            continue
    return sockets


def make_sockets(fd: int) -> None:
    """Pass out an unbound socket for every request (family and type), until the harness closes its end."""
    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, fd)
    try:
        while request := channel.recv(8):
            answer_request(channel, *struct.unpack("ii", request))
    except OSError:  # the harness is gone
        return


def answer_request(channel: _socket.socket, family: int, kind: int) -> None:
    """Send one socket, or why there is none."""
    try:
        sock = _socket.socket(family, kind)
    except OSError as error:
        channel.send(str(error).encode())
        return
    rights = struct.pack("i", sock.fileno())
    channel.sendmsg([b"made"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    sock.close()


def mount(source: bytes, target: str, kind: bytes, flags: int, options: bytes) -> None:
    """Mount something."""
    checked(LIBC.mount(source, target.encode(), kind, ctypes.c_ulong(flags), options), f"mount {kind.decode()}")


def lay_out(config: Config) -> int:
    """Mount the workspace, and what the answer is written to, over memory of a limited size.

    Returns:
        A descriptor of that memory, the only way to it that is left.
    """
    mount(b"tmpfs", DISK, b"tmpfs", NOSUID_NODEV, b"size=%d,nr_inodes=%d,mode=755" % (config.disk, MAX_FILES))
    for name in ("upper", "work", "answer"):
        os.mkdir(f"{DISK}/{name}")  # noqa: PTH102  pathlib loads slowly
        os.chmod(f"{DISK}/{name}", 0o755)  # noqa: PTH101, S103  as above; nobody else is here
    lower = b":".join(config.layers)
    upper = f"upperdir={DISK}/upper,workdir={DISK}/work,userxattr".encode()
    mount(b"overlay", WORKSPACE, b"overlay", NOSUID_NODEV, b"lowerdir=" + lower + b"," + upper)
    mount(f"{DISK}/answer".encode(), ANSWER, b"", MS_BIND, b"")
    fd = os.open(DISK, os.O_RDONLY | os.O_DIRECTORY)
    for place in (DISK.encode(), *config.layers):
        checked(LIBC.umount2(place, MNT_DETACH), "umount")
    os.chdir(WORKSPACE)
    return fd


def write_home(config: Config) -> None:
    """Write the files that the home directory starts with."""
    for name, content in config.home:
        path = HOME + b"/" + name
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120  pathlib loads slowly
        with open(path, "wb") as stream:  # noqa: PTH123  as above
            stream.write(content)
        os.chmod(path, 0o600)  # noqa: PTH101  as above


def watch(config: Config) -> int:
    """A descriptor that tells, one after the other, of every opening and reading of the canary files; -1 for none.

    Each file's number there is its place in the list, counted from 1. Where the kernel gives none, there is none.
    """
    if not config.watched:
        return -1
    fd = int(LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
    for path in config.watched:
        if fd >= 0 and not (detached(path) and LIBC.inotify_add_watch(fd, path, IN_ACCESS | IN_OPEN) >= 0):
            os.close(fd)
            return -1
    return fd


def detached(path: bytes) -> bool:
    """Cut a file off from the workspace's template, so that every name it is ever given shows one inode.

    An overlay without rights cannot tell that a changed file and the template's are one: a link to a file of the
    template would be a file of its own, whose reading nobody watches.
    """
    try:
        for source, target in (
            ((path, path + SPARE), (path + SPARE, path)) if path.startswith(WORKSPACE.encode()) else ()
        ):
            os.link(source, target)
            os.unlink(source)  # noqa: PTH108  pathlib loads slowly
    except OSError:
        return False
    return True


def spare_notifications() -> None:
    """Leave most of the user's file notifications to others: they are counted over all of the user's sessions."""
    try:
        with open("/proc/sys/user/max_inotify_instances", "wb") as stream:  # noqa: PTH123  pathlib loads slowly
            stream.write(b"%d" % MAX_NOTIFIERS)
    except OSError:  # without the right to it, which depends on how the workspace is kept
        return


def drop_rights() -> None:
    """No capability, and none to be gained by executing a file."""
    for right in range(64):  # those that no kernel knows are refused, and so are all where none is held
        LIBC.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)
    header = struct.pack("Ii", 0x20080522, 0)
    checked(LIBC.capset(header, bytes(24)), "capset")
    checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def install_filter(number: int, program: bytes, flags: int) -> int:
    """Install a seccomp program for this process and its children."""
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    return checked(LIBC.syscall(number, SECCOMP_SET_MODE_FILTER, flags, fprog), "seccomp")


def install_witness(config: Config) -> int:
    """Install the witnessed filter and return its listener; without one, the plain filter and -1."""
    for flags in (NEW_LISTENER | WAIT_KILLABLE, NEW_LISTENER):
        try:
            return install_filter(config.seccomp, config.witnessed, flags)
        except OSError:
            continue
    install_filter(config.seccomp, config.plain, 0)
    return -1


def executable(config: Config) -> bytes:
    """The file ``argv[0]`` stands for."""
    if config.refusal:
        raise ValueError(config.refusal)
    name = config.argv[0]
    if b"/" in name:
        return name
    for directory in config.env.get(b"PATH", b"").split(b":"):
        path = directory + b"/" + name
        if directory and os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112  pathlib loads slowly
            return path
    raise FileNotFoundError(2, "command not found", name.decode("utf-8", "backslashreplace"))


def become_agent(config: Config, go: int, note: int) -> None:
    """Turn this child into the agent; what goes wrong is written to ``note``, which an exec closes."""
    try:
        os.read(go, 1)
        os.setsid()
        for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)
        listener = install_witness(config)
        os.write(note, b"%d\n" % listener)
        os.read(go, 1)  # until the listener was taken
        for name, value in config.limits:
            resource.setrlimit(name, (value, value))
        os.execve(executable(config), config.argv, config.env)  # noqa: S606  this is the point
    except BaseException as error:  # noqa: BLE001  anything at all must reach the harness
        os.write(note, f"{error}"[:2000].encode("utf-8", "backslashreplace"))
    os._exit(127)


def start(config: Config) -> tuple[int, int, int, int]:
    """Fork the agent.

    Returns:
        Its pid, the descriptor that tells whether it became the agent, the witness's or -1, and the one to write to
        when it shall begin.
    """
    go, gone = os.pipe()
    note, noted = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(gone)
        become_agent(config, go, noted)
    os.close(go)
    os.close(noted)
    # The child must stay readable for the witness outside; this process must not be for the agent.
    checked(LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")
    os.write(gone, b"g")
    return pid, note, take_listener(pid, note), gone


def take_listener(pid: int, note: int) -> int:
    """The witness descriptor of the child, or -1 if it has none."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(note, 1)
        if not byte:
            raise ChildProcessError(line.decode() or "the agent's process died before it began")
        line += byte
    number = int(line)
    if number < 0:
        return -1
    return checked(LIBC.syscall(NR_PIDFD_GETFD, os.pidfd_open(pid), number, 0), "pidfd_getfd")


def leftovers() -> int:
    """Processes that outlived the agent, zombies aside."""
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib loads slowly
        if not name.isdigit() or name == "1":
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stream:  # noqa: PTH123  as above
                count += stream.read().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
        except OSError:
            continue
    return count


def bury() -> None:
    """Kill and reap everything that is left."""
    try:
        os.kill(-1, _signal.SIGKILL)
        while True:
            os.wait()
    except (ProcessLookupError, ChildProcessError):
        return


def outcome(pid: int, note: int) -> tuple[str, int, str]:
    """Wait for the agent; how it ended: kind, code, why."""
    failure = os.read(note, 4096)
    while True:
        ended, status = os.wait()
        if ended == pid:
            break
    if failure:
        return "not_started", 0, failure.decode()
    code = os.waitstatus_to_exitcode(status)
    return ("exited", code, "") if code >= 0 else ("signaled", -code, "")


def tell_ready(channel: _socket.socket, sockets: list[_socket.socket], others: dict[bytes, int]) -> None:
    """Pass out the sockets, then those of the other descriptors that there are, and close them all here."""
    found = {name: fd for name, fd in others.items() if fd >= 0}
    fds = [*(sock.fileno() for sock in sockets), *found.values()]
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds))
    channel.sendmsg([b"\0".join((b"ready", *found))], [rights])
    for sock in sockets:
        sock.close()
    for fd in found.values():
        os.close(fd)


def main() -> None:
    """Set up, start, wait, bury, tell."""
    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, int(sys.argv[1]))
    os.set_inheritable(channel.fileno(), False)  # noqa: FBT003  the library's signature
    maker = int(sys.argv[3]) if len(sys.argv) > 3 else -1
    if maker >= 0:
        os.set_inheritable(maker, False)  # noqa: FBT003  as above
    try:
        config = Config(read_all(int(sys.argv[2])))
        any_address_is_local()
        sockets = open_sockets(config)
        disk = lay_out(config) if config.disk else -1
        write_home(config)
        canaries = watch(config)
        spare_notifications()
        drop_rights()
        pid, note, listener, gone = start(config)
        if maker >= 0:
            _thread.start_new_thread(make_sockets, (maker,))
        tell_ready(channel, sockets, {b"witness": listener, b"disk": disk, b"canaries": canaries})
        if not channel.recv(1):  # nobody is left to see what the agent would do
            os._exit(1)
        os.write(gone, b"g")
        os.close(gone)
    except BaseException as error:  # noqa: BLE001  the harness is told, whatever it is
        channel.send(b"fail\0" + f"{error}"[:2000].encode("utf-8", "backslashreplace"))
        os._exit(1)
    kind, code, why = outcome(pid, note)
    left = leftovers()
    bury()
    channel.send("\0".join(("end", kind, str(code), why, str(left))).encode("utf-8", "backslashreplace"))
    os._exit(0)


if __name__ == "__main__":
    main()
