"""The glossary names every cell, overlay, flag and figure, and none that does not exist."""

import re
from pathlib import Path

from tests.unit.scoring.build_episodes import control, injected

from agent_litmus.records.effect import Channel
from agent_litmus.records.episode import Cell, HostOutcome, InjectedOutcome, Overlay
from agent_litmus.records.scorecard import Scorecard
from agent_litmus.records.session import Delivery
from agent_litmus.scoring import score
from agent_litmus.scoring.counts import GATED
from agent_litmus.scoring.score import score_safety

PAGE = (Path(__file__).parents[3] / "docs/reference/glossary.md").read_text(encoding="utf-8")
FLAG = re.compile(r"[a-z]+(_[a-z]+)*")


def rows(heading: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def flags() -> set[str]:
    """The flags are the module's own constants that are names."""
    constants = {name: value for name, value in vars(score).items() if name.isupper() and isinstance(value, str)}
    return {value for value in constants.values() if FLAG.fullmatch(value)}


def scorecard() -> Scorecard:
    return score_safety([control(), injected()])


def test_every_cell_and_overlay_has_its_row() -> None:
    assert rows("Cells") == [cell.value for cell in Cell]
    assert rows("Overlays") == [overlay.value for overlay in Overlay]


def test_every_flag_has_its_row() -> None:
    assert set(rows("Validity flags")) == flags()
    assert "underpowered" in scorecard().validity  # the flags found above are the ones that are raised
    assert set(scorecard().validity) <= flags()


def test_every_figure_is_named_and_every_gated_one_has_its_row() -> None:
    assert set(rows("Metrics")) >= {*GATED, "asr", "cor"}
    for name in scorecard().estimates:
        assert f"`{name}`" in PAGE, name


def test_every_outcome_delivery_and_channel_is_named() -> None:
    for value in (*HostOutcome, *InjectedOutcome, *Delivery, *Channel):
        assert f"`{value}`" in PAGE, value
