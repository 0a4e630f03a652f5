import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.formats.columns import columns

ROWS = st.lists(st.tuples(st.text("abc_", min_size=1, max_size=15), st.text("xy ::", max_size=200)), min_size=1)


def test_texts_are_aligned_under_the_longest_name() -> None:
    assert list(columns([("open_files", "held"), ("environment", "held: by it"), ("net", "")])) == [
        "  open_files   held",
        "  environment  held: by it",
        "  net",
    ]


@pytest.mark.parametrize("width", [40, 80])
@given(rows=ROWS)
def test_nothing_is_wider_than_asked_and_what_goes_on_is_indented(width: int, rows: list[tuple[str, str]]) -> None:
    indent = 4 + max(len(name) for name, _ in rows)
    for line in columns(rows, width):
        assert len(line) <= width
        assert line.startswith("  ")
        assert line.startswith(" " * indent) or line[2] != " "


def test_where_there_is_no_terminal_nothing_is_broken() -> None:
    assert len(list(columns([("name", "word " * 300)]))) == 1
