import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.completion import Completion, MalformedError, StreamReader, request_text

CALL = {"id": "c1", "type": "function", "function": {"name": "send", "arguments": '{"to": "x"}'}}


def whole(*choices: dict[str, Any], **more: Any) -> Completion:
    completion = Completion()
    completion.add({"choices": list(choices), **more}, "message")
    return completion


def message(text: str | None = None, **more: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": "stop"}


def stream(*documents: Any, done: bool = True) -> bytes:
    events = [b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents]
    return b"".join(events) + (b"data: [DONE]\n\n" if done else b"")


def delta(index: int = 0, reason: str | None = None, **content: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": content, "finish_reason": reason}]}


def read(data: bytes) -> tuple[Completion, str]:
    reader = StreamReader()
    reader.feed(data)
    return reader.completion, reader.end()


def test_ids_and_times_do_not_change_the_digest() -> None:
    one = whole(message("hi"), id="a", created=1)
    two = whole(message("hi"), id="b", created=2, system_fingerprint="f")
    assert one.digest == two.digest


def test_tool_call_ids_do_not_change_the_digest_but_arguments_do() -> None:
    one = whole(message(tool_calls=[CALL]))
    two = whole(message(tool_calls=[CALL | {"id": "c2"}]))
    three = whole(message(tool_calls=[CALL | {"function": {"name": "send", "arguments": "{}"}}]))
    assert one.digest == two.digest != three.digest
    assert json.loads(one.text) == {"name": "send", "arguments": '{"to": "x"}'}


def test_text_in_parts_refusals_and_old_function_calls_count_as_generated() -> None:
    assert whole(message()).problem()
    parts = {"index": 0, "message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}
    assert whole(parts).text == "ab"
    assert whole(message(refusal="no")).text == "no"
    assert '"old"' in whole(message(function_call={"name": "old", "arguments": "{}"})).text


def test_several_choices_are_kept_in_order_of_their_index() -> None:
    completion = whole(message("second") | {"index": 1}, message("first"))
    assert completion.text == "first\nsecond"


@pytest.mark.parametrize(
    ("document", "tokens"),
    [({"usage": {"total_tokens": 7}}, 7), ({"usage": None}, 0), ({"usage": {"total_tokens": "7"}}, 0)],
)
def test_tokens_are_taken_where_they_are_a_number(document: dict[str, Any], tokens: int) -> None:
    assert whole(message("x"), **document).tokens == tokens


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


@given(st.lists(TEXT, min_size=1, max_size=5), st.data())
def test_a_stream_reads_the_same_however_it_is_cut(texts: list[str], data: st.DataObject) -> None:
    body = stream(*(delta(content=text) for text in texts), delta(reason="stop"))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    reader = StreamReader()
    for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        reader.feed(body[start:end])
    assert reader.end() == ""
    assert reader.completion.digest == whole(message("".join(texts))).digest


def test_streamed_tool_calls_are_put_together_by_index() -> None:
    first = {"index": 0, "id": "c1", "function": {"name": "send", "arguments": ""}}
    completion, problem = read(
        stream(
            delta(tool_calls=[first, {"index": 1, "function": {"name": "list", "arguments": "{}"}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '{"to": '}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '"x"}'}}]),
            delta(reason="tool_calls"),
        )
    )
    assert problem == ""
    assert [json.loads(line)["name"] for line in completion.text.split("\n")] == ["send", "list"]
    assert json.loads(completion.text.split("\n")[0])["arguments"] == '{"to": "x"}'


def test_comments_other_fields_and_carriage_returns_are_allowed() -> None:
    body = b": ping\r\nevent: message\r\n" + stream(delta(content="a", reason="stop")).replace(b"\n", b"\r\n")
    assert read(body)[0].text == "a"


@pytest.mark.parametrize("done", [True, False])
def test_a_finish_reason_or_done_ends_a_stream(*, done: bool) -> None:
    assert read(stream(delta(content="a", reason=None if done else "stop"), done=done))[1] == ""


def test_a_last_event_without_an_empty_line_counts() -> None:
    assert read(stream(delta(content="a", reason="stop"), done=False).rstrip(b"\n"))[0].text == "a"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "ended before"),
        (stream(delta(content="a"), done=False), "ended before"),
        (stream(), "no choices"),
        (stream(delta(reason="stop")), "neither text"),
        (stream({"usage": {"total_tokens": 3}, "choices": []}), "no choices"),
    ],
)
def test_an_incomplete_or_empty_stream_is_a_problem(body: bytes, why: str) -> None:
    assert why in read(body)[1]


@pytest.mark.parametrize(
    "body", [b"data: {\n\n", stream({"error": {"message": "x"}}), stream([1]), b"data: " + b"[" * 50_000 + b"\n\n"]
)
def test_a_malformed_stream_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedError):
        read(body)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_litmus.services.completion.LINE_LIMIT", 100)
    reader = StreamReader()
    reader.feed(b"x" * 60)
    with pytest.raises(MalformedError):
        reader.feed(b"x" * 60)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "tool_calls", "function", "index", "usage", "name"]),
            inner,
        )
    ),
    max_leaves=15,
)


@given(VALUES)
def test_any_json_is_read_or_refused_but_never_breaks_the_reader(value: Any) -> None:
    completion = Completion()
    try:
        completion.add(value, "message")
    except MalformedError:
        return
    assert bool(completion.digest) == completion.generated
    assert completion.problem() or completion.generated


@given(VALUES)
def test_any_request_has_a_text(value: Any) -> None:
    assert isinstance(request_text({"messages": value}), str)


def test_a_requests_text_holds_all_messages_and_earlier_tool_calls() -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "u"}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "result"},
    ]
    lines = request_text({"messages": messages}).split("\n")
    assert (lines[0], lines[1], lines[3]) == ("s", "u", "result")
    assert json.loads(lines[2]) == CALL


USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def test_the_upstreams_own_counts_are_kept_from_whole_answers_and_streams() -> None:
    streamed, why = read(stream(delta(content="hi"), delta(reason="stop") | {"usage": USAGE}))
    assert why == ""
    for completion in (whole(message("hi"), usage=USAGE), streamed):
        assert (completion.prompt_tokens, completion.completion_tokens, completion.tokens) == (11, 3, 14)


def test_a_stream_that_counts_as_it_goes_ends_with_its_largest_figure() -> None:
    events = [delta(content="a") | {"usage": {"prompt_tokens": 5, "completion_tokens": n}} for n in (1, 2)]
    streamed, _ = read(stream(*events, delta(reason="stop") | {"usage": None}))
    assert (streamed.prompt_tokens, streamed.completion_tokens) == (5, 2)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        {"prompt_tokens": "9"},
        {"prompt_tokens": True},
        {"prompt_tokens": -1},
        {"prompt_tokens": 2**53},
    ],
    ids=["null", "list", "empty", "text", "bool", "negative", "too-large"],
)
def test_what_is_no_count_is_not_said(usage: Any) -> None:
    assert whole(message("hi"), usage=usage).prompt_tokens is None
