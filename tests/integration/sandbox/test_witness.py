"""What the witness notes under bubblewrap."""

import asyncio
import platform
from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.effect import Channel, ChannelState, Outcome
from agent_litmus.sandbox.protocol import Listeners, SandboxSession

pytestmark = pytest.mark.integration
Play = Callable[..., Any]


def python(code: str) -> tuple[str, ...]:
    return ("{python}", "-I", "-S", "-c", code)


def state(seen: Any, channel: Channel) -> Any:
    return next(c for c in seen.facts.channels if c.channel is channel)


def reached(seen: Any) -> list[tuple[str, str, int, str]]:
    return [
        (e.detail["family"], e.detail["address"], e.detail["port"], str(e.outcome))
        for e in seen.on(Channel.CONNECT)
    ]


def test_every_executed_file_is_noted_with_its_arguments(contained: Play) -> None:
    seen = contained("sh", "-c", "/bin/echo one 'two words'; env true")
    found = [e.detail["argv"] for e in seen.on(Channel.EXEC) if e.outcome is Outcome.EXECUTED]
    assert found[0][0] == "sh"
    assert ["/bin/echo", "one", "two words"] in found
    assert found[-1] == ["true"]


def test_a_file_that_is_not_there_was_only_attempted(contained: Play) -> None:
    seen = contained("sh", "-c", "/no/such/tool; ./data; exit 0", files={"data": ""})
    attempted = [e.detail["path"] for e in seen.on(Channel.EXEC) if e.outcome is Outcome.ATTEMPTED]
    assert "/no/such/tool" in attempted


def test_a_relative_path_and_an_open_file_are_resolved(contained: Play) -> None:
    code = (
        "import os\n"
        "os.chmod('tool', 0o755)\n"
        "fd = os.open('/bin/true', os.O_RDONLY)\n"
        "if os.fork() == 0: os.execve('tool', ['tool', 'x'], {})\n"
        "os.wait()\n"
        "os.execve(fd, ['by descriptor'], {})"
    )
    seen = contained(*python(code), files={"tool": "#!/bin/sh\n"})
    found = {tuple(e.detail["argv"]): e.outcome for e in seen.on(Channel.EXEC)}
    assert found["tool", "x"] is Outcome.EXECUTED
    assert found["by descriptor",] is Outcome.EXECUTED


def test_arguments_that_are_not_text_are_escaped(contained: Play) -> None:
    seen = contained(*python("import os; os.execv('/bin/true', [b'\\xff\\xfe'])"))
    assert seen.on(Channel.EXEC)[-1].detail["argv"] == ["\\xff\\xfe"]


def test_a_long_argument_list_is_cut_and_the_channel_partial(contained: Play) -> None:
    seen = contained(*python("import os; os.execv('/bin/true', ['true'] + ['a' * 100000] * 15)"))
    assert seen.result.exit.clean
    assert state(seen, Channel.EXEC).state is ChannelState.PARTIAL
    assert "cut" in state(seen, Channel.EXEC).why
    assert sum(map(len, seen.on(Channel.EXEC)[-1].detail["argv"])) < 100_000


def test_connections_are_executed_where_something_answers_else_attempted(contained: Play) -> None:
    code = (
        "import socket\n"
        "for family, address in ((2, ('192.0.2.1', 80)), (2, ('192.0.2.1', 4444)), (10, ('2001:db8::1', 80))):\n"
        " s = socket.socket(family); s.settimeout(5); s.connect_ex(address)\n"
        "own = socket.create_server(('127.0.0.1', 0)); socket.create_connection(own.getsockname())\n"
        "u = socket.socket(1); u.bind('/tmp/u'); u.listen(); socket.socket(1).connect('/tmp/u')\n"
        "socket.socket(1).connect_ex('\\0abstract')\n"
        "print(own.getsockname()[1])"
    )
    seen = contained(*python(code))
    assert reached(seen) == [
        ("inet", "192.0.2.1", 80, "executed"),
        ("inet", "192.0.2.1", 4444, "executed"),
        ("inet6", "2001:db8::1", 80, "executed"),
        ("inet", "127.0.0.1", int(seen.output), "executed"),
        ("unix", "/tmp/u", 0, "executed"),
        ("unix", "@abstract", 0, "attempted"),
    ]


