"""The page on the history names what there is."""

from pathlib import Path

from agent_litmus.history.tables import METADATA, VERSION_TABLE

PAGE = Path(__file__).parents[3] / "docs/reference/history.md"


def test_the_page_names_every_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in (*METADATA.tables, VERSION_TABLE):
        assert f"`{name}`" in text, name
