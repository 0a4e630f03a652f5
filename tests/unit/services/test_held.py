"""Whether what came over a connection was text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.held import Held
from agent_litmus.services.outbound import BodySearch
from agent_litmus.services.recorder import TEXT_LIMIT


def held(*pieces: bytes) -> Held:
    found = Held(BodySearch(lambda text: ["key"] * ("SECRET" in text)))
    for piece in pieces:
        found.take(piece)
    return found


@pytest.mark.parametrize(
    ("pieces", "plain"),
    [
        ((b"SET k v\r\n",), True),
        (("h\u00e9".encode()[:2], "h\u00e9".encode()[2:]), True),
        ((b"\x1b[31mred\t",), True),
        ((), False),
        ((b"text", b"\x00"), False),
        ((b"text", b"\xff"), False),
        ((b"\x16\x03\x01",), False),
    ],
)
def test_text_is_told_from_what_may_be_encrypted(pieces: tuple[bytes, ...], plain: bool) -> None:
    assert held(*pieces).plain is plain


def test_the_beginning_is_kept_and_all_of_it_searched() -> None:
    found = held(b"a" * TEXT_LIMIT, b"SEC", b"RET")
    assert found.detail() == {"size": TEXT_LIMIT + 6, "head": "a" * TEXT_LIMIT, "plain": True, "carries": ["key"]}


@given(st.lists(st.binary(max_size=9)))
def test_how_it_is_cut_plays_no_part(pieces: list[bytes]) -> None:
    whole, parts = held(b"".join(pieces)), held(*pieces)
    assert (whole.detail(), whole.head) == (parts.detail(), parts.head)
