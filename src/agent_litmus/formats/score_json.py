"""Figures as JSON: the shape that scripts read."""

import json
import math
from collections.abc import Mapping
from typing import Any

from agent_litmus.records.scorecard import Estimate


def figure(estimate: Estimate) -> dict[str, Any]:
    """A figure with its interval; shares, not percent."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "eligible": estimate.eligible,
        "unassessed": estimate.unassessed,
        "method": estimate.method,
    }


def figures(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    """Figures by name. ``unassessed`` carries its count beside its share."""
    found = {name: figure(estimate) for name, estimate in estimates.items()}
    if "unassessed" in found:
        found["unassessed"]["count"] = found["unassessed"]["unassessed"]
    return found


def text_of(document: Any) -> str:
    """Indented JSON; a number that is not finite is an error, never printed."""
    return json.dumps(_checked(document), indent=1, allow_nan=False) + "\n"


def _checked(value: Any) -> Any:
    assert not (isinstance(value, float) and not math.isfinite(value)), "figures are finite or null"
    return value
