import ipaddress
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services import dns
from agent_litmus.services.dns import Names, answer, parse_question

LABELS = st.lists(st.text("abcXYZ019-_", min_size=1, max_size=63), min_size=1, max_size=3)


def packet(
    labels: list[str], kind: int = 1, *, flags: int = 0x0100, questions: int = 1, rest: bytes = b""
) -> bytes:
    name = b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"
    return struct.pack("!6H", 0xABCD, flags, questions, 0, 0, 0) + name + struct.pack("!2H", kind, 1) + rest


@given(LABELS, st.integers(0, 65535), st.binary(max_size=20))
def test_a_query_is_read_whatever_follows_it(labels: list[str], kind: int, rest: bytes) -> None:
    question = parse_question(packet(labels, kind, rest=rest))
    assert question is not None
    assert (question.id, question.name, question.type) == (0xABCD, ".".join(labels), kind)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_ignored(data: bytes) -> None:
    question = parse_question(data)
    assert question is None or len(question.name) > 0


@given(LABELS, st.data())
def test_a_query_cut_short_is_ignored(labels: list[str], data: st.DataObject) -> None:
    whole = packet(labels)
    assert parse_question(whole[: data.draw(st.integers(0, len(whole) - 1))]) is None


def test_answers_and_packets_without_a_question_are_ignored() -> None:
    assert parse_question(packet(["a"], flags=0x8180)) is None
    assert parse_question(packet(["a"], questions=0)) is None
    assert parse_question(packet([])) is None


def test_too_long_a_name_is_ignored() -> None:
    assert parse_question(packet(["x" * 63] * 5)) is None


def test_bytes_beyond_ascii_are_escaped() -> None:
    question = parse_question(struct.pack("!6H", 1, 0, 1, 0, 0, 0) + b"\x02\xff\x1b\0" + struct.pack("!2H", 1, 1))
    assert question is not None
    assert question.name == "\\xff\x1b"


@given(LABELS)
def test_an_answer_repeats_the_question_and_carries_the_address(labels: list[str]) -> None:
    question = parse_question(packet(labels))
    assert question is not None
    reply = answer(question, ipaddress.IPv4Address("198.18.0.9"))
    assert struct.unpack_from("!6H", reply) == (0xABCD, 0x8180, 1, 1, 0, 0)
    assert reply[12:].startswith(question.wire)
    assert reply[-4:] == bytes([198, 18, 0, 9])


def test_a_query_for_another_type_has_no_answer() -> None:
    question = parse_question(packet(["a"], 28))
    assert question is not None
    assert question.type_name == "AAAA"
    assert len(answer(question, None)) == 12 + len(question.wire)


@given(st.lists(st.text(min_size=1), unique_by=lambda n: n.lower().rstrip(".")))
def test_names_and_addresses_belong_to_each_other(names: list[str]) -> None:
    book = Names()
    addresses = [book.address(name) for name in names]
    assert len(set(addresses)) == len(names)
    assert all(address in ipaddress.IPv4Network("198.18.0.0/15") for address in addresses)
    assert [book.name(str(address)) for address in addresses] == [name.lower().rstrip(".") for name in names]
    assert [book.address(name) for name in names] == addresses


def test_letter_case_and_a_final_dot_do_not_make_another_name() -> None:
    book = Names()
    assert book.address("A.test.") == book.address("a.TEST")


def test_an_address_never_given_out_stands_for_itself() -> None:
    assert Names().name("10.0.0.1") == "10.0.0.1"
    assert Names().name("::1") == "::1"


def test_more_names_than_addresses_share_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "_LAST", int(ipaddress.IPv4Address("198.18.0.3")))
    book = Names()
    addresses = [str(book.address(name)) for name in "abcda"]
    assert addresses == ["198.18.0.1", "198.18.0.2", "198.18.0.3", "198.18.0.3", "198.18.0.1"]
