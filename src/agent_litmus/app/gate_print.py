"""A judged report for people and for machines."""

from typing import Any, TextIO

from agent_litmus.app.gate import GateOutcome
from agent_litmus.formats.hostile import one_line
from agent_litmus.formats.json_report import report_document
from agent_litmus.formats.terminal import last_line, print_summary
from agent_litmus.verdict.exit import EXIT_CODES

_LISTED = 12
_LEFT_OUT = ("episodes", "proofs", "basis")


def gate_document(outcome: GateOutcome) -> dict[str, Any]:
    """The judged report without its episodes, and what the gate adds."""
    whole = report_document(outcome.report)
    return {name: value for name, value in whole.items() if name not in _LEFT_OUT} | {
        "exit_code": EXIT_CODES[outcome.report.verdict],
        "recorded_verdict": outcome.recorded,
        "current_digest": outcome.current_digest,
        "changed_components": list(outcome.changed),
        "imported": outcome.imported,
        "rerun": outcome.rerun,
    }


def print_gate(outcome: GateOutcome, file: TextIO) -> None:
    """Summary, what changed, the command that makes the evidence again, and the verdict as the last line."""
    print_summary(outcome.report, file)
    file.writelines(line + "\n" for line in _lines(outcome))
    file.write(last_line(outcome.report) + "\n")


def _lines(outcome: GateOutcome) -> list[str]:
    lines = []
    if outcome.imported:
        lines.append("imported episodes: scored; nothing shows which build they are of, so they never pass")
    elif outcome.recorded is not None and outcome.recorded is not outcome.report.verdict:
        lines.append(f"the report itself says {outcome.recorded}; judged again it is {outcome.report.verdict}")
    if outcome.changed:
        shown = ", ".join(one_line(name) for name in outcome.changed[:_LISTED])
        more = f" and {len(outcome.changed) - _LISTED} more" if len(outcome.changed) > _LISTED else ""
        lines.append(f"changed since the report: {shown}{more}")
    told = outcome.current_digest is not None or outcome.imported
    if outcome.rerun and told:  # else the evidence may be good, and only the question was incomplete
        lines.append(f"run again: {outcome.rerun}")
    return lines
