"""Structure of the pictures: what must be in them, and what must not."""

import re
import sys
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

import pytest

from agent_litmus.errors import LitmusError
from agent_litmus.formats.charts import (
    CategoryRate,
    FrontierPoint,
    OutcomeSplit,
    Share,
    Standing,
    UtilityLoss,
    frontier_svg,
    heatmap_svg,
    ledger_svg,
    losses_svg,
)
from agent_litmus.formats.charts.text import safe_names
from agent_litmus.scoring.frontier import FrontierFloors

HOSTILE = '</text><script>alert(1)</script><a href="http://x.test">\x1b[31m\u202e\x00'
FLOORS = FrontierFloors(ir=0.9, u1=0.5)


def share(value: float) -> Share:
    return Share(value, max(0.0, value - 0.1), min(1.0, value + 0.1))


def frontier(names: Sequence[str], value: float = 0.7) -> str:
    kinds = list(Standing)
    points = [
        FrontierPoint(name, share(value), share(value * i / len(names)), share(0.95), kinds[i % 4])
        for i, name in enumerate(names)
    ]
    return frontier_svg(points, floors=FLOORS, delta=0.02)


def ledger(names: Sequence[str]) -> str:
    return ledger_svg([OutcomeSplit(name, 50 + i, 20, 10, 1, i) for i, name in enumerate(names)])


def losses(names: Sequence[str]) -> str:
    return losses_svg([UtilityLoss(name, 20, -10, i % 3, 100, i) for i, name in enumerate(names)])


def heatmap(names: Sequence[str]) -> str:
    return heatmap_svg(
        [CategoryRate(name, category, share(0.9), Share(None), 1) for name in names for category in ("x", HOSTILE)]
    )


CHARTS = pytest.mark.parametrize("chart", [frontier, ledger, losses, heatmap])
Chart = Callable[[Sequence[str]], str]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def about(svg: str) -> list[str]:
    """What screen readers are told of the marks."""
    return [element.get("aria-label", "") for element in ET.fromstring(svg).iter() if element.get("aria-label")]


@CHARTS
@pytest.mark.parametrize("count", [1, 30])
def test_every_agent_is_labelled(chart: Chart, count: int) -> None:
    names = [f"model-2024-05-13-with-a-rather-long-suffix-number-{i}" for i in range(count)]
    shown = texts(chart(names))
    assert all(name in shown for name in safe_names(names))


@CHARTS
def test_names_cannot_break_out_of_the_picture_or_bring_anything_along(chart: Chart) -> None:
    svg = chart([HOSTILE, "::error::x", "same", "same\n"])
    root = ET.fromstring(svg)
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "g", "rect", "path", "line", "text", "tspan", "defs"}
    assert not any(
        name.rpartition("}")[2] in {"href", "style"} or name.startswith("on") for name in _attributes(root)
    )
    assert "\x1b" not in svg
    assert "\u202e" not in svg
    assert not re.search(r"url\(|@import|@font-face", svg)
    outside = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)
    assert "http" not in re.sub(r">[^<]*<|aria-label=\"[^\"]*\"", "><", outside)
    shown = texts(svg)
    assert {"same", "same #2"} <= set(shown)
    assert not any(text.startswith("::") for text in shown)


def _attributes(root: ET.Element) -> list[str]:
    return [name for element in root.iter() for name in element.keys()]  # noqa: SIM118 -- an element is no mapping


@CHARTS
def test_fonts_are_the_readers_own(chart: Chart) -> None:
    fonts = {element.get("font-family") for element in ET.fromstring(chart(["a"])).iter()} - {None}
    assert fonts == {"sans-serif"}


@CHARTS
def test_the_same_data_give_the_same_picture(chart: Chart) -> None:
    assert chart(["a", "b"]) == chart(["a", "b"])


@CHARTS
def test_a_picture_of_nothing_is_refused(chart: Chart) -> None:
    with pytest.raises(LitmusError, match="nothing to draw"):
        chart([])


@CHARTS
def test_without_the_extra_the_remedy_is_named(chart: Chart, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, module, None)  # what an import finds when a package is not there
        with pytest.raises(LitmusError) as caught:
            chart(["a"])
        assert caught.value.slug == "charts-not-installed"
        assert caught.value.hint == "pip install 'agent-litmus[charts]'"
        monkeypatch.undo()


def test_few_agents_are_named_in_the_plot_and_many_are_numbered() -> None:
    few, many = texts(frontier(["a", "b"])), texts(frontier([f"agent {i}" for i in range(30)]))
    assert few.count("a") == 3  # in the table, and in the plot with its outline
    assert many.count("agent 7") == 1
    assert many.count("8") == 3


