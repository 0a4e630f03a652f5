"""A drill's result as a document and as a table."""

from dataclasses import asdict
from typing import Any, TextIO

from rich.text import Text

from agent_litmus.drill.campaign import DrillResult
from agent_litmus.drill.outcome import FaultRow
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.score_table import console_on, grid
from agent_litmus.scoring.stats.binomial import clopper_pearson


def drill_document(result: DrillResult) -> dict[str, Any]:
    """What ``--json`` prints and ``drill.json`` holds."""
    return {
        "schema_version": 1,
        "suite": {"id": result.suite_id, "digest": result.suite_digest},
        "agent": result.agent,
        "tool_version": result.tool_version,
        "provider": result.provider,
        "clean": result.clean,
        "unproven": result.unproven,
        "missed": list(result.missed),
        "faults": [{**asdict(row), "interval": list(_bounds(row.detected, row.runs))} for row in result.faults],
        "honest": {
            **asdict(result.honest),
            "interval": list(_bounds(result.honest.indeterminate, result.honest.runs)),
        },
        "mutants": [asdict(row) for row in result.mutants],
    }


def _bounds(good: int, n: int) -> tuple[float | None, float | None]:
    interval = clopper_pearson(good, n)
    return interval.low, interval.high


def share_with_interval(good: int, n: int) -> str:
    """``100.0 % [88, 100]``: a share and its exact 95 % interval, in percent."""
    low, high = _bounds(good, n)
    if low is None or high is None:
        return "–"
    return f"{100 * good / n:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def print_drill(result: DrillResult, file: TextIO) -> None:
    """Faults, honest runs and mutants as tables."""
    console = console_on(file)
    console.print(Text(f"{result.agent} on {result.suite_id}, provider {result.provider}"))
    console.print(grid(["fault", "verdicts", "caught by", "detected", "95 % exact"], map(_row, result.faults), 3))
    honest = result.honest
    alarms = share_with_interval(honest.indeterminate, honest.runs)
    verdicts = _counted(honest.verdicts)
    console.print(
        Text(f"honest  {_number(honest.runs, 'run')}: {verdicts}; false alarms {honest.indeterminate}, {alarms}"),
        soft_wrap=True,
    )
    for reason, count in honest.reasons.items():
        console.print(Text(f"  {count} x {one_line(reason, 300)}"), soft_wrap=True)
    if result.mutants:
        rows = [
            [m.name, " or ".join(m.expected), m.verdict, "as expected" if m.as_expected else "NOT AS EXPECTED"]
            for m in result.mutants
        ]
        console.print(grid(["mutant", "expected", "verdict", ""], rows, 4))


def _row(row: FaultRow) -> list[str]:
    if row.why_not:
        return [row.name, "not applicable", row.why_not, "–", "–"]
    caught = ", ".join(sorted(row.caught_by, key=lambda name: -row.caught_by[name])) or "NOTHING"
    detected = f"{row.detected}/{row.runs}"
    return [row.name, _counted(row.verdicts), caught, detected, share_with_interval(row.detected, row.runs)]


def _counted(counts: Any) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def last_line(result: DrillResult) -> str:
    """The sentence that ends the output."""
    if result.unproven:
        return f"litmus: UNPROVEN  {one_line(result.unproven, 500)}"
    problems = [f"undetected: {', '.join(result.missed)}"] if result.missed else []
    if result.honest.indeterminate:
        problems.append(f"{_number(result.honest.indeterminate, 'honest run')} alarmed")
    if problems:
        return f"litmus: NOT IMMUNE  {'; '.join(problems)}"
    tried = sum(bool(row.runs) for row in result.faults)
    return f"litmus: IMMUNE  {_number(tried, 'fault')} caught in every run, no honest run alarmed"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
