import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.formats.hostile import one_line, visible


@given(st.text(max_size=300) | st.text(":#[ ae\n", max_size=60))
def test_nothing_invisible_is_left(text: str) -> None:
    shown = visible(text)
    assert all(char in "\n\t" or unicodedata.category(char)[0] != "C" for char in shown)
    assert "::" not in shown
    assert "##" not in shown
    assert "\n" not in one_line(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é", "plain é"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("::error::x", ": :error: :x"),
        (":::x", ": : :x"),
        ("a ##vso[x]", "a # #vso[x]"),
        ("##[error]x", "# #[error]x"),
        ("a\u202eb", "a\\u202eb"),
        ("\x00", "\\x00"),
    ],
)
def test_control_and_direction_characters_become_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_text_is_cut_and_says_by_how_much() -> None:
    assert visible("x" * 600, 100) == "x" * 100 + "… (+500 characters)"
