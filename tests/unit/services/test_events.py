"""Event streams without the key, however they carry it."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.completion import StreamReader
from agent_litmus.services.events import EventScrubber
from agent_litmus.services.scrub import MASK, Scrubber

KEY = "sk-1+2/3 secret=="
DONE = b"data: [DONE]\n\n"


def delta(text: str, *, index: int = 0, end: str = "\n\n", escape: bool = False) -> bytes:
    shown = "".join(f"\\u{ord(c):04x}" for c in text) if escape else json.dumps(text)[1:-1]
    return f'data: {{"choices":[{{"index":{index},"delta":{{"content":"{shown}"}}}}]}}{end}'.encode()


def call(**function: str) -> bytes:
    part = {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": function}]}}
    return b"data: " + json.dumps({"choices": [part]}).encode() + b"\n\n"


def scrub(stream: bytes, cuts: list[int] | None = None, key: str | None = KEY) -> bytes:
    edges = [0, *sorted(cuts or []), len(stream)]
    scrubber = EventScrubber(Scrubber(key))
    return b"".join(scrubber.feed(stream[a:b]) for a, b in pairwise(edges)) + scrubber.end()


def read(stream: bytes) -> dict[int, str]:
    reader = StreamReader()
    reader.feed(stream)
    reader.end()
    return {
        i: c.text + "".join(t.name + t.arguments for t in c.tool_calls.values())
        for i, c in reader.completion.choices.items()
    }


@given(
    st.lists(st.sampled_from([KEY, KEY[:5], KEY[3:], "x", "é\n", KEY[:-1], KEY.encode().hex()]), max_size=6),
    st.data(),
)
def test_a_scrubbed_stream_reads_as_the_scrubbed_whole(parts: list[str], data: st.DataObject) -> None:
    texts: Any = {0: "".join(parts), 1: KEY + "tail"}
    left, events = dict(texts), []
    while any(left.values()):
        index = data.draw(st.sampled_from([i for i in left if left[i]]))
        size = data.draw(st.integers(1, len(left[index])))
        end = data.draw(st.sampled_from(["\n\n", "\r\n\r\n"]))
        events.append(delta(left[index][:size], index=index, end=end, escape=data.draw(st.booleans())))
        left[index] = left[index][size:]
    stream = b"".join([*events, DONE])
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=5))
    expected = {i: Scrubber(KEY).text(t) for i, t in texts.items() if t}
    assert read(scrub(stream, cuts)) == expected


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=4))
def test_what_holds_no_key_goes_out_byte_for_byte(stream: bytes, cuts: list[int]) -> None:
    assert scrub(stream, [min(cut, len(stream)) for cut in cuts]) == stream


def test_a_stream_without_the_key_goes_out_byte_for_byte() -> None:
    stream = (
        b": hello\n\n" + delta("s") + delta("k-") + delta("ip", end="\r\n\r\n") + b"event: x\ndata: s\n\n" + DONE
    )
    assert scrub(stream) == stream


@pytest.mark.parametrize("key", [None, "none"])
def test_without_a_key_nothing_waits(key: str | None) -> None:
    assert EventScrubber(Scrubber(key)).feed(b"data: s") == b"data: s"


def test_only_a_possible_beginning_of_the_key_waits() -> None:
    scrubber = EventScrubber(Scrubber(KEY))
    assert scrubber.feed(delta("hello")) == delta("hello")
    assert scrubber.feed(delta("so sk-")) == b""
    assert scrubber.feed(delta("1+")) == b""
    assert scrubber.feed(delta("!")) == delta("so sk-") + delta("1+") + delta("!")
    assert scrubber.feed(delta("a sk") + DONE) == delta("a sk") + DONE


def test_a_long_run_of_possible_beginnings_goes_out_as_it_comes() -> None:
    scrubber = EventScrubber(Scrubber(KEY))
    out = [scrubber.feed(delta("s")) for _ in range(50)]
    assert out == [b"", *[delta("s")] * 49]


def test_a_key_cut_over_the_arguments_of_a_tool_call_is_removed() -> None:
    stream = call(name="send", arguments="") + call(arguments="{sk-1+2") + call(arguments="/3 secret==}") + DONE
    assert read(scrub(stream)) == {0: f"send{{{MASK}}}"}


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"error": "\\u0073' + KEY[1:].encode() + b'"}\n\n',
        b"data: not json \\u0073" + KEY[1:].encode() + b"\n\n",
        b"data: not json " + KEY.encode() + b"\n\n",
        b'id: 1\r\ndata: {"a":\r\ndata: "' + KEY.replace("/", "\\/").encode() + b'"}\r\n\r\n',
        b'data: {"id": "\\u0073' + KEY[1:].encode() + b'", "id": "other"}\n\n',
        b'data: {"x": "' + KEY.encode(),
    ],
)
def test_a_key_anywhere_in_an_event_is_removed(event: bytes) -> None:
    out = scrub(event)
    assert b"secret" not in out
    assert out.startswith(b"data: ") or b"\ndata: " in out