def test_datagrams_with_an_address_are_noted(contained: Play) -> None:
    code = (
        "import socket\n"
        "s = socket.socket(2, 2)\n"
        "s.sendto(b'x', ('192.0.2.1', 9999))\n"
        "s.sendmsg([b'x'], [], 0, ('192.0.2.2', 9999))\n"
        "s.sendto(b'x', ('192.0.2.3', 53))\n"
        "s.connect(('192.0.2.4', 80))"
    )
    seen = contained(*python(code))
    assert reached(seen) == [
        ("inet", "192.0.2.1", 9999, "executed"),
        ("inet", "192.0.2.2", 9999, "executed"),
        ("inet", "192.0.2.3", 53, "executed"),
        ("inet", "192.0.2.4", 80, "executed"),
    ]


def details(seen: Any, *names: str) -> list[tuple[Any, ...]]:
    return [(*(e.detail.get(name) for name in names), str(e.outcome)) for e in seen.on(Channel.CONNECT)]


def test_what_an_agent_serves_itself_is_reached_on_loopback_alone(contained: Play) -> None:
    code = (
        "import socket\n"
        "own = socket.create_server(('0.0.0.0', 4444)); six = socket.create_server(('::', 4445), family=10)\n"
        "for family, place in ((2, ('192.0.2.1', 4444)), (10, ('2001:db8::1', 4445)),\n"
        "    (10, ('::ffff:192.0.2.1', 4444)),\n"
        "    (2, ('127.0.0.9', 4444)), (2, ('0.0.0.0', 4444)), (10, ('::1', 4445)),\n"
        "    (10, ('::ffff:127.0.0.1', 4444)),\n"
        "    (2, ('127.0.0.1', 4446))):\n"
        "  s = socket.socket(family); print(s.connect_ex(place))"
    )
    seen = contained(*python(code))
    assert seen.output.split() == ["0"] * 7 + ["111"]
    assert details(seen, "address", "port", "loopback", "datagram") == [
        ("192.0.2.1", 4444, False, False, "attempted"),
        ("2001:db8::1", 4445, False, False, "attempted"),
        ("::ffff:192.0.2.1", 4444, False, False, "attempted"),
        ("127.0.0.9", 4444, True, False, "executed"),
        ("0.0.0.0", 4444, True, False, "executed"),
        ("::1", 4445, True, False, "executed"),
        ("::ffff:127.0.0.1", 4444, True, False, "executed"),
        ("127.0.0.1", 4446, True, False, "attempted"),
    ]


def test_the_sessions_own_services_are_reached_on_loopback_and_sinks_everywhere(contained: Play) -> None:
    code = (
        "import socket\n"
        "for family, place in ((2, ('127.0.0.1', 18080)), (2, ('127.0.0.1', 18081)), (2, ('192.0.2.1', 18080)),\n"
        "    (2, ('192.0.2.1', 18081)), (2, ('192.0.2.1', 8080)),\n"
        "    (10, ('::ffff:192.0.2.1', 80)), (2, ('127.0.0.1', 80))):\n"
        "  s = socket.socket(family); print(s.connect_ex(place))"
    )
    seen = contained(*python(code))
    assert seen.output.split() == ["0"] * 7
    assert details(seen, "address", "port", "loopback") == [
        ("127.0.0.1", 18080, True, "executed"),
        ("127.0.0.1", 18081, True, "executed"),
        ("192.0.2.1", 18080, False, "executed"),
        ("192.0.2.1", 18081, False, "executed"),
        ("192.0.2.1", 8080, False, "executed"),
        ("::ffff:192.0.2.1", 80, False, "executed"),
        ("127.0.0.1", 80, True, "executed"),
    ]


def test_an_agent_cannot_take_over_a_port_that_is_served(contained: Play) -> None:
    code = (
        "import socket\n"
        "socket.socket().connect(('192.0.2.1', 8080))\n"
        "for family, place in ((2, ('192.0.2.1', 8080)), (2, ('127.0.0.1', 18080)), (10, ('2001:db8::1', 80))):\n"
        "  for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):\n"
        "    s = socket.socket(family); s.setsockopt(1, option, 1); s.setsockopt(0, 15, 1)\n"
        "    try: s.bind(place); s.listen(); print('taken', place)\n"
        "    except OSError as error: print(error.errno)"
    )
    assert contained(*python(code)).output.split() == ["98"] * 4 + ["13"] * 2


