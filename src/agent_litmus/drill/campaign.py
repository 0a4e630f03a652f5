"""A drill: honest runs, mutants and faults on one configuration, interleaved, and what they add up to."""

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_litmus import __version__
from agent_litmus.app.seams import HONEST as NOTHING_BETWEEN
from agent_litmus.drill.around import Touch
from agent_litmus.drill.bench import Workbench
from agent_litmus.drill.faults import ALL, FAULTS, Fault
from agent_litmus.drill.mutants import MUTANTS, ORACLE, Mutant, mutant_bench
from agent_litmus.drill.outcome import HONEST, FaultRow, HonestRow, Shown, fault_row, fired, honest_row, usual
from agent_litmus.drill.scene import Scene
from agent_litmus.errors import LitmusConfigError, LitmusError
from agent_litmus.records.config import Config
from agent_litmus.records.report import Report
from agent_litmus.sandbox.remove import discard

_DEFAULT_PARTIAL = "partial-25"
_THROWS = 5

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DrillOptions:
    """What is drilled."""

    runs: int = 3
    """Runs of every fault, and honest runs."""
    faults: tuple[str, ...] = ()
    """Names of the faults; none: all of them."""
    quick: bool = False
    """Whether the suite's oracles stand in for the agent, so that a run takes a second or two."""
    mutants: bool = True
    """Whether mutants are run too."""


@dataclass(frozen=True, slots=True)
class MutantRow:
    """One mutant's run."""

    name: str
    what: str
    expected: tuple[str, ...]
    verdict: str
    as_expected: bool
    reason: str


@dataclass(frozen=True, slots=True)
class DrillResult:
    """What a drill found."""

    suite_id: str
    suite_digest: str
    agent: str
    """Name of what was drilled: the agent, or its stand-in."""
    tool_version: str
    provider: str
    faults: tuple[FaultRow, ...]
    honest: HonestRow
    mutants: tuple[MutantRow, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """Faults with an undetected run, and mutants with another verdict than expected."""
        return (
            *(row.name for row in self.faults if row.missed),
            *(row.name for row in self.mutants if not row.as_expected),
        )

    @property
    def unproven(self) -> str:
        """Why this drill shows nothing; empty if it shows something."""
        if self.honest.runs and self.honest.indeterminate == self.honest.runs:
            reason = next(iter(self.honest.reasons), "")
            return f"honest runs are INDETERMINATE themselves: {reason}; `litmus check` says what is in the way"
        broken = [f"{row.name} {row.why_not}" for row in self.faults if row.failed]
        if broken:
            return "; ".join(broken)
        if not any(row.runs for row in self.faults):
            return "no fault could be tried on this configuration"
        return ""

    @property
    def clean(self) -> bool:
        """Whether every fault was caught in every run and no honest run was alarmed."""
        return not self.unproven and not self.missed and not self.honest.indeterminate


def chosen_faults(names: tuple[str, ...]) -> tuple[Fault, ...]:
    """The faults of these names, in the order of the table.

    Raises:
        LitmusConfigError: There is none of that name.
    """
    known = {fault.name: fault for fault in ALL}
    for name in names:
        if name not in known:
            raise LitmusConfigError(
                f"--fault {name[:40]!r}: there is no such fault", hint=f"name some of {', '.join(known)}"
            )
    if not names:
        return (*FAULTS, known[_DEFAULT_PARTIAL])
    return tuple(fault for fault in ALL if fault.name in names)


def run_drill(config: Config, options: DrillOptions, say: Say = lambda _text: None) -> DrillResult:
    """Drill ``config``'s gate; what the runs leave on disk is removed, and no history hears of them.

    Raises:
        LitmusError: The configuration cannot be run at all.
    """
    faults = chosen_faults(options.faults)
    work = config.run.output / f".drill-{secrets.token_hex(6)}"
    try:
        return _drill(config, options, faults, work, say)
    finally:
        discard(work)


def _drill(config: Config, options: DrillOptions, faults: tuple[Fault, ...], work: Path, say: Say) -> DrillResult:
    bench = mutant_bench(config, ORACLE, work) if options.quick else Workbench(config, work)
    scene = Scene(bench)
    why = {fault.name: reason for fault in faults if (reason := fault.lacks(scene))}
    failed: dict[str, str] = {}
    shown: list[Shown] = []
    for number in range(options.runs):
        for run in _round(scene, [f for f in faults if f.name not in why.keys() | failed.keys()], failed):
            shown.append(run)
            say(f"[{number + 1}/{options.runs}] {run.name}: {run.verdict}  {', '.join(run.fired)}")
    honest = [run for run in shown if run.name == HONEST]
    ordinary = usual(honest)
    why |= failed
    rows = tuple(
        fault_row(
            fault,
            [run for run in shown if run.name == fault.name],
            ordinary,
            why.get(fault.name, ""),
            failed=fault.name in failed,
        )
        for fault in faults
    )
    mutants = tuple(_mutants(config, work, say)) if options.mutants else ()
    suite, agent = bench.first.suite, bench.config.agent.name
    provider = bench.first.provider.report.name
    return DrillResult(suite.id, suite.digest, agent, __version__, provider, rows, honest_row(honest), mutants)


def _round(scene: Scene, faults: list[Fault], failed: dict[str, str]) -> Iterator[Shown]:
    """One honest run and one run of every fault; a fault that cannot be made is left out from then on."""
    yield shown(HONEST, lambda: scene.report(NOTHING_BETWEEN), None)
    for fault in faults:
        try:
            yield _touching(scene, fault)
        except LitmusError as error:
            failed[fault.name] = f"could not be tried: {error.message}"


def _touching(scene: Scene, fault: Fault) -> Shown:
    """A run in which the fault came upon a session; the dice of a small share are thrown again a few times."""
    for _ in range(_THROWS if fault.share < 1 else 1):
        touch = Touch(fault.share)
        run = shown(fault.name, partial(fault.run, scene, touch), touch)
        if run.touched:
            break
    return run


def shown(name: str, run: Callable[[], Report], touch: Touch | None) -> Shown:
    """Run, and keep what matters."""
    began = time.monotonic()
    report = run()
    touched = len(touch.sessions) if touch is not None else 0
    return Shown(name, report.verdict, fired(report), touched, report.reason, time.monotonic() - began)


def _mutants(config: Config, work: Path, say: Say) -> Iterator[MutantRow]:
    for mutant in MUTANTS:
        row = _mutant_row(mutant, mutant_bench(config, mutant, work).report(NOTHING_BETWEEN))
        say(f"mutant {row.name}: {row.verdict}")
        yield row


def _mutant_row(mutant: Mutant, report: Report) -> MutantRow:
    expected = tuple(sorted(kind.value for kind in mutant.expected))
    return MutantRow(
        mutant.name,
        mutant.what,
        expected,
        report.verdict.value,
        report.verdict in mutant.expected,
        report.reason,
    )
