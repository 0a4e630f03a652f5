import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.scrub import MASK, Scrubber

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


def test_several_keys_are_removed_and_those_that_are_none_ignored() -> None:
    assert Scrubber(None, KEY, "none", "another-key").text(f"{KEY} and another-key") == f"{MASK} and {MASK}"


@pytest.mark.parametrize("key", [None, "", "none", "EMPTY"])
def test_placeholder_keys_remove_nothing(key: str | None) -> None:
    assert Scrubber(key).text("none of it is EMPTY") == "none of it is EMPTY"


@given(st.lists(st.sampled_from([KEY, KEY[:5], KEY[3:], "x", "\n", KEY.encode().hex()]), max_size=8))
def test_the_places_of_the_key_are_those_that_are_masked(parts: list[str]) -> None:
    text, scrubber = "".join(parts), Scrubber(KEY)
    at, out = 0, ""
    for begin, end in scrubber.spans(text):
        out += text[at:begin] + MASK
        at = end
    assert out + text[at:] == scrubber.text(text)


@given(KEYS, st.data())
def test_a_key_behind_needless_escapes_is_noticed(key: str, data: st.DataObject) -> None:
    shown = "".join(f"\\u{ord(c):04x}" if data.draw(st.booleans()) else json.dumps(c)[1:-1] for c in key)
    assert Scrubber(key).hidden_in(f"\\n{shown}".encode())


@pytest.mark.parametrize("text", ["", "nothing here", "a \\n \\u0041 \\\\u0073"])
def test_what_holds_no_key_hides_none(text: str) -> None:
    assert not Scrubber(KEY).hidden_in(text.encode())


def test_a_slash_may_be_escaped_too() -> None:
    assert Scrubber(KEY).hidden_in(KEY.replace("/", "\\/").encode())