def test_in_a_network_of_its_own_an_agent_reaches_no_service(contained: Play) -> None:
    code = (
        "import ctypes, socket\n"
        "s = socket.socket(); s.settimeout(5)\n"
        "print(ctypes.CDLL(None).unshare(0x50000000))\n"
        "print(socket.socket().connect_ex(('192.0.2.1', 80)))"
    )
    seen = contained(*python(code))
    if seen.output.startswith("-1"):
        pytest.skip("no user namespaces within user namespaces here")
    assert details(seen, "address", "loopback") == [("192.0.2.1", False, "attempted")]


def test_a_datagram_socket_that_is_only_connected_is_told_from_one_that_sends(contained: Play) -> None:
    code = (
        "import ctypes, socket\n"
        "libc = ctypes.CDLL(None)\n"
        "s = socket.socket(2, 2)\n"
        "s.connect(('192.0.2.4', 80)); s.send(b'unseen')\n"
        "s = socket.socket(2, 2)\n"
        "libc.connect(s.fileno(), bytes(16), 16)\n"
        "s.sendto(b'x', ('192.0.2.5', 80)); s.sendmsg([b'x'], [], 0, ('192.0.2.6', 53))\n"
        "libc.sendto(s.fileno(), b'x', 1, 0, b'\\0\\0\\0\\x35' + bytes([192, 0, 2, 7]) + bytes(8), 16)\n"
        "six = socket.socket(10, 2)\n"
        "try: six.sendto(b'x', ('2001:db8::1', 53))\n"
        "except OSError: pass"
    )
    seen = contained(*python(code))
    assert details(seen, "address", "port", "datagram", "sent") == [
        ("192.0.2.4", 80, True, False, "executed"),
        ("192.0.2.5", 80, True, True, "executed"),
        ("192.0.2.6", 53, True, True, "executed"),
        ("192.0.2.7", 53, True, True, "executed"),
        ("2001:db8::1", 53, True, True, "executed"),
    ]


def test_a_send_that_opens_a_connection_is_one_and_an_address_no_stream_uses_is_none(contained: Play) -> None:
    code = (
        "import socket\n"
        "s = socket.socket(); s.sendto(b'x', socket.MSG_FASTOPEN, ('192.0.2.1', 80))\n"
        "s.sendto(b'x', ('192.0.2.9', 80))"
    )
    seen = contained(*python(code))
    assert details(seen, "address", "datagram", "sent") == [("192.0.2.1", False, None, "executed")]


def test_the_c_librarys_ordering_of_addresses_is_told_from_sending(contained: Play) -> None:
    code = "import socket\nprint(len(socket.getaddrinfo('localhost', 7777)) > 1)"
    seen = contained(*python(code))
    ordering = [e for e in seen.on(Channel.CONNECT) if e.detail["port"] == 7777]
    assert seen.output == "True\n"
    assert ordering
    assert all(e.detail["datagram"] and e.detail["sent"] is False for e in ordering)


def test_sends_on_a_connected_socket_are_not_noted_again(contained: Play) -> None:
    code = "import socket\na, b = socket.socketpair()\na.send(b'x'); a.sendmsg([b'y']); a.sendall(b'z')"
    seen = contained(*python(code))
    assert seen.result.exit.clean
    assert reached(seen) == []


def test_signals_to_others_are_noted_and_to_oneself_in_threads_are_not(contained: Play) -> None:
    code = (
        "import os, signal, threading, time\n"
        "pid = os.fork()\n"
        "if pid == 0: time.sleep(1000)\n"
        "os.kill(pid, 0)\n"
        "signal.signal(signal.SIGUSR1, lambda *a: None)\n"
        "signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)\n"
        "os.kill(pid, 15); os.wait()\n"
        "for target in (1, 99999):\n"
        "  try: os.kill(target, 9)\n"
        "  except OSError: pass\n"
        "signal.pidfd_send_signal(os.pidfd_open(os.getpid()), signal.SIGUSR1)\n"
        "print(pid, os.getpid())"
    )
    seen = contained(*python(code))
    child, own = map(int, seen.output.split())
    found = [(e.detail["target"], e.detail["signal"], str(e.outcome)) for e in seen.on(Channel.SIGNALS)]
    assert found == [(child, 15, "executed"), (1, 9, "attempted"), (99999, 9, "attempted"), (own, 10, "executed")]


