"""The summary of a run for a person at a terminal or in a CI log."""

from collections import Counter
from collections.abc import Iterable
from typing import TextIO

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_litmus.formats.console import console_on
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.proofs import proof_lines
from agent_litmus.formats.said_and_done import said_and_done
from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.records.episode import Cell, HostOutcome
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
    "dr": "direct resistance (DR)",
    "cor": "contamination over-refusal (COR)",
}
_LISTED = 8
_SILENT = frozenset({FindingState.MISSING, FindingState.UNDERPOWERED})
_SILENT_WORDS = tuple(f"{state}: " for state in _SILENT)
_NO_HOST = frozenset({Cell.DIRECT_REFUSAL, Cell.UNASSESSED})


def print_summary(report: Report, file: TextIO) -> None:
    """Print everything but the last line; in a log, lines are wider than a terminal's default."""
    console_on(file, 140).print(Group(*_parts(report)))


def last_line(report: Report) -> str:
    """The line that ends every run: ``litmus: VERDICT  reason``."""
    return f"litmus: {report.verdict}  {one_line(report.reason, 400)}"


def _parts(report: Report) -> Iterable[RenderableType]:
    yield Text(
        f"{one_line(report.agent.name)}  {one_line(report.agent.digest[:19])}…  suite "
        f"{one_line(report.suite.id)} {one_line(report.suite.version)}  {report.plan.episodes} episodes, "
        f"{report.counts.unassessed} unassessed, provider {one_line(report.provider.name)}"
    )
    yield _score_table(report)
    if any("underpowered" in report.score[key].method for key in _METRICS if key in report.score):
        yield Text("* underpowered: fewer than 5 host tasks or 5 injections, so the interval is wide", style="dim")
    yield _cells(report)
    yield from _harm(report.episodes)
    yield from _lost(report.episodes)
    yield from said_and_done(report)
    yield from _unassessed(report.episodes)
    yield from _failed_calls(report.episodes)
    yield from _refused_connections(report.episodes)
    yield _findings_table(report)
    yield from proof_lines(report)
    yield from _obligations(report)
    yield from _warnings(report)
    yield from _reasons(report)


def _score_table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("score", "value", "95 % interval", "n", "unassessed", "floor"):
        table.add_column(name, justify="left" if name == "score" else "right")
    for key, label in _METRICS.items():
        estimate = report.score.get(key)
        if estimate is not None and (estimate.eligible or key != "dr"):
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
    harmful = [section for section in episodes if section.cell.harmful]
    if not harmful:
        return
    yield Text(f"unsafe episodes ({len(harmful)}):", style="bold red")
    for section in harmful[:_LISTED]:
        checks = [c for c in section.evidence.forbidden_checks if c.state in {"met", "attempted"}]
        seen = "; ".join(f"{c.id} {c.why}" for c in checks)
        yield Text(f"  {one_line(str(section.episode.key))}  {section.cell}  {one_line(seen)}")
    if len(harmful) > _LISTED:
        yield Text(f"  … and {len(harmful) - _LISTED} more in report.json")


def _lost(episodes: Iterable[EpisodeSection]) -> Iterable[Text]:
    """Host tasks that were judged and not done, without harm: what counts against utility alone."""
    kept = {HostOutcome.COMPLETED, HostOutcome.UNASSESSED}
    lost = [s for s in episodes if s.episode.host not in kept and not s.cell.harmful and s.cell not in _NO_HOST]
    if not lost:
        return
    yield Text(f"host tasks not done ({len(lost)}):", style="bold")
    for section in lost[:_LISTED]:
        why = one_line(section.episode.host_why, 160)
        yield Text(f"  {one_line(str(section.episode.key))}  {section.cell}  {why}".rstrip())
    if len(lost) > _LISTED:
        yield Text(f"  … and {len(lost) - _LISTED} more in report.json")


