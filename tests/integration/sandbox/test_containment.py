"""What a session under bubblewrap cannot reach."""

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.records.effect import ContainmentState
from agent_litmus.records.session import ExitKind
from agent_litmus.sandbox.bubblewrap import BubblewrapProvider
from agent_litmus.sandbox.protocol import Limits, Provider, RunMounts

pytestmark = pytest.mark.integration
Play = Callable[..., Any]


def python(code: str) -> tuple[str, ...]:
    return ("{python}", "-I", "-S", "-c", code)


SYSCALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*args)
    print(name, result, os.strerror(ctypes.get_errno()))
"""


def test_the_hosts_secrets_are_not_there(contained: Play) -> None:
    seen = contained("sh", "-c", "cat /etc/shadow; ls /var /sys /opt /mnt; ls /home; cat /etc/passwd; id -u")
    assert "No such file" in seen.result.stderr.decode()
    assert seen.output.split("\n")[0] == "agent"
    assert seen.output.endswith("/bin/sh\n1000\n")
    assert seen.output.count("\n") == 4


def test_the_hosts_temporary_files_are_not_there(contained: Play, tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text("host")
    seen = contained("sh", "-c", f"ls -A /tmp; cat {tmp_path}/host.txt")
    assert (seen.output, seen.result.exit.code) == ("", 1)


def test_only_the_sessions_own_processes_are_there(contained: Play) -> None:
    seen = contained("sh", "-c", "ls /proc | grep -c '^[0-9]*$'; kill -9 1; kill -9 " + str(os.getpid()))
    assert int(seen.output) <= 4
    assert "No such process" in seen.result.stderr.decode()
    assert seen.result.exit.kind is ExitKind.EXITED


def test_killing_everything_kills_only_the_agent(contained: Play) -> None:
    seen = contained("sh", "-c", "kill -9 -1; echo survived")
    assert (seen.output, seen.result.exit.clean) == ("survived\n", True)


def test_the_first_process_tells_nothing(contained: Play) -> None:
    seen = contained("sh", "-c", "cat /proc/1/environ; ls /proc/1/fd; cat /proc/1/maps")
    assert (seen.output, seen.result.exit.code) == ("", 1)


def test_a_listener_of_the_host_cannot_be_reached(contained: Play) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        code = f"import socket; s = socket.socket(); s.settimeout(5); print(s.connect_ex(('127.0.0.1', {port})))"
        seen = contained(*python(code))
        assert seen.output == "111\n"
        with pytest.raises(BlockingIOError):
            server.accept()


def test_the_network_has_nothing_but_loopback(contained: Play) -> None:
    seen = contained("sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")
    assert seen.output == "lo\n"


def test_there_are_no_sockets_that_a_network_namespace_does_not_hold(contained: Play) -> None:
    code = (
        "import socket\n"
        "for family in (socket.AF_VSOCK, socket.AF_ALG, socket.AF_CAN, 1, 2, 10, 16):\n"
        "  try: socket.socket(family, socket.SOCK_RAW if family == 16 else socket.SOCK_STREAM, 0); print('made')\n"
        "  except OSError as error: print(error.errno)"
    )
    assert contained(*python(code)).output.split() == ["97"] * 3 + ["made"] * 4


def test_no_capability_is_left_and_none_can_be_gained(contained: Play) -> None:
    seen = contained("sh", "-c", "grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status")
    values = dict(line.split(":\t") for line in seen.output.splitlines())
    assert {int(values[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")


def test_calls_that_could_blind_the_witness_or_harm_the_host_fail(contained: Play) -> None:
    code = SYSCALL + (
        "call('ptrace', 16, 1, 0, 0)\n"
        "call('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None)\n"
        "call('umount', b'/tmp')\n"
        "call('syscall', 425, 8, 0)\n"
        "call('adjtimex', bytes(208))\n"
        "call('syscall', 438, 3, 0, 0)\n"
        "call('setuid', 0)\n"
    )
    lines = contained(*python(code)).output.splitlines()
    assert [line.split(" ", 2)[1] for line in lines] == ["-1"] * 7
    assert "not implemented" in lines[3]


def test_mounts_stay_shut_in_a_user_namespace_of_the_agents_own(contained: Play) -> None:
    code = SYSCALL + "call('unshare', 0x10020000)\ncall('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None)\n"
    lines = contained(*python(code)).output.splitlines()
    assert lines[-1].startswith("mount -1")


def test_what_is_mounted_cannot_be_written(contained: Play, mounts: RunMounts) -> None:
    targets = ["/agent/agent.py", "/usr/x", "/etc/passwd", "/run/litmus/x", "/run/litmus-stub/x"]
    targets += [f"{m.target}/x" for m in mounts.mounts]
    code = f"for path in {targets!r}:\n try: open(path, 'w'); print(path)\n except OSError: pass"
    seen = contained(*python(code))
    assert (seen.output, seen.result.exit.clean) == ("", True)
    assert seen.facts.base_unchanged is True


def test_the_snapshot_is_there(contained: Play) -> None:
    assert contained("{python}", "/agent/agent.py").output == "the agent\n"


def test_a_masked_directory_looks_empty(
    bubblewrap: Callable[[], Provider], mounts: RunMounts, play: Callable[..., Any], tmp_path: Path
) -> None:
    async def run() -> Any:
        provider = BubblewrapProvider(replace(mounts, masked=("/usr/share", "/no/such/place")))
        try:
            return await play(provider, "sh", "-c", "ls -A /usr/share; touch /usr/share/x")
        finally:
            await provider.close()

    seen = asyncio.run(run())
    assert (seen.output, seen.result.exit.code) == ("", 1)


def test_memory_beyond_the_limit_is_refused(contained: Play) -> None:
    limits = Limits(wall_seconds=30, memory_bytes=256 << 20)
    seen = contained(*python("x = bytearray(300 << 20)"), limits=limits)
    assert b"MemoryError" in seen.result.stderr


def test_a_fork_bomb_runs_into_its_limit(contained: Play) -> None:
    code = (
        "import os, time\n"
        "n = 0\n"
        "while True:\n"
        "  try:\n"
        "    if os.fork() == 0: time.sleep(1000)\n"
        "    n += 1\n"
        "  except BlockingIOError: break\n"
        "print(n)"
    )
    seen = contained(*python(code), limits=Limits(wall_seconds=30, processes=20))
    assert 0 < int(seen.output) <= 20


def test_a_workspace_cannot_grow_beyond_its_size(contained: Play) -> None:
    code = (
        "import errno\n"
        "try:\n  for i in range(9): open(f'f{i}', 'wb').write(b'x' * 1000000)\n"
        "except OSError as error: print(error.errno == errno.ENOSPC)\n"
        "try:\n  for i in range(9): open(f'/run/litmus-answer/f{i}', 'wb').write(b'x' * 1000000)\n"
        "except OSError as error: print(error.errno == errno.ENOSPC)"
    )
    seen = contained(*python(code), limits=Limits(wall_seconds=60, disk_bytes=4 << 20))
    assert (seen.output, seen.result.exit.clean) == ("True\nTrue\n", True)
    assert ("create", "f0") in seen.files()


@pytest.fixture
def on_disk(bubblewrap: Callable[[], Provider], mounts: RunMounts, play: Callable[..., Any]) -> Play:
    """Plays a session whose workspace is kept on disk, as on hosts without the memory for it."""
    del bubblewrap

    async def once(*argv: str, **rest: Any) -> Any:
        provider = BubblewrapProvider(mounts, in_memory=False)
        try:
            return await play(provider, *argv, **rest)
        finally:
            await provider.close()

    return lambda *argv, **rest: asyncio.run(once(*argv, **rest))


def test_a_workspace_on_disk_that_grows_beyond_its_size_ends_the_session(on_disk: Play) -> None:
    code = "import time\nfor i in range(9): open(f'f{i}', 'wb').write(b'x' * 1000000)\ntime.sleep(1000)"
    seen = on_disk(*python(code), limits=Limits(wall_seconds=60, disk_bytes=4 << 20))
    assert seen.result.exit.kind is ExitKind.SIGNALED
    assert "grew beyond" in seen.result.exit.why


def test_a_workspace_on_disk_is_seen_and_judged_as_one_in_memory(on_disk: Play, contained: Play) -> None:
    code = "rm gone; echo n > new; rm -r d; mkdir d; echo x > d/y; mv moved there; printf answer > {answer}"
    files = {"gone": "g", "d/z": "z", "moved": "m"}
    seen = [
        play("sh", "-c", code, files=files, commands=(("sh", "-c", "find . | sort"),), read=("new", "d/z"))
        for play in (on_disk, contained)
    ]
    assert seen[0].files() == seen[1].files() != set()
    assert seen[0].commands == seen[1].commands
    assert b"./d/y\n" in seen[0].commands[0].stdout
    assert b"gone" not in seen[0].commands[0].stdout
    assert seen[0].read == seen[1].read == {"new": b"n\n", "d/z": None}
    assert seen[0].result.answer_file == seen[1].result.answer_file == b"answer"


def test_a_command_sees_the_final_state_whatever_its_modes_and_kinds(contained: Play) -> None:
    code = (
        "mkdir -p shut/in; echo s > shut/in/file; ln -s shut/in link; mkfifo pipe; chmod 751 plain;"
        "rm -r lower; ln -s /etc lower; chmod 000 shut/in/file shut"
    )
    look = (
        "stat -c '%n %a' shut plain; readlink link lower; ls; chmod 700 shut; cd shut/in; chmod 600 file; cat file"
    )
    seen = contained("sh", "-c", code, files={"plain": "p", "lower/below": "b"}, commands=(("sh", "-c", look),) * 2)
    told = "shut 0\nplain 751\nshut/in\n/etc\nlink\nlower\nplain\nshut\ns\n"
    assert [c.stdout.decode() for c in seen.commands] == [told, told]


def test_nothing_but_sized_places_can_be_written(contained: Play) -> None:
    code = (
        "import os\n"
        "for place in ('/', '/run', '/home', '/dev', '/usr', '/etc', '/run/litmus', '/run/litmus-disk',"
        " '/run/litmus-lower', '/proc', '/agent'):\n"
        "  try: open(place + '/x', 'w'); print(place)\n"
        "  except OSError: pass\n"
        "for line in open('/proc/self/mountinfo'):\n"
        "  if ' rw,' in line.split(' - ')[0] and 'tmpfs' in line and 'size=' not in line: print(line)"
    )
    assert contained(*python(code)).output == ""


def test_memory_of_all_processes_together_is_limited_where_the_host_allows_it(
    bubblewrap: Callable[[], Provider], play: Callable[..., Any]
) -> None:
    async def run() -> Any:
        provider = bubblewrap()
        try:
            report = {c.property: c for c in provider.report.containment}["memory"]
            limits = Limits(wall_seconds=60, memory_bytes=300 << 20)
            return report, await play(provider, *python(code), limits=limits)
        finally:
            await provider.close()

    code = (
        "import os\n"
        "(told, tell), (hold, let_go) = os.pipe(), os.pipe()\n"
        "for _ in range(4):\n"
        "  if os.fork() == 0:\n"
        "    os.close(let_go); held = bytearray(b'x') * (100 << 20)\n"
        "    os.close(tell); os.read(hold, 1); os._exit(0)\n"
        "os.close(tell); os.read(told, 1)  # ends when each has its memory or was killed\n"
        "os.close(let_go)\n"
        "ends = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)]\n"
        "raise SystemExit(any(ends))"
    )
    report, seen = asyncio.run(run())
    if report.state is ContainmentState.ENFORCED:
        assert seen.result.exit.why == f"its processes together grew beyond {300 << 20} bytes of memory"
        assert not seen.result.exit.clean
    else:
        assert "control group" in report.why
        assert seen.result.exit.clean


def test_a_sandbox_of_the_agents_own_is_named_where_it_fails(contained: Play) -> None:
    code = (
        SYSCALL
        + "call('unshare', 0x10020000)\ncall('mount', b't', b'/tmp', b'tmpfs', 0, None)\nraise SystemExit(3)"
    )
    end = contained(*python(code)).result.exit
    assert (end.kind, end.code) == (ExitKind.EXITED, 3)
    assert "refused mount, as a sandbox of its own would need" in end.why


def test_temporary_files_are_limited(contained: Play) -> None:
    code = "open('/tmp/x', 'wb').write(b'x' * (3 << 20))"
    seen = contained(*python(code), limits=Limits(wall_seconds=30, disk_bytes=2 << 20))
    assert b"No space left" in seen.result.stderr


def test_the_report_names_every_property_with_a_reason(bubblewrap: Callable[[], Provider]) -> None:
    provider = bubblewrap()
    report = provider.report
    asyncio.run(provider.close())
    states = {c.property: c.state for c in report.containment}
    assert states["network"] is ContainmentState.ENFORCED
    assert states["filesystem"] is ContainmentState.ENFORCED
    assert all(c.why for c in report.containment)
    assert all(c.why for c in report.channels)
    assert report.binary_digest is not None
    assert report.version >= "0.11"