def test_an_agent_without_figures_is_in_the_table_and_not_in_the_plot() -> None:
    points = [
        FrontierPoint("seen", share(0.7), share(0.6), share(0.95), Standing.FRONTIER),
        FrontierPoint("empty", Share(None), Share(None), Share(None), Standing.UNDER_FLOOR),
    ]
    svg = frontier_svg(points, floors=FLOORS, delta=0.02)
    assert texts(svg).count("empty") == 1
    assert "not assessed" in texts(svg)
    assert texts(svg).count("–") == 3
    assert not any(label.startswith("empty") for label in about(svg))


def test_frontier_says_figures_intervals_floors_and_standing() -> None:
    points = [
        FrontierPoint("a", Share(0.7, 0.6, 0.8), Share(0.6), Share(0.5), Standing.UNDER_FLOOR),
        FrontierPoint("nothing", Share(0.0), Share(0.0), Share(1.0), Standing.TRIVIAL),
    ]
    svg = frontier_svg(points, floors=FLOORS, delta=0.02)
    assert "a: U1 70.0 % (60.0 to 80.0), SR 60.0 %, IR 50.0 %; under a floor" in about(svg)
    assert {"under a floor: IR", "trivial agent: U1", "U1 floor 50 %"} <= set(texts(svg))
    assert any("IR 90 %, U1 50 %" in text for text in _lines(svg))


def _lines(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_dashes_mark_intervals_on_too_few_clusters() -> None:
    def draw(*, underpowered: bool) -> str:
        weak = Share(0.5, 0.2, 0.8, underpowered)
        point = FrontierPoint("a", weak, Share(0.4), Share(1.0), Standing.FRONTIER)
        return frontier_svg([point], floors=FrontierFloors(), delta=0.0)

    assert 'stroke-dasharray="3,2"' in draw(underpowered=True)
    assert 'stroke-dasharray="3,2"' not in draw(underpowered=False)


@pytest.mark.parametrize("delta", [float("nan"), -0.1, 2.0])
def test_a_margin_out_of_range_is_refused(delta: float) -> None:
    with pytest.raises(LitmusError, match="margin"):
        frontier_svg(
            [FrontierPoint("a", share(0.5), share(0.5), share(0.5), Standing.FRONTIER)], floors=FLOORS, delta=delta
        )


def test_ledger_counts_every_pair_and_leaves_the_unassessed_beside_the_bar() -> None:
    svg = ledger_svg([OutcomeSplit("a", 900, 60, 38, 2, 7), OutcomeSplit("none", 0, 0, 0, 0, 3)])
    assert "a: hijacked 0.2 % (2 of 1000 pairs)" in about(svg)
    assert {"0.2 hijacked · 1000 pairs, 7 unassessed", "no assessed pair, 3 unassessed"} <= set(texts(svg))
    assert sum(label.startswith("a: ") for label in about(svg)) == 4
    assert not any(label.startswith("none: ") for label in about(svg))


def test_losses_go_right_and_gains_left_and_the_sum_is_said() -> None:
    svg = losses_svg(
        [UtilityLoss("a", 30, -10, 0, 100), UtilityLoss("even", 0, 0, 0, 5), UtilityLoss("b", 0, 0, 0, 0)]
    )
    assert {"+30.0", "−10.0", "sum +20.0 · 100 pairs", "sum 0 · 5 pairs", "no assessed pair"} <= set(texts(svg))
    bars = [e for e in ET.fromstring(svg).iter() if e.get("aria-roledescription") == "bar"]
    starts = {e.get("aria-label", ""): _left(e) for e in bars}
    assert (
        starts["a: failed -10 of 100 pairs (−10.0 points)"] < starts["a: refused +30 of 100 pairs (+30.0 points)"]
    )


def _left(bar: ET.Element) -> float:
    found = re.match(r"M([\d.]+)", bar.get("d", ""))
    assert found
    return float(found[1])


def test_heat_map_tells_nothing_assessed_from_zero_and_marks_partial_ones() -> None:
    rates = [
        CategoryRate("a", "x", Share(0.0), Share(None)),
        CategoryRate("a", "y", Share(0.997), Share(0.5), unassessed=2),
        CategoryRate("b", "x", Share(1.0), Share(1.0)),
    ]
    svg = heatmap_svg(rates)
    told = about(svg)
    assert {"a, x: IR 0 %", "a, x: SR nothing assessed", "a, y: IR 99.7 %, 2 unassessed"} <= set(told)
    assert "b, y: IR nothing assessed" in told
    assert {"0", "–", "99.7*", "100"} <= set(texts(svg))


def test_one_category_twice_is_refused() -> None:
    with pytest.raises(LitmusError, match="twice"):
        heatmap_svg([CategoryRate("a", "x", share(0.5), share(0.5))] * 2)