def _unassessed(episodes: Iterable[EpisodeSection]) -> Iterable[Text]:
    """Why episodes were not assessed, commonest first, each with the last line of one's standard error."""
    groups: dict[str, list[EpisodeSection]] = {}
    for section in episodes:
        if section.cell is Cell.UNASSESSED:
            why = section.evidence.answer_why or section.episode.injected_why or section.episode.host_why
            groups.setdefault(one_line(why or "no reason recorded", 240), []).append(section)
    if not groups:
        return
    total = sum(map(len, groups.values()))
    yield Text(f"unassessed episodes ({total}), never counted as good:", style="bold yellow")
    for why, sections in sorted(groups.items(), key=lambda item: -len(item[1]))[:_LISTED]:
        yield Text(f"  {len(sections)} × {why}")
        said = next((s.evidence.stderr_tail.strip() for s in sections if s.evidence.stderr_tail.strip()), "")
        if said:
            yield Text(f"      on standard error: {one_line(said.splitlines()[-1], 200)}", style="dim")


def _failed_calls(episodes: Iterable[EpisodeSection]) -> Iterable[Text]:
    """Model calls that failed, whatever the agent made of it."""
    whys = Counter(one_line(call.error, 160) for s in episodes for call in s.evidence.model_calls if call.error)
    yield from (
        Text(f"model calls failed: {count} × {why}", style="yellow") for why, count in whys.most_common(_LISTED)
    )


def _refused_connections(episodes: Iterable[EpisodeSection]) -> Iterable[Text]:
    """Connections that nothing answered: the agent tried to reach a place that no check may be looking at."""
    places: Counter[str] = Counter()
    for section in episodes:
        effects = section.evidence.effects
        names = {e.detail.get("address"): e.detail.get("name") for e in effects if e.channel is Channel.DNS}
        places.update(
            {
                f"{names.get(e.detail.get('address'), e.detail.get('address'))}:{e.detail.get('port')}"
                for e in effects
                if e.channel is Channel.CONNECT
                and e.outcome is Outcome.ATTEMPTED
                and e.detail.get("family") in {"inet", "inet6"}
                and not e.detail.get("loopback")
                and e.detail.get("sent", True)
            }
        )
    yield from (
        Text(f"connections refused: {one_line(place)} in {count} sessions", style="yellow")
        for place, count in places.most_common(_LISTED)
    )


def _findings_table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("coupling", "state", "seen"):
        table.add_column(name, overflow="fold")
    for finding in report.findings:
        state = (
            f"{finding.state} ({finding.strength})" if finding.state is FindingState.ALARM else str(finding.state)
        )
        style = {"clear": "green", "alarm": "red", "not_applicable": "dim"}.get(finding.state, "yellow")
        table.add_row(one_line(finding.signal), Text(state, style=style), one_line(finding.seen, 240))
    return table


def _obligations(report: Report) -> Iterable[Text]:
    proven = [o.obligation for o in report.obligations if o.discharged]
    missing = [o.obligation for o in report.obligations if not o.discharged]
    yield Text("proven: " + (", ".join(proven) or "nothing"))
    if missing:
        yield Text("not proven: " + ", ".join(missing), style="yellow")


def _warnings(report: Report) -> Iterable[Text]:
    """Warnings that no reason says already; signals that had too little to go by are named together in one line."""
    said = " ".join(f"{reason.text} {reason.remedy}" for reason in report.reasons)
    silent = [f"{f.signal} ({f.state})" for f in report.findings if f.state in _SILENT]
    if silent:
        yield Text(f"signals with too little to go by: {one_line(', '.join(silent), 500)}", style="dim")
    for warning in report.warnings:
        if not warning.startswith(_SILENT_WORDS) and warning.partition(": ")[2].partition(": ")[2] not in said:
            yield Text(f"warning: {one_line(warning, 300)}", style="yellow")


def _reasons(report: Report) -> Iterable[Text]:
    """Every reason; where nothing could be assessed, the first one is the cause of all the others."""
    yield Text("")
    shown = report.reasons
    if report.counts.unassessed == report.counts.episodes:
        shown = report.reasons[:1]
    for index, reason in enumerate(shown):
        yield Text(
            f"{reason.code}: {one_line(reason.text, 400)}", style=_STYLE[report.verdict] if not index else ""
        )
        if reason.remedy:
            yield Text(f"  next: {one_line(reason.remedy, 400)}")
    if len(shown) < len(report.reasons):
        yield Text(
            f"({len(report.reasons) - len(shown)} more reasons follow from this one; report.json lists them)"
        )
