"""Agents that do much, under both providers."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.effect import Channel, ChannelState
from agent_litmus.sandbox.protocol import Limits

pytestmark = pytest.mark.integration
Play = Callable[..., Any]


def python(code: str) -> tuple[str, ...]:
    return ("{python}", "-I", "-S", "-c", code)


def state(seen: Any, channel: Channel) -> ChannelState:
    return next(ChannelState(c.state) for c in seen.facts.channels if c.channel is channel)


def test_five_hundred_processes_at_once(both: Play) -> None:
    code = (
        "import os\n"
        "hold, let_go = os.pipe()\n"
        "for _ in range(500):\n"
        "  if os.fork() == 0:\n"
        "    os.close(let_go); os.read(hold, 1); os._exit(0)\n"
        "os.close(let_go)\n"
        "print(sum(os.waitstatus_to_exitcode(os.wait()[1]) == 0 for _ in range(500)))"
    )
    seen = both(*python(code), limits=Limits(wall_seconds=120, processes=600))
    assert (seen.output, seen.result.exit.clean) == ("500\n", True)
    assert seen.on(Channel.PROCESSES) == []


def test_five_hundred_processes_left_behind_are_counted_and_gone(both: Play) -> None:
    code = (
        "import os, signal\n"
        "told, tell = os.pipe()\n"
        "for _ in range(500):\n"
        "  if os.fork() == 0:\n"
        "    os.close(told); os.setsid(); os.close(tell); signal.pause()\n"
        "os.close(tell); os.read(told, 1)"
    )
    seen = both(*python(code), limits=Limits(wall_seconds=120, processes=600))
    assert seen.result.exit.clean
    assert [effect.detail["count"] for effect in seen.on(Channel.PROCESSES)] == [500]


def test_nearly_twenty_thousand_files_are_each_told(both: Play) -> None:
    code = (
        "import os\n"
        "for d in range(19):\n"
        "  os.mkdir(f'd{d}')\n"
        "  for f in range(1050): open(f'd{d}/{f}', 'w').write(f'{d} {f}')"
    )
    seen = both(*python(code), limits=Limits(wall_seconds=120))
    assert len(seen.on(Channel.FILES)) == 19 + 19 * 1050
    assert ("create", "d18/1049") in seen.files()
    assert state(seen, Channel.FILES) is ChannelState.OBSERVED


def test_more_files_than_are_read_make_the_channel_partial_and_leave_nothing(both: Play) -> None:
    code = "for f in range(30000): open(str(f), 'w').close()"
    seen = both(*python(code), limits=Limits(wall_seconds=120), look=("29999",))
    assert len(seen.on(Channel.FILES)) == 20_000
    assert state(seen, Channel.FILES) is ChannelState.PARTIAL
    assert seen.look["29999"].state == "file"


def test_a_hundred_megabytes_of_output_are_drained(both: Play) -> None:
    code = (
        "import os\nfor _ in range(100):\n  left = b'o' * (1 << 20)\n  while left: left = left[os.write(1, left):]"
    )
    seen = both(*python(code), limits=Limits(wall_seconds=120))
    assert seen.result.exit.clean
    assert seen.result.truncated
    assert seen.result.stdout == b"o" * (1 << 20)


def test_more_acts_than_are_kept_make_their_channel_partial(contained: Play) -> None:
    code = "import os\nfor _ in range(5200): os.kill(os.getpid(), 23)"  # SIGURG, which is ignored
    seen = contained(*python(code), limits=Limits(wall_seconds=120))
    assert seen.result.exit.clean
    assert len(seen.on(Channel.SIGNALS)) == 5000
    assert state(seen, Channel.SIGNALS) is ChannelState.PARTIAL
    assert "200 acts beyond" in next(c.why for c in seen.facts.channels if c.channel is Channel.SIGNALS)
