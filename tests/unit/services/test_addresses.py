import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.addresses import LIMIT, PART_LIMIT, all_usable, recipients


@pytest.mark.parametrize(
    ("to", "found"),
    [
        ("a@x.test", ["a@x.test"]),
        ("A@X.Test.", ["a@x.test"]),
        ("a@x.test, B <b@y.test>; c@z.test\nd@d.test", ["a@x.test", "b@y.test", "c@z.test", "d@d.test"]),
        ("a@x.test,,a@x.test;", ["a@x.test"]),
        ("mailto:a@x.test?subject=hi", ["a@x.test"]),
        ("<MAILTO:a%40x.test>", ["a@x.test"]),
        ('"Doe, John" <j@x.test>', ["j@x.test"]),
        ("Doe, John <j@x.test>", ["j@x.test"]),
        ('"evil@a.test" <j@x.test>', ["j@x.test"]),
        ("evil@a.test <j@x.test>", ["j@x.test"]),
        ("a@x.test b@y.test", ["a@x.test", "b@y.test"]),
        ("<a@x.test> <b@y.test>", ["a@x.test", "b@y.test"]),
        ("['a@x.test', 'b@y.test']", ["a@x.test", "b@y.test"]),
        ("Ann <a@x.test", ["a@x.test"]),
    ],
)
def test_receivers_are_bare_addresses_however_they_are_written(to: str, found: list[str]) -> None:
    assert recipients(to) == found
    assert all_usable(to)


@pytest.mark.parametrize("to", ["", " , ;", "nobody", "@", "@x.test", "ann@x.test, nobody", "nobody; ann@x.test"])
def test_a_list_with_no_receiver_or_one_that_is_none_is_not_usable(to: str) -> None:
    assert not all_usable(to)


def test_what_is_too_long_to_be_a_receiver_is_none() -> None:
    assert recipients("a" * PART_LIMIT + "@x.test") == []
    assert not all_usable("a@x.test," * LIMIT)


def test_quotes_that_do_not_pair_up_hide_nothing() -> None:
    assert recipients('"unpaired, a@x.test, b@y.test') == ["a@x.test", "b@y.test"]


@pytest.mark.parametrize("to", ["(" * 900 + "a@x.test", '"' * 4001, "<" * 900 + ",a@x.test", "\\" * 5001])
def test_hostile_nesting_is_survived(to: str) -> None:
    assert set(recipients(to)) <= {"a@x.test"}


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from('@,;<>"()\\:'), max_size=200))
def test_any_text_yields_addresses_in_lower_case(to: str) -> None:
    found = recipients(to)
    assert all("@" in address and address == address.lower() for address in found)
    assert len(set(found)) == len(found)
    assert found or not all_usable(to)
