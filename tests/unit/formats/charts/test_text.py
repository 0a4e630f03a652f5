import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.formats.charts.text import MAX_COLUMNS, columns_of, percent, safe_name, safe_names


@given(st.text(max_size=200))
def test_names_fit_their_width_and_hide_nothing(name: str) -> None:
    shown = safe_name(name)
    assert 0 < columns_of(shown) <= MAX_COLUMNS
    assert all(unicodedata.category(char)[0] != "C" for char in shown)


@given(st.lists(st.sampled_from(["a", "a ", "a #2", "a\n", "b", "", " ", "x" * 90, "x" * 91]), max_size=12))
def test_every_agent_gets_a_name_of_its_own(names: list[str]) -> None:
    shown = safe_names(names)
    assert len(set(shown)) == len(shown) == len(names)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("", "(no name)"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("one\ntwo", "one two"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 3, "e\u0301\u0301\\u0301"),
    ],
)
def test_what_would_deceive_the_eye_becomes_visible(name: str, shown: str) -> None:
    assert safe_name(name) == shown


def test_long_names_keep_both_ends_as_variants_differ_there() -> None:
    shown = safe_name("model-2024-05-13-" + "x" * 60 + "-with-filter")
    assert shown.startswith("model-2024-05-13-")
    assert shown.endswith("-with-filter")
    assert columns_of(safe_name("混" * 60)) <= MAX_COLUMNS


@given(st.floats(0, 1))
def test_only_all_is_100_and_only_nothing_is_0(share: float) -> None:
    assert (percent(share) == "100") is (share == 1.0)
    assert (percent(share) == "0") is (share == 0.0)
    assert float(percent(share)) == pytest.approx(100 * share, abs=0.1001)


def test_a_figure_that_is_not_there_is_a_dash() -> None:
    assert percent(None) == "–"
