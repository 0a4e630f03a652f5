"""Receipts of endpoints: what was signed is what is accepted, and nothing else is."""

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_litmus.receipts import DIGEST, MAC, NONCE, REPLICA, Receipt, check_receipt, receipt_headers

CALM = settings(deadline=None)
"""No clock: the machine may be busy."""

keys = st.binary(min_size=16, max_size=64)
lines = st.text(string.ascii_letters + string.digits + ":-._ ", max_size=80).map(str.strip)
named = lines.filter(bool)
bodies = st.binary(max_size=300)


@CALM
@given(keys, named, named, bodies, lines)
def test_what_an_endpoint_signs_is_accepted(key: bytes, digest: str, nonce: str, body: bytes, replica: str) -> None:
    headers = receipt_headers(key, digest, nonce, body, replica=replica)
    lower = {name.lower(): f" {value} " for name, value in headers.items()}
    assert check_receipt(key, lower, nonce, body) == Receipt(digest, nonce, replica, mac_valid=True, why="")


@CALM
@given(keys, named, named, bodies, lines, st.sampled_from([DIGEST, NONCE, REPLICA, MAC]), named)
def test_any_changed_header_is_refused(
    key: bytes, digest: str, nonce: str, body: bytes, replica: str, header: str, other: str
) -> None:
    headers = receipt_headers(key, digest, nonce, body, replica=replica)
    assume(headers.get(header) != other)
    receipt = check_receipt(key, headers | {header: other}, nonce, body)
    assert receipt.mac_valid is False
    assert receipt.why


@CALM
@given(keys, keys, named, named, bodies, bodies)
def test_another_key_body_or_nonce_is_refused(
    key: bytes, other: bytes, digest: str, nonce: str, body: bytes, changed: bytes
) -> None:
    headers = receipt_headers(key, digest, nonce, body)
    if other != key:
        assert check_receipt(other, headers, nonce, body).why == "the HMAC is wrong"
    if changed != body:
        assert check_receipt(key, headers, nonce, changed).mac_valid is False
    assert check_receipt(key, headers, f"{nonce}x", body).why == "the nonce of another request came back"
    assert check_receipt(key, headers, "", body).why


@CALM
@given(keys, named, named, named, bodies)
def test_no_text_slides_from_one_field_into_the_next(
    key: bytes, digest: str, nonce: str, replica: str, body: bytes
) -> None:
    headers = receipt_headers(key, digest, nonce, body, replica=replica)
    slid = headers | {DIGEST: digest + replica, REPLICA: ""}
    assert check_receipt(key, slid, nonce, body).mac_valid is False


@CALM
@given(named, named, bodies)
def test_without_a_key_a_receipt_is_the_endpoints_word(digest: str, nonce: str, body: bytes) -> None:
    headers = receipt_headers(None, digest, nonce, body)
    assert MAC not in headers
    assert check_receipt(None, headers, nonce, body) == Receipt(digest, nonce, "", mac_valid=None, why="")
    assert check_receipt(b"k" * 16, headers, nonce, body).why == "no HMAC was sent"


@CALM
@given(st.dictionaries(st.sampled_from([DIGEST, NONCE, REPLICA, MAC]), st.text(max_size=600)), bodies)
def test_hostile_headers_never_raise_and_never_pass(headers: dict[str, str], body: bytes) -> None:
    receipt = check_receipt(b"k" * 16, headers, "nonce", body)
    assert receipt.mac_valid is False
    assert receipt.why


@pytest.mark.parametrize("text", ["two\nlines", "é", "x" * 513, "\x1b[0m"], ids=["lines", "é", "long", "escape"])
@pytest.mark.parametrize("field", ["digest", "nonce", "replica"])
def test_texts_that_no_header_carries_whole_are_refused(field: str, text: str) -> None:
    fields = {"digest": "d", "nonce": "n", "replica": "r"} | {field: text}
    with pytest.raises(ValueError, match=field):
        receipt_headers(b"k" * 16, fields["digest"], fields["nonce"], b"", replica=fields["replica"])


def test_a_short_key_is_refused_on_both_sides() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        receipt_headers(b"short", "d", "n", b"")
    with pytest.raises(ValueError, match="16 bytes"):
        check_receipt(b"short", {DIGEST: "d", NONCE: "n"}, "n", b"")


def test_nothing_sent_is_said() -> None:
    assert check_receipt(None, {}, "n", b"").why == "no build digest was sent"
    assert check_receipt(None, {DIGEST: "d"}, "n", b"").why == "the nonce did not come back"
