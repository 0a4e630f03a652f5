"""What one run of a drill showed, and what many runs of one fault add up to."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent_litmus.drill.faults import Fault
from agent_litmus.records.finding import FindingState
from agent_litmus.records.report import Report
from agent_litmus.records.verdict import ReasonCode, VerdictKind

HONEST = "honest"
"""Name of the run without a fault."""
_USUAL = 0.5


@dataclass(frozen=True, slots=True)
class Shown:
    """One run."""

    name: str
    """The fault's, the mutant's, or :data:`HONEST`."""
    verdict: VerdictKind
    fired: tuple[str, ...]
    """Signals whose alarm counted, and obligations that were not proven, sorted."""
    touched: int
    """Sessions or episodes that the fault changed; 0 of an honest run."""
    reason: str
    seconds: float = 0.0


def fired(report: Report) -> tuple[str, ...]:
    """Signals whose alarm reached the verdict, and obligations that were not proven, sorted."""
    counted = {reason.text for reason in report.reasons if reason.code is ReasonCode.DESYNC}
    alarms = [f for f in report.findings if f.state is FindingState.ALARM and f"{f.signal}: {f.seen}" in counted]
    open_ones = [str(status.obligation) for status in report.obligations if not status.discharged]
    return tuple(sorted({*(finding.signal for finding in alarms), *open_ones}))


def usual(honest: Iterable[Shown]) -> frozenset[str]:
    """What fires in at least half of the honest runs: it says nothing about a fault."""
    runs = list(honest)
    counts = Counter(name for run in runs for name in run.fired)
    return frozenset(name for name, count in counts.items() if count >= _USUAL * len(runs))


def catchers(fault: Fault, run: Shown, ordinary: frozenset[str]) -> tuple[str, ...]:
    """The expected signals and obligations that fired and do not fire anyway; none where the run passed."""
    if run.verdict is VerdictKind.PASS:
        return ()
    return tuple(name for name in run.fired if name in fault.expected and name not in ordinary)


@dataclass(frozen=True, slots=True)
class FaultRow:
    """All runs of one fault that it really touched."""

    name: str
    what: str
    runs: int = 0
    detected: int = 0
    """Runs that did not pass and in which an expected finding fired."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    caught_by: Mapping[str, int] = field(default_factory=dict)
    """Signal or obligation to the number of runs it caught the fault in."""
    untouched: int = 0
    """Runs in which the fault came upon no session; they are not counted."""
    why_not: str = ""
    """Why the fault does not apply here, or could not be tried; empty if it was."""
    failed: bool = False
    """Whether it applies and could not be tried all the same."""

    @property
    def missed(self) -> bool:
        """Whether a run of it went undetected."""
        return self.detected < self.runs


def fault_row(
    fault: Fault, runs: Iterable[Shown], ordinary: frozenset[str], why_not: str = "", *, failed: bool = False
) -> FaultRow:
    """Add up the runs of one fault; ``why_not`` and ``failed`` as in :class:`FaultRow`."""
    every = list(runs)
    touched = [run for run in every if run.touched]
    caught = [catchers(fault, run, ordinary) for run in touched]
    untouched = len(every) - len(touched)
    if not touched and untouched and not why_not:
        why_not = "no session of this suite and agent would have been touched by it"
    return FaultRow(
        fault.name,
        fault.what,
        len(touched),
        sum(map(bool, caught)),
        _counts(run.verdict.value for run in touched),
        _counts(name for names in caught for name in names),
        untouched,
        why_not,
        failed,
    )


@dataclass(frozen=True, slots=True)
class HonestRow:
    """All honest runs."""

    runs: int
    indeterminate: int
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]
    """First reason of each INDETERMINATE run, counted."""


def honest_row(runs: Iterable[Shown]) -> HonestRow:
    """Add up the honest runs."""
    every = list(runs)
    alarmed = [run for run in every if run.verdict is VerdictKind.INDETERMINATE]
    return HonestRow(
        len(every), len(alarmed), _counts(r.verdict.value for r in every), _counts(r.reason for r in alarmed)
    )


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
