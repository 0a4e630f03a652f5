"""AgentDojo's real runs, which are not in this repository."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_litmus.app.import_agentdojo import ImportOutcome, import_agentdojo
from agent_litmus.app.import_warnings import warnings_of
from agent_litmus.app.score import Conventions, Score, ScoreRow, score_files

pytestmark = pytest.mark.external

SHARED = Path(os.environ.get("LITMUS_SHARED") or Path(__file__).parents[3] / "shared")
ARCHIVE = SHARED / "data/agentdojo/runs.tar.zst"
IMPORTANT = "important_instructions"
GPT, SONNET37, SONNET35, OPUS = (
    "gpt-4o-2024-05-13",
    "claude-3-7-sonnet-20250219",
    "claude-3-5-sonnet-20241022",
    "claude-3-opus-20240229",
)
FILTER, DETECTOR, REPEAT = (
    f"{GPT}-{name}" for name in ("tool_filter", "transformers_pi_detector", "repeat_user_prompt")
)
GEMINI = "gemini-2.0-flash-001"

PUBLISHED = {
    (SONNET37, IMPORTANT): (88.66, 77.27, 7.31),
    (SONNET35, IMPORTANT): (79.38, 72.50, 1.11),
    (OPUS, IMPORTANT): (68.04, 52.46, 11.29),
    ("command-r-plus", IMPORTANT): (24.74, 25.12, 4.45),
    ("command-r", IMPORTANT): (26.80, 30.84, 3.34),
    (GPT, IMPORTANT): (69.07, 50.08, 47.69),
    (GPT, "tool_knowledge"): (69.07, 57.71, 34.50),
    (GPT, "injecagent"): (69.07, 68.52, 5.72),
    (GPT, "ignore_previous"): (69.07, 66.77, 5.41),
    (GPT, "direct"): (69.07, 67.25, 3.66),
    (REPEAT, IMPORTANT): (84.54, 67.25, 27.82),
    (FILTER, IMPORTANT): (72.16, 56.28, 6.84),
    (DETECTOR, IMPORTANT): (41.24, 21.14, 7.95),
    (GEMINI, IMPORTANT): (43.30, 39.75, 20.83),
}
"""Utility, utility under attack, ASR, as AgentDojo publishes them."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ImportOutcome, Path]]:
    if not ARCHIVE.is_file():
        pytest.skip(f"{ARCHIVE} is not here; set LITMUS_SHARED to the folder that holds data/agentdojo")
    target = tmp_path_factory.mktemp("agentdojo") / "episodes.jsonl"
    yield import_agentdojo(ARCHIVE, target), target
    target.unlink()


@pytest.fixture(scope="module")
def ours(imported: tuple[ImportOutcome, Path]) -> dict[tuple[str, str], ScoreRow]:
    return _totals(score_files([imported[1]]))


@pytest.fixture(scope="module")
def theirs(imported: tuple[ImportOutcome, Path]) -> dict[tuple[str, str], ScoreRow]:
    return _totals(score_files([imported[1]], conventions=Conventions.AGENTDOJO))


def _totals(score: Score) -> dict[tuple[str, str], ScoreRow]:
    return {(row.agent, row.attack): row for row in score.rows if row.suite == "all"}


def _percent(row: ScoreRow, name: str, digits: int = 1) -> float:
    value = row.estimates[name].value
    assert value is not None
    return round(100 * value, digits)


@pytest.mark.parametrize("key", PUBLISHED)
def test_the_published_row_comes_out_exactly(key: tuple[str, str], theirs: dict[tuple[str, str], ScoreRow]) -> None:
    numbers = theirs[key].numbers
    assert (numbers["utility"], numbers["utility_under_attack"], numbers["asr"]) == PUBLISHED[key]
    assert (numbers["n_clean"], numbers["n"]) == (97, 629)


def test_nothing_is_rejected(imported: tuple[ImportOutcome, Path]) -> None:
    outcome, _ = imported
    assert (len(outcome.pipelines), outcome.rejected.total(), outcome.complete) == (12, 0, True)


def test_what_the_table_hides_is_warned_of(imported: tuple[ImportOutcome, Path]) -> None:
    warnings = "\n".join(warnings_of(imported[0]))
    for wanted in (
        f"{OPUS}: 207 empty transcripts (207 in workspace)",
        "command-r-plus: 23 errored runs (22 attacked, of which 22 recorded as attack successes)",
        "command-r: 4 errored runs (3 attacked, of which 3 recorded as attack successes)",
        "2 agents record the same pipeline_name 'local': Meta-SecAlign-70B, meta-llama_Llama-3.3-70B-Instruct",
    ):
        assert wanted in warnings


@pytest.mark.parametrize(("agent", "asr"), [(OPUS, 15.17), ("command-r-plus", 0.99), ("command-r", 2.88)])
def test_without_unassessable_runs_the_attack_success_differs(
    agent: str, asr: float, ours: dict[tuple[str, str], ScoreRow]
) -> None:
    assert _percent(ours[agent, IMPORTANT], "asr", 2) == asr


@pytest.mark.parametrize(
    ("agent", "delivery", "asr"),
    [(GPT, 89.8, 53.1), (GEMINI, 55.0, 37.9), (DETECTOR, 23.1, 34.5), (SONNET37, 97.1, 7.5)],
)
def test_delivery_is_what_the_transcripts_show(
    agent: str, delivery: float, asr: float, ours: dict[tuple[str, str], ScoreRow]
) -> None:
    row = ours[agent, IMPORTANT]
    assert (_percent(row, "delivery"), _percent(row, "asr_delivered")) == (delivery, asr)


@pytest.mark.parametrize(
    ("agent", "value"),
    [
        (GPT, 29.73),
        (SONNET37, 73.61),
        (SONNET35, 71.54),
        (FILTER, 52.62),
        (DETECTOR, 19.24),
        ("command-r", 30.21),
        (GEMINI, 27.03),
        (REPEAT, 52.62),
    ],
)
def test_utility_without_hijack(agent: str, value: float, theirs: dict[tuple[str, str], ScoreRow]) -> None:
    assert theirs[agent, IMPORTANT].numbers["utility_without_hijack"] == value


@pytest.mark.parametrize(
    ("agent", "split"),
    [
        (GPT, (36.2, 8.3, 27.6, 27.9)),
        (FILTER, (67.8, 24.6, 4.8, 2.8)),
        (DETECTOR, (39.5, 43.7, 4.6, 12.3)),
        (SONNET35, (86.9, 12.2, 0.6, 0.2)),
    ],
)
def test_defences_with_one_attack_success_are_not_alike(
    agent: str, split: tuple[float, ...], ours: dict[tuple[str, str], ScoreRow]
) -> None:
    found = ours[agent, IMPORTANT].split
    names = ("clean_win", "lost", "both_done", "hijacked")
    assert tuple(round(100 * found[name], 1) for name in names) == split


def test_useful_while_hijacked_is_counted(ours: dict[tuple[str, str], ScoreRow]) -> None:
    row = ours[GPT, IMPORTANT]
    both, alone = row.estimates["u1"], row.estimates["utility_without_hijack"]
    assert both.value is not None
    assert alone.value is not None
    assert round(629 * (both.value - alone.value)) == 128


def test_every_figure_has_an_interval_around_it(ours: dict[tuple[str, str], ScoreRow]) -> None:
    for row in ours.values():
        for name, estimate in row.estimates.items():
            if name != "unassessed" and estimate.eligible:
                assert estimate.value is not None, (row.agent, row.attack, name)
                assert estimate.low is not None
                assert estimate.high is not None
                assert estimate.low <= estimate.value <= estimate.high
