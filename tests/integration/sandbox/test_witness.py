"""What the witness notes under bubblewrap."""

import asyncio
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
        ("inet", "192.0.2.1", 4444, "attempted"),
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
        ("inet", "192.0.2.1", 9999, "attempted"),
        ("inet", "192.0.2.2", 9999, "attempted"),
        ("inet", "192.0.2.3", 53, "executed"),
        ("inet", "192.0.2.4", 80, "attempted"),
    ]


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
        "http://[2001:db8::7]:8080/",
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