def test_asking_whether_a_file_could_be_executed_executes_nothing(contained: Play) -> None:
    code = (
        "import ctypes, platform\n"
        "number = 322 if platform.machine() == 'x86_64' else 281\n"
        "ctypes.CDLL(None).syscall(number, -100, b'/bin/true', None, None, 0x10000)"
    )
    seen = contained(*python(code))
    assert [e.detail["path"] for e in seen.on(Channel.EXEC) if e.detail["path"] == "/bin/true"] == []


OWN = {
    "fcntl": "fcntl.fcntl(file, fcntl.F_SETOWN, child); fcntl.fcntl(file, 10, 9)",
    "signal-first": "fcntl.fcntl(file, 10, 9); fcntl.fcntl(file, fcntl.F_SETOWN, child)",
    "extended": "fcntl.fcntl(file, 10, 9); fcntl.fcntl(file, 15, struct.pack('ii', 1, child))",
    "ioctl": "fcntl.fcntl(file, 10, 9); fcntl.ioctl(file, 0x8901, struct.pack('i', child))",
}


@pytest.mark.parametrize("way", sorted(OWN))
def test_a_signal_that_the_kernel_is_asked_to_send_is_noted(contained: Play, way: str) -> None:
    code = (
        "import fcntl, os, signal, socket, struct\n"
        "file, other = socket.socketpair()\n"
        "if not (child := os.fork()): signal.pause()\n"
        f"{OWN[way]}\n"
        "fcntl.fcntl(file, fcntl.F_SETFL, os.O_ASYNC); other.send(b'x'); print(os.waitpid(child, 0)[1], child)"
    )
    seen = contained(*python(code))
    status, child = map(int, seen.output.split())
    assert status == 9
    assert (child, 9) in {(e.detail["target"], e.detail["signal"]) for e in seen.on(Channel.SIGNALS)}


def test_a_file_that_signals_its_own_process_is_no_signal_to_another(contained: Play) -> None:
    code = "import fcntl, os, socket\nfcntl.fcntl(socket.socket(), fcntl.F_SETOWN, os.getpid()); print('done')"
    seen = contained(*python(code))
    assert (seen.output, seen.on(Channel.SIGNALS)) == ("done\n", [])


def test_a_flood_of_acts_is_counted_and_stops_nothing(contained: Play) -> None:
    code = "import socket\ns = socket.socket(2, 2)\nfor _ in range(5100): s.sendto(b'', ('192.0.2.1', 9))\nprint(1)"
    seen = contained(*python(code))
    assert seen.output == "1\n"
    assert len(seen.on(Channel.CONNECT)) == 5000
    channel = state(seen, Channel.CONNECT)
    assert (channel.state, channel.why) == (ChannelState.PARTIAL, "100 acts beyond the first 5000 were dropped")
    assert state(seen, Channel.EXEC).state is ChannelState.OBSERVED


def test_times_run_forward_from_the_start(contained: Play) -> None:
    seen = contained("sh", "-c", "true; /bin/true; /bin/true; echo x > f")
    times = [e.at for e in seen.effects]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] <= seen.result.duration


def test_a_fresh_process_is_witnessed(contained: Play) -> None:
    assert contained("true").facts.process_fresh is True


def test_without_an_exec_a_fresh_process_is_not_claimed(contained: Play) -> None:
    assert contained("no-such-command").facts.process_fresh is None


def test_services_on_the_listeners_answer_the_agent(contained: Play) -> None:
    async def serve(session: SandboxSession, listeners: Listeners) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            host = writer.get_extra_info("sockname")[0]
            writer.write(f"HTTP/1.0 200 OK\r\nContent-Length: {len(host)}\r\n\r\n{host}".encode())
            writer.close()

        socks = (listeners.gateway, listeners.tools, *listeners.http)
        servers = [await asyncio.start_server(answer, sock=sock.dup()) for sock in socks]
        await asyncio.gather(*(server.serve_forever() for server in servers))

    urls = [
        "http://127.0.0.1:18080/v1",
        "http://127.0.0.1:18081/mcp",
        "http://192.0.2.7/",
        "http://[2001:db8::7]/",
    ]
    code = f"from urllib.request import urlopen\nfor url in {urls!r}: print(urlopen(url).read().decode())"
    seen = contained("{python}", "-I", "-c", code, during=serve)
    assert seen.output.split() == ["127.0.0.1", "127.0.0.1", "192.0.2.7", "2001:db8::7"]


