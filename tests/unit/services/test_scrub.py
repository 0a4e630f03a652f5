import base64
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.scrub import MASK, Scrubber, StreamScrubber

KEY = "sk-1+2/3 secret=="
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)


@pytest.mark.parametrize("form", [KEY, quote(KEY, safe=""), quote_plus(KEY), KEY.encode().hex()])
def test_the_key_is_removed_plain_and_encoded(form: str) -> None:
    scrubbed = Scrubber(KEY).text(f"<{form}>")
    assert "secret" not in scrubbed
    assert form not in scrubbed


@given(KEYS, st.binary(max_size=8), st.binary(max_size=8))
def test_no_base64_text_that_holds_the_key_survives(key: str, before: bytes, after: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + key.encode() + after)
        scrubbed = Scrubber(key).data(encoded)
        assert MASK.encode() in scrubbed


@pytest.mark.parametrize("key", [None, "", "none", "EMPTY"])
def test_placeholder_keys_remove_nothing(key: str | None) -> None:
    assert Scrubber(key).text("none of it is EMPTY") == "none of it is EMPTY"


@given(st.lists(st.sampled_from([KEY, KEY[:5], KEY[3:], "x", "\n", KEY[:-1]]), max_size=8), st.data())
def test_a_scrubbed_stream_equals_the_scrubbed_whole(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    scrubber = StreamScrubber(Scrubber(KEY))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    streamed = b"".join(scrubber.feed(piece) for piece in pieces) + scrubber.end()
    assert KEY.encode() not in streamed
    assert streamed == Scrubber(KEY).data(whole)


def test_only_a_possible_beginning_of_the_key_is_held_back() -> None:
    scrubber = StreamScrubber(Scrubber(KEY))
    assert scrubber.feed(b"data: hello\n\n") == b"data: hello\n\n"
    assert scrubber.feed(b"data: " + KEY[:4].encode()) == b"data: "
    assert scrubber.feed(b"!") == KEY[:4].encode() + b"!"
