import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.records.digest import digest_of, is_digest, sha256_of
from agent_litmus.services.request import CANONICAL_LIMIT, RefusedError, parse


def test_a_request_is_read_and_kept_as_bytes() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    request = parse(body)
    assert (request.body, request.model, request.text, request.why) == (body, "m", "hi", "")


def test_spacing_and_key_order_do_not_change_the_digest() -> None:
    assert parse(b'{"a":1,"model":"m"}').digest == parse(b'{ "model": "m", "a": 1 }').digest
    assert parse(b'{"a":1}').digest == digest_of({"a": 1})


def test_a_very_large_body_is_digested_as_it_is() -> None:
    body = b'{"x": "' + b"y" * CANONICAL_LIMIT + b'"}'
    assert parse(body).digest == sha256_of(body)


@pytest.mark.parametrize("body", [b'{"seed": 12345678901234567890}', b'{"x": "\\ud800"}'])
def test_json_without_a_canonical_form_is_still_a_request(body: bytes) -> None:
    request = parse(body)
    assert request.why == ""
    assert is_digest(request.digest)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "a", "model": "b"}',
        b'{"x": {"y": 1, "y": 2}}',
        b'{"x": NaN}',
        b'{"x": -Infinity}',
        b"[]",
        b'"x"',
        b"\xff",
    ],
)
def test_what_parsers_may_read_differently_is_refused(body: bytes) -> None:
    request = parse(body)
    assert request.why
    assert request.document == {}


@given(st.binary(max_size=200))
def test_any_bytes_have_a_digest(body: bytes) -> None:
    request = parse(body)
    assert is_digest(request.digest)
    assert bool(request.why) or isinstance(request.document, dict)


@pytest.mark.parametrize(("status", "kind"), [(404, "invalid_request_error"), (503, "server_error")])
def test_a_refusal_reads_like_an_error_of_the_upstream(status: int, kind: str) -> None:
    error = json.loads(RefusedError(status, "some_code", "What to do.").body)["error"]
    assert error == {"message": "What to do.", "type": kind, "param": None, "code": "some_code"}
