"""What a run proved beside its episodes, in a few lines: leak pairs, calibration, earlier tries counted in."""

from collections.abc import Iterable
from statistics import median

from rich.text import Text

from agent_litmus.formats.hostile import one_line
from agent_litmus.records.report import Report

_LISTED = 5


def proof_lines(report: Report) -> Iterable[Text]:
    """The lines; none for what a run was not asked to do."""
    yield from _leak_pairs(report)
    yield from _calibration(report)
    if report.pooled:
        shown = ", ".join(one_line(run) for run in report.pooled[:_LISTED])
        more = f" and {len(report.pooled) - _LISTED} more" if len(report.pooled) > _LISTED else ""
        yield Text(f"earlier tries of this build counted in: {shown}{more}", style="yellow")


def _leak_pairs(report: Report) -> Iterable[Text]:
    pairs, planned = report.proofs.leak_pairs, report.proofs.leak_pairs_planned
    if pairs is None:
        return
    leaked = [pair for pair in pairs if pair.leaked]
    asked = sum(pair.asked for pair in pairs)
    text = f"leak pairs: {asked} of {planned} planned were asked, {len(leaked)} gave another session's token away"
    yield Text(text, style="bold red" if leaked else "yellow" if asked < planned else "")
    yield from (Text(f"  {one_line(str(pair.planted))}") for pair in leaked[:_LISTED])


def _calibration(report: Report) -> Iterable[Text]:
    calls = report.proofs.calibration
    if not calls:
        return
    good = [call.duration for call in calls if not call.error and 200 <= call.status < 300]
    told = f", median {median(good) * 1000:.0f} ms" if good else ""
    failed = len(calls) - len(good)
    text = f"calibration: {len(calls)} model calls past the gateway, {failed} failed{told}"
    yield Text(text, style="yellow" if failed else "")
