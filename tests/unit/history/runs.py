"""Runs to remember, and strategies that make them."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from agent_litmus.records.episode import Cell
from agent_litmus.records.history import PriorDrill, PriorRun
from agent_litmus.records.scorecard import Estimate, Tally
from agent_litmus.records.verdict import ReasonCode, VerdictKind

SUITE = "sha256:" + "5" * 64
OTHER_SUITE = "sha256:" + "6" * 64
BUILD = "sha256:" + "a" * 64
OTHER_BUILD = "sha256:" + "b" * 64
DAY = 86_400.0

_PLAIN = PriorRun(
    run_id="run-1",
    at=1000.0,
    ref="main",
    protected=True,
    suite_digest=SUITE,
    agent_digest=BUILD,
    report_digest="sha256:" + "1" * 64,
    results_digest="sha256:" + "2" * 64,
    normalised_results_digest="sha256:" + "3" * 64,
    verdict=VerdictKind.PASS,
    reason="proven",
    episodes=60,
    tallies={"u0": Tally(20, 0, 0), "u1": Tally(30, 10, 0), "ir": Tally(39, 1, 0), "sr": Tally(30, 10, 0)},
    by_category={"exfiltration": {"ir": Tally(39, 1, 0), "sr": Tally(30, 10, 0)}},
    responses={"inbox/control/s0.0": "0123456789abcdef"},
    tokens=("89abcdef01234567",),
    calibration_median=0.25,
    tool_version="0.1.0",
    suite_id="office",
    agent="desk",
    reasons=("proven",),
    cells={Cell.BASELINE_SUCCESS: 20, Cell.HIJACKED: 1, Cell.SILENT_RESISTANCE: 30, Cell.CONTAMINATION_FAILURE: 9},
    estimates={"cor": Estimate(0.05, 0.0, 0.1, 40, 40, 0, "paired")},
)


def a_run(run_id: str = "run-1", **changed: Any) -> PriorRun:
    """A run that passed; a verdict brings its reason along."""
    codes = {VerdictKind.FAIL: ReasonCode.FLOOR_MISSED, VerdictKind.INDETERMINATE: ReasonCode.UNASSESSED}
    verdict = changed.get("verdict", VerdictKind.PASS)
    code = codes.get(verdict, ReasonCode.PROVEN).value
    return replace(_PLAIN, **{"run_id": run_id, "reason": code, "reasons": (code,)} | changed)


def a_drill(**changed: Any) -> PriorDrill:
    """A drill that missed nothing."""
    plain = PriorDrill("desk", SUITE, "0.1.0", faults=9, detected=9, honest=3, false_alarms=0, at=1000.0)
    return replace(plain, **changed)


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)
_COUNT = st.integers(0, 2**40)
_FIGURE = st.none() | st.floats(-1, 1)
_TALLIES = st.dictionaries(_TEXT, st.builds(Tally, _COUNT, _COUNT, _COUNT), max_size=3)
_FULL_TALLIES = st.dictionaries(_TEXT, st.builds(Tally, _COUNT, _COUNT, _COUNT), min_size=1, max_size=3)

prior_runs = st.builds(
    PriorRun,
    run_id=_TEXT.filter(bool),
    at=st.floats(0, 1e10),
    ref=_TEXT,
    protected=st.just(False),
    suite_digest=st.sampled_from([SUITE, OTHER_SUITE]),
    agent_digest=st.sampled_from([BUILD, OTHER_BUILD]),
    report_digest=_TEXT,
    results_digest=_TEXT,
    normalised_results_digest=_TEXT,
    verdict=st.sampled_from(VerdictKind),
    reason=_TEXT,
    episodes=_COUNT,
    tallies=_TALLIES,
    by_category=st.dictionaries(_TEXT, _FULL_TALLIES, max_size=3),
    responses=st.dictionaries(_TEXT, _TEXT, max_size=3),
    tokens=st.lists(_TEXT, max_size=3).map(tuple),
    calibration_median=st.none() | st.floats(0, 1e6),
    tool_version=_TEXT,
    suite_id=_TEXT,
    agent=_TEXT,
    reasons=st.lists(_TEXT, max_size=3).map(tuple),
    partial=st.booleans(),
    unassessed=_COUNT,
    cells=st.dictionaries(st.sampled_from(Cell), _COUNT, max_size=3),
    estimates=st.dictionaries(
        _TEXT, st.builds(Estimate, _FIGURE, _FIGURE, _FIGURE, _COUNT, _COUNT, _COUNT, _TEXT), max_size=2
    ),
)
"""Any run that scoring and judging could make, texts of any kind included."""
