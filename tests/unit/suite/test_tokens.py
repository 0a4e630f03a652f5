"""Session tokens."""

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import TokenAlphabet
from agent_litmus.suite.tokens import Minter, pattern, space, words

WORDS, DIGITS, HEX = TokenAlphabet.WORDS, TokenAlphabet.DIGITS, TokenAlphabet.HEX


def test_the_words_are_many_short_and_different() -> None:
    assert len(words()) >= 200
    assert len(set(words())) == len(words())
    assert all(word.isupper() and word.isalpha() and 3 <= len(word) <= 5 for word in words())


def test_tokens_of_a_seed_never_change_between_versions() -> None:
    assert Minter(7).mint("code", WORDS, 2) == ("MAP-91", "KEY-58")
    assert Minter(7).mint("code", DIGITS, 1) == ("49024621",)
    assert Minter(7).mint("code", HEX, 1) == ("1a7bd310e58a8d75fbd55c65bc4df56d",)


def test_a_second_draw_goes_on_where_the_first_ended() -> None:
    once, twice = Minter(1), Minter(1)
    assert once.mint("a", WORDS, 6) == twice.mint("a", WORDS, 2) + twice.mint("a", WORDS, 4)


def test_slots_of_one_alphabet_never_share_a_token() -> None:
    minter = Minter(3)
    half = space(WORDS) // 2
    assert not set(minter.mint("a", WORDS, half)) & set(minter.mint("b", WORDS, half))


def test_the_whole_space_can_be_drawn_and_no_more() -> None:
    minter = Minter(0)
    assert len(set(minter.mint("a", WORDS, space(WORDS)))) == space(WORDS)
    with pytest.raises(LitmusConfigError, match="'digits' or 'hex'"):
        minter.mint("a", WORDS, 1)


def test_a_refused_draw_changes_nothing() -> None:
    minter = Minter(0)
    with pytest.raises(LitmusConfigError):
        minter.mint("a", WORDS, space(WORDS) + 1)
    assert minter.mint("a", WORDS, 3) == Minter(0).mint("a", WORDS, 3)


def test_other_seeds_and_slots_give_other_tokens() -> None:
    assert Minter(1).mint("a", HEX, 1) != Minter(2).mint("a", HEX, 1)
    assert Minter(1).mint("a", HEX, 1) != Minter(1).mint("b", HEX, 1)


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        Minter(0).mint("a", WORDS, -1)


@pytest.mark.parametrize(
    ("text", "alphabet", "found"),
    [
        ("the code is OAK-11.", WORDS, ["OAK-11"]),
        ("(OAK-11,OAK-12)_OAK-13_", WORDS, ["OAK-11", "OAK-12", "OAK-13"]),
        ("UTF-16 ISO-88 oak-11 OAK-1 OAK-111 OAK-01 SOAK-11x XOAK-11", WORDS, []),
        ("id 12345678!", DIGITS, ["12345678"]),
        ("123456789 02345678 a12345678", DIGITS, []),
        ("0123456789abcdef0123456789abcdef", HEX, ["0123456789abcdef0123456789abcdef"]),
        ("0123456789abcdef0123456789abcdef0", HEX, []),
    ],
)
def test_only_whole_well_formed_tokens_are_found(text: str, alphabet: TokenAlphabet, found: list[str]) -> None:
    assert pattern(alphabet).findall(text) == found
