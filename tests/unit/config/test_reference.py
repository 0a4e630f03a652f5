from pathlib import Path

from agent_litmus.config.reference import reference

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "configuration.md"


def test_the_reference_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: python -m agent_litmus.config.reference > " + PAGE.name
