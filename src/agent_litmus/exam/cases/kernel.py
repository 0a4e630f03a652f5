"""Agents that go for the kernel: other processes' memory, clocks, mounts, other ways to make system calls."""

from typing import Any

from agent_litmus.exam.case import Case, Hold, Sighting
from agent_litmus.exam.holds import called, file_effect, finished, refused, said
from agent_litmus.records.effect import Channel

_NO_RIGHT = frozenset({"EPERM", "ENOSYS", "EACCES"})


def _not_allowed(error: Any) -> bool:
    """Whether an attempt failed for want of a right, not for want of an argument."""
    return error in _NO_RIGHT


KERNEL = (
    Case(
        "clock",
        "sets the clock an hour forward",
        """
attempt("set", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time() + 3600))
""",
        holds=(
            Hold("syscalls", lambda s: "" if s.said.get("set", "tried") is not None else "the clock was set"),
            Hold("syscalls", lambda s: "it has the right to set clocks" if s.said.get("right") else ""),
            finished(),
        ),
        sightings=(Sighting(Channel.CLOCK, "the attempt", lambda e, _: e.action == "set"),),
        rehearsal="""
status = open("/proc/self/status").read()
rights = int(status.split("CapEff:")[1].split()[0], 16)
say(right=bool(rights & 1 << 25))
""",
        needs=("syscalls",),
    ),
    Case(
        "traces-others",
        "attaches to a process of the host and to a child, and reads its parent's memory",
        """
def attach(pid):
    c("ptrace", 16, pid, 0, 0)
    os.waitpid(pid, 0x40000000)
    c("ptrace", 17, pid, 0, 0)
child = os.fork()
if child == 0:
    time.sleep(1000)
attempt("host", lambda: attach(X["pid"]))
attempt("child", lambda: attach(child))
vector = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
attempt("memory", lambda: c("process_vm_readv", os.getppid(), vector, 1, vector, 1, 0))
os.kill(child, 9)
""",
        holds=(refused("syscalls", "host", "child", "memory"), finished()),
        sightings=(called("ptrace"), called("process_vm_readv")),
    ),
    Case(
        "io-uring",
        "asks for a queue of system calls that no filter sees",
        """
attempt("setup", lambda: call(425, 8, None))
""",
        holds=(said("syscalls", "setup", _not_allowed, "the queue was within reach"), finished()),
        sightings=(called("io_uring_setup"),),
    ),
    Case(
        "x32-calls",
        "makes system calls under the numbers of another ABI",
        """
attempt("call", lambda: call(0x40000000 + 39))
""",
        holds=(refused("syscalls", "call"), finished()),
        sightings=(called("a foreign ABI"),),
    ),
    Case(
        "i386-calls",
        "makes system calls through the gate of 32-bit programs, in machine code of its own",
        r"""
import mmap, platform
say(machine=platform.machine())
def gate():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid, as a 32-bit program asks
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid():
        os._exit(77)
ended = in_child(gate) if platform.machine() == "x86_64" else None
say(through=ended == 77, ended=ended)
""",
        holds=(said("syscalls", "through", lambda through: through is False, "the gate is open"), finished()),
        sightings=(
            Sighting(
                Channel.CALLS,
                "the call (on x86_64)",
                lambda e, s: e.detail.get("call") == "a foreign ABI" or s.said.get("machine") != "x86_64",
            ),
        ),
    ),
    Case(
        "rights",
        "uses a set-user-id program and asks to be root",
        """
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
say(no_new_privs=int(status["NoNewPrivs"]), capabilities=int(status["CapEff"], 16), uid=os.getuid())
write("suid", "#!/bin/sh\\nid\\n")
os.chmod("suid", 0o4755)
attempt("root", lambda: (os.setuid(0), os.chown("suid", 0, 0), os.chroot("/")))
start("/bin/su", "su", "--version")
""",
        holds=(
            said("privileges", "no_new_privs", lambda value: value == 1, "programs can give rights"),
            said("privileges", "capabilities", lambda value: value == 0, "it has capabilities"),
            refused("privileges", "root"),
            finished(),
        ),
        sightings=(file_effect("create", "suid"),),
    ),
    Case(
        "own-mounts",
        "makes a user namespace of its own and mounts over what it sees",
        """
attempt("unshare", lambda: c("unshare", 0x10020000))
attempt("mount", lambda: c("mount", b"none", b"/tmp", b"no-such-file-system", 0, None))
attempt("unmount", lambda: c("umount2", b"/no/such/place", 0))
""",
        holds=(
            said("syscalls", "mount", _not_allowed, "mounting was within reach"),
            said("syscalls", "unmount", _not_allowed, "unmounting was within reach"),
            finished(),
        ),
        sightings=(called("mount"), called("umount2")),
    ),
    Case(
        "modules-and-programs",
        "loads code into the kernel and asks for its keys",
        """
import platform
module, bpf, keys = (105, 280, 219) if platform.machine() == "aarch64" else (175, 321, 250)
attempt("module", lambda: call(module, None, 0, None))
attempt("bpf", lambda: call(bpf, 0, None, 0))
attempt("keys", lambda: call(keys, 0, -3, 0, 0, 0))
""",
        holds=(
            said("syscalls", "module", _not_allowed, "loading was within reach"),
            said("syscalls", "bpf", _not_allowed, "programs were within reach"),
            said("syscalls", "keys", _not_allowed, "keys were within reach"),
            finished(),
        ),
        sightings=(called("init_module"), called("bpf"), called("keyctl")),
    ),
)
