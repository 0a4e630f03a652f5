"""The summary of a run for a person at a terminal or in a CI log."""

from collections import Counter
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_litmus.formats.hostile import one_line
from agent_litmus.records.episode import Cell
from agent_litmus.records.finding import FindingState
from agent_litmus.records.report import EpisodeSection, Report
from agent_litmus.records.scorecard import Estimate
from agent_litmus.records.verdict import VerdictKind

_STYLE = {VerdictKind.PASS: "bold green", VerdictKind.FAIL: "bold red", VerdictKind.INDETERMINATE: "bold yellow"}
_METRICS = {
    "u0": "utility, no injection (U0)",
    "u1": "utility under injection (U1)",
    "ir": "injection resistance (IR)",
    "asr": "attack success (ASR)",
    "sr": "selective resistance (SR)",
    "cor": "contamination over-refusal (COR)",
}
_HARM = (Cell.HIJACKED, Cell.HIJACKED_HOST_DONE, Cell.BLOCKED_ATTEMPT, Cell.BLOCKED_HIJACK, Cell.DIRECT_HARM)
_LISTED = 8


def print_summary(report: Report, file: TextIO) -> None:
    """Print everything but the last line; in a log, lines are wider than a terminal's default."""
    console = Console(file=file, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = 140
    console.print(Group(*_parts(report)))


def last_line(report: Report) -> str:
    """The line that ends every run: ``litmus: VERDICT  reason``."""
    return f"litmus: {report.verdict}  {one_line(report.reason, 400)}"


def _parts(report: Report) -> Iterable[RenderableType]:
    yield Text(
        f"{one_line(report.agent.name)}  {report.agent.digest[:19]}…  suite {one_line(report.suite.id)} "
        f"{report.suite.version}  {report.plan.episodes} episodes, {report.counts.unassessed} unassessed, "
        f"provider {report.provider.name}"
    )
    yield _score_table(report)
    if any("underpowered" in report.score[key].method for key in _METRICS if key in report.score):
        yield Text("* underpowered: fewer than 5 host tasks or 5 injections, so the interval is wide", style="dim")
    yield _cells(report)
    yield from _harm(report.episodes)
    yield from _unassessed(report.episodes)
    yield _findings_table(report)
    yield from _obligations(report)
    yield from (Text(f"warning: {one_line(warning, 300)}", style="yellow") for warning in report.warnings)
    yield from _reasons(report)


def _score_table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("score", "value", "95 % interval", "n", "unassessed", "floor"):
        table.add_column(name, justify="left" if name == "score" else "right")
    for key, label in _METRICS.items():
        estimate = report.score.get(key)
        if estimate is not None:
            floor = report.policy.floors.get(key, report.policy.ceilings.get(key))
            table.add_row(label, *_figures(estimate), "" if floor is None else f"{floor:.2f}")
    return table


def _figures(estimate: Estimate) -> tuple[str, str, str, str]:
    value = "–" if estimate.value is None else f"{estimate.value:.3f}"
    known = estimate.low is not None and estimate.high is not None
    interval = f"{estimate.low:.3f} – {estimate.high:.3f}" if known else "–"
    if "underpowered" in estimate.method:
        interval += " *"
    return value, interval, str(estimate.n), str(estimate.unassessed)


def _cells(report: Report) -> Text:
    counts = sorted(report.counts.cells.items(), key=lambda item: -item[1])
    return Text("cells: " + ", ".join(f"{cell} {count}" for cell, count in counts if count))


def _harm(episodes: Iterable[EpisodeSection]) -> Iterable[Text]:
    harmful = [section for section in episodes if section.cell in _HARM]
    if not harmful:
        return
    yield Text(f"unsafe episodes ({len(harmful)}):", style="bold red")
    for section in harmful[:_LISTED]:
        checks = [c for c in section.evidence.forbidden_checks if c.state in {"met", "attempted"}]
        seen = "; ".join(f"{c.id} {c.why}" for c in checks)
        yield Text(f"  {section.episode.key}  {section.cell}  {one_line(seen)}")
    if len(harmful) > _LISTED:
        yield Text(f"  … and {len(harmful) - _LISTED} more in report.json")


def _unassessed(episodes: Iterable[EpisodeSection]) -> Iterable[Text]:
    whys = Counter(
        one_line(section.episode.host_why or section.episode.injected_why or section.evidence.answer_why, 120)
        for section in episodes
        if section.cell is Cell.UNASSESSED
    )
    if whys:
        yield Text(f"unassessed episodes ({whys.total()}), never counted as good:", style="bold yellow")
        yield from (Text(f"  {count} × {why or 'no reason recorded'}") for why, count in whys.most_common(_LISTED))


def _findings_table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("coupling", "state", "seen"):
        table.add_column(name, overflow="fold")
    for finding in report.findings:
        state = (
            f"{finding.state} ({finding.strength})" if finding.state is FindingState.ALARM else str(finding.state)
        )
        style = {"clear": "green", "alarm": "red", "not_applicable": "dim"}.get(finding.state, "yellow")
        table.add_row(finding.signal, Text(state, style=style), one_line(finding.seen, 240))
    return table


def _obligations(report: Report) -> Iterable[Text]:
    proven = [o for o in report.obligations if o.discharged]
    yield Text("proven: " + (", ".join(o.obligation for o in proven) or "nothing"))
    for status in report.obligations:
        if not status.discharged:
            yield Text(f"not proven: {status.obligation}; {one_line(status.remedy, 300)}", style="yellow")


def _reasons(report: Report) -> Iterable[Text]:
    yield Text("")
    for index, reason in enumerate(report.reasons):
        style = _STYLE[report.verdict] if index == 0 else ""
        yield Text(f"{reason.code}: {one_line(reason.text, 400)}", style=style)
        if reason.remedy:
            yield Text(f"  next: {one_line(reason.remedy, 400)}")
