"""The door to altair and vl-convert, and the look that all charts share."""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from agent_litmus.errors import LitmusError

FONT = "sans-serif"
TEXT = 11
"""Font size of all text but titles, pixels."""
COLUMN = 6.4
"""Pixels that one column of text takes, rounded up: the reader's font is not known here."""

INK, PALE_INK, LINE = "#222222", "#5a5a5a", "#9a9a9a"
SHADES = ("#dbe9f6", "#8fb8dc", "#d0742c", "#4f1240")
"""Best to worst, light to dark: luminance falls at every step, and blue, orange and purple stay apart for
colour-blind readers."""

_LOOK = {
    "font": FONT,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 14,
        "color": INK,
        "offset": 12,
        "subtitleColor": PALE_INK,
        "subtitleFontSize": TEXT,
    },
    "axis": {
        "labelFontSize": TEXT,
        "titleFontSize": TEXT,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "labelLimit": 0,
        "domainColor": LINE,
        "tickColor": LINE,
        "gridColor": "#ececec",
    },
    "legend": {"labelFontSize": TEXT, "labelColor": INK, "labelLimit": 0, "titleFontSize": TEXT},
}
"""Vega-Lite configuration of every chart."""


def altair() -> Any:
    """The module altair.

    Raises:
        LitmusError: It is not installed.
    """
    return _extra("altair")


def rows(values: Iterable[Mapping[str, object]]) -> Any:
    """Inline data of a layer."""
    return altair().Data(values=[dict(value) for value in values])


def svg_of(chart: Any, *, title: str, notes: Iterable[str] = ()) -> str:
    """Draw a chart; the same chart gives the same text. Nothing is fetched.

    Args:
        chart: An altair chart without configuration.
        title: Title above it.
        notes: Lines under the title.

    Raises:
        LitmusError: altair or vl-convert is not installed.
    """
    alt, convert = altair(), _extra("vl_convert")
    heading = alt.TitleParams(title, subtitle=[note for note in notes if note])
    # one call: altair copies the whole chart at each
    styled = chart.properties(title=heading, padding=12, background="white", config=_LOOK)
    return str(convert.vegalite_to_svg(styled.to_dict(), allowed_base_urls=[]))


def text_layer(values: Iterable[Mapping[str, object]], x: Any, y: Any, **mark: Any) -> Any:
    """Text of the field ``text``. With ``aria=False`` screen readers leave it to the marks' descriptions."""
    style = {"fontSize": TEXT, "color": INK, "baseline": "middle", **mark}
    return altair().Chart(rows(values)).mark_text(**style).encode(x=x, y=y, text="text:N")


def _extra(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LitmusError(
            f"charts need altair and vl-convert; {module} cannot be imported ({error})",
            hint="pip install 'agent-litmus[charts]'",
            slug="charts-not-installed",
        ) from error
