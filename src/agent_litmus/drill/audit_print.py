"""An audit for people and for machines."""

from dataclasses import asdict
from typing import Any, TextIO

from agent_litmus.drill.audit import AuditOutcome
from agent_litmus.drill.audit_tests import ALPHA, LayerResult
from agent_litmus.formats.columns import columns
from agent_litmus.formats.hostile import one_line

_LISTED = 8
_ASKS = {
    "answers": "was the recorded answer the odd one out among itself and two fresh ones?",
    "effects": "was what the recorded session did?",
    "outcomes": "was its outcome: delivery, host task, injected task?",
    "rosier": "was the recorded outcome better than a fresh one?",
}


def audit_document(outcome: AuditOutcome, exit_code: int) -> dict[str, Any]:
    """The audit as a JSON document."""
    result = outcome.result
    return {
        "audit": result.state.name,
        "exit_code": exit_code,
        "seen": result.seen,
        "remedy": result.remedy,
        "tests": [asdict(layer) for layer in result.layers],
        "alpha": ALPHA,
        "detectable_share": result.detectable,
        "drawn": outcome.drawn,
        "episodes": outcome.episodes,
        "not_run": result.lost,
        "differing": list(result.differing),
        "report_digest": outcome.report_digest,
        "current_digest": outcome.current_digest,
        "imported": outcome.imported,
        "seed": outcome.seed,
    }


def print_audit(outcome: AuditOutcome, file: TextIO) -> None:
    """The tests, what the audit could have noticed, and its finding as the last line."""
    result = outcome.result
    file.writelines(line + "\n" for line in _lines(outcome))
    file.write(f"litmus: AUDIT {result.state.name}  {one_line(result.seen, 400)}\n")


def _lines(outcome: AuditOutcome) -> list[str]:
    result = outcome.result
    drawn = f"{outcome.drawn} of {outcome.episodes} episodes, drawn with --draw-seed {outcome.seed}"
    lines = [f"{drawn}, each run twice against build {outcome.current_digest}"]
    lines += columns((layer.name, _counts(layer)) for layer in result.layers)
    if result.layers:
        lines.append(_power(outcome))
    if outcome.imported:
        lines.append("imported episodes hold outcomes alone: another build with the same outcomes looks the same")
    if outcome.report_digest and outcome.report_digest != outcome.current_digest:
        lines.append(f"note: the report declares another build, {outcome.report_digest}")
    if result.lost:
        lines.append(f"note: fresh sessions of {result.lost} episodes could not be run; they count for nothing")
    if result.differing:
        shown = ", ".join(one_line(key) for key in result.differing[:_LISTED])
        more = f" and {len(result.differing) - _LISTED} more" if len(result.differing) > _LISTED else ""
        lines.append(f"recorded session the odd one in: {shown}{more}")
    if result.remedy:
        lines.append(f"next: {result.remedy}")
    return lines


def _counts(layer: LayerResult) -> str:
    said = "  ALARM" if layer.significant else ""
    ties = layer.triples - layer.against - layer.others
    counts = f"yes in {layer.against}, no in {layer.others}, no difference in {ties}; p = {layer.p_value:.3g}"
    return f"{_ASKS[layer.name]} {counts}{said}"


def _power(outcome: AuditOutcome) -> str:
    least = outcome.result.detectable
    if least is None:
        return "power: too few episodes to notice even a report that is foreign from end to end; raise -m"
    return (
        f"power: with this many episodes, a report of which {least:.0%} of the sessions are foreign is noticed "
        "with 95 % chance, where a foreign session is less like two fresh ones than they are like each other"
    )
