"""The page about charts: its code runs, and its pictures are of today's program."""

import re
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from agent_litmus.records.scorecard import Scorecard, Tally
from agent_litmus.scoring.frontier import AgentTables, compare_agents
from agent_litmus.scoring.stats.table import ClusterTable

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/reference/charts.md"


def texts(path: Path) -> list[str]:
    """What the picture says, without its measures, which hang on the fonts of the machine that drew it."""
    elements = ET.parse(path).getroot().iter()
    return [text for e in elements for text in (e.get("aria-label"), (e.text or "").strip()) if text]


def test_pictures_of_the_page_say_what_the_program_draws_today(tmp_path: Path) -> None:
    draw: Any = runpy.run_path(str(ROOT / "scripts/chart_examples.py"))["draw"]
    drawn = draw(tmp_path)
    shown = re.findall(r"\((charts/\w+\.svg)\)", PAGE.read_text())
    assert [f"charts/{path.name}" for path in drawn] == shown
    for path in drawn:
        assert texts(path) == texts(PAGE.parent / "charts" / path.name)


def test_code_of_the_page_writes_the_charts_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = ClusterTable.from_counts(np.ones((6, 6)), np.ones((6, 6)), list("abcdef"), list("uvwxyz"))
    ledger = {"refused": 1.0, "failed": 0.0, "partial": 0.0, "pairs": 36.0}
    by_category = {"exfiltration": {"ir": Tally(30, 6, 0), "sr": Tally(20, 16, 0)}}
    card = Scorecard("", 36, 0, estimates={}, tallies={}, cells={}, by_category=by_category, ledger=ledger)
    names = {"frontier": compare_agents([AgentTables("a", table, table, table)]), "cards": {"a": card}}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), names)
    assert sorted(path.name for path in (tmp_path / "charts").iterdir()) == [
        "categories.svg",
        "frontier.svg",
        "losses.svg",
    ]
