from agent_litmus.drill.table import outcomes, page


def line(name: str, verdict: str, fired: list[str], touched: int, kind: str = "saturated") -> dict[str, object]:
    return {
        "name": name, "kind": kind, "size": 24, "verdict": verdict, "fired": fired, "touched": touched,
        "reason": "a | b\nc", "seconds": 0.5,
    }  # fmt: skip


LINES = [
    line("honest", "PASS", [], 0),
    line("honest", "INDETERMINATE", ["delivery"], 0, "slow"),
    line("wrong-build", "INDETERMINATE", ["binding"], 1),
    line("context-leak", "PASS", [], 3),
    line("partial-05", "PASS", [], 1),
    line("partial-05", "INDETERMINATE", ["stale_tokens"], 2),
    line("partial-05", "PASS", [], 0),
    line("partial-25-unrecorded", "PASS", [], 2),
]


def test_a_page_counts_runs_detections_and_false_alarms() -> None:
    text = page(outcomes(LINES))
    assert (
        "| `wrong-build` | saturated | all | 1 | 1 | 100.0 % [2.5, 100.0] | 1 INDETERMINATE | binding 1 |" in text
    )
    assert "| `context-leak` | saturated | all | 1 | 0 | 0.0 % [0.0, 97.5] | 1 PASS | nothing |" in text
    assert "| **all** | 2 | 1 | 50.0 % [1.3, 98.7] |" in text


def test_rows_below_the_target_are_named_at_the_top() -> None:
    top = page(outcomes(LINES)).partition("## Faults")[0]
    assert "8 runs." in top
    assert "`context-leak`" in top
    assert "`wrong-build`" not in top


def test_partial_coupling_is_shown_by_the_sessions_it_touched() -> None:
    power = page(outcomes(LINES)).partition("## Partial coupling")[2]
    assert "| saturated | 1 | 1 | 0 |" in power
    assert "| saturated | 2 | 1 | 1 |" in power
    assert "| saturated, no history | 2 | 1 | 0 |" in power
    assert "| saturated | 0 |" not in power


def test_a_reason_stays_within_its_cell() -> None:
    assert "1 × a / b c |" in page(outcomes(LINES))
