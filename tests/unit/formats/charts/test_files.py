from pathlib import Path

import pytest

from agent_litmus.errors import LitmusError
from agent_litmus.formats.charts import (
    CategoryRate,
    FrontierPoint,
    OutcomeSplit,
    Share,
    Standing,
    UtilityLoss,
    write_charts,
)
from agent_litmus.scoring.frontier import FrontierFloors

HALF = Share(0.5)
POINTS = [FrontierPoint("a", HALF, HALF, HALF, Standing.FRONTIER)]
RATES = [CategoryRate("a", "x", HALF, HALF)]


def test_each_chart_with_data_is_written(tmp_path: Path) -> None:
    written = write_charts(
        tmp_path / "new" / "é",
        points=POINTS,
        floors=FrontierFloors(),
        splits=[OutcomeSplit("a", 1, 1, 1, 1)],
        losses=[UtilityLoss("a", 1, 0, 0, 2)],
        rates=RATES,
    )
    assert [path.name for path in written] == ["frontier.svg", "ledger.svg", "losses.svg", "categories.svg"]
    assert sorted(path.name for path in (tmp_path / "new" / "é").iterdir()) == sorted(path.name for path in written)
    assert all(path.read_text().startswith("<svg") and path.read_text().endswith("</svg>\n") for path in written)


def test_charts_without_data_are_left_out(tmp_path: Path) -> None:
    assert write_charts(tmp_path, rates=RATES) == (tmp_path / "categories.svg",)


def test_nothing_is_written_if_one_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(LitmusError, match="twice"):
        write_charts(tmp_path / "out", points=POINTS, floors=FrontierFloors(), rates=RATES * 2)
    assert not list(tmp_path.iterdir())


def test_a_frontier_without_floors_and_no_data_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LitmusError, match="no floors"):
        write_charts(tmp_path, points=POINTS)
    with pytest.raises(LitmusError, match="nothing to draw"):
        write_charts(tmp_path)


def test_a_file_in_place_of_the_directory_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(LitmusError, match="taken: cannot be made"):
        write_charts(tmp_path / "taken", rates=RATES)