def test_a_name_look_up_reaches_the_dns_socket(contained: Play) -> None:
    asked: list[bytes] = []

    class Sink(asyncio.DatagramProtocol):
        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            asked.append(data)
            self.transport.sendto(b"answer", addr)

    async def serve(session: SandboxSession, listeners: Listeners) -> None:
        assert listeners.dns is not None
        await asyncio.get_running_loop().create_datagram_endpoint(Sink, sock=listeners.dns.dup())
        await asyncio.Event().wait()

    code = "import socket\ns = socket.socket(2, 2); s.sendto(b'query', ('8.8.8.8', 53)); print(s.recv(99))"
    seen = contained(*python(code), during=serve)
    assert (asked, seen.output) == ([b"query"], "b'answer'\n")


def test_listening_is_noted_with_the_address_it_is_at(contained: Play) -> None:
    code = (
        "import socket\n"
        "own = socket.create_server(('127.0.0.1', 0)); print(own.getsockname()[1])\n"
        "try: socket.create_server(('127.0.0.1', 18080))\n"
        "except OSError: pass\n"
        "u = socket.socket(1); u.bind('/tmp/u'); u.listen()\n"
    )
    seen = contained(*python(code))
    noted = [(e.action, e.detail["address"], e.detail["port"], str(e.outcome)) for e in seen.on(Channel.LISTEN)]
    assert noted == [
        ("bind", "127.0.0.1", 0, "executed"),
        ("listen", "127.0.0.1", int(seen.output), "executed"),
        ("bind", "127.0.0.1", 18080, "attempted"),
        ("bind", "/tmp/u", 0, "executed"),
        ("listen", "/tmp/u", 0, "executed"),
    ]


def test_setting_a_clock_is_refused_and_noted_and_asking_is_not(contained: Play) -> None:
    code = (
        "import ctypes, time\n"
        "for clock in (time.CLOCK_REALTIME,):\n"
        "  try: time.clock_settime(clock, 1)\n"
        "  except PermissionError: print('refused')\n"
        "libc = ctypes.CDLL(None)\n"
        "print(libc.adjtimex(bytes(208)), libc.adjtimex(b'\\1' + bytes(207)), libc.settimeofday(bytes(16), None))\n"
    )
    seen = contained(*python(code))
    assert seen.output == "refused\n-1 -1 -1\n"
    assert {str(e.outcome) for e in seen.on(Channel.CLOCK)} == {"attempted"}
    assert next(e.detail["call"] for e in seen.on(Channel.CLOCK)) == "clock_settime"
    assert len(seen.on(Channel.CLOCK)) == 3


def test_refused_calls_are_noted_by_name_with_their_process_and_its_parent(contained: Play) -> None:
    code = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "found = []\n"
        "for call in (lambda: libc.ptrace(16, 1, 0, 0), lambda: libc.syscall(425, 8, 0),\n"
        "             lambda: libc.syscall(447, 0),\n"
        "             lambda: libc.mount(b't', b'/tmp', b'tmpfs', 0, None)):\n"
        "  ctypes.set_errno(0); call(); found.append(ctypes.get_errno())\n"
        "print(found)\n"
    )
    seen = contained("sh", "-c", '"$0" -I -S -c "$1"; exit 0', "{python}", code)
    assert seen.output == "[1, 38, 38, 1]\n"
    noted = seen.on(Channel.CALLS)
    assert [e.detail["call"] for e in noted] == ["ptrace", "io_uring_setup", "memfd_secret", "mount"]
    shell = next(e for e in seen.on(Channel.EXEC) if e.detail["argv"][0] == "sh")
    assert {e.ppid for e in noted} == {shell.pid}


def test_a_foreign_abi_is_refused_and_noted(contained: Play) -> None:
    code = (
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
        "print(libc.syscall((1 << 30) + 39), ctypes.get_errno())"
    )
    seen = contained(*python(code))
    assert seen.output == "-1 38\n"
    other = ["a foreign ABI"] if platform.machine() == "x86_64" else []  # no other machine has such numbers
    assert [e.detail["call"] for e in seen.on(Channel.CALLS)] == other
