"""How well the refusal rules do on the labelled set.

Run it as ``python -m agent_litmus.scoring.refusal_report [dev|holdout]``.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import InstructionUnit, Provenance
from agent_litmus.scoring.refusal import detect_refusals
from agent_litmus.scoring.units import HOST_UNIT, INJECTED_UNIT, PROMPT_CARRIER, UNATTRIBUTED

SPLITS = ("dev", "holdout")


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """One labelled message; the data's own README defines the fields."""

    id: str
    lang: str
    kind: str
    text: str
    units: tuple[InstructionUnit, ...]
    refuses: bool
    target: str


@dataclass(frozen=True, slots=True)
class Group:
    """Counts of one group of messages: right and wrong detections, and right targets among the right ones."""

    name: str
    n: int
    true_positive: int
    false_positive: int
    false_negative: int
    right_target: int

    @property
    def precision(self) -> float | None:
        """Share of detections that are refusals, in [0, 1]; ``None`` without detections."""
        return _share(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float | None:
        """Share of refusals that were detected, in [0, 1]; ``None`` without refusals."""
        return _share(self.true_positive, self.true_positive + self.false_negative)

    @property
    def false_alarms(self) -> float | None:
        """Share of messages without refusal that were taken for one, in [0, 1]."""
        return _share(self.false_positive, self.n - self.true_positive - self.false_negative)

    @property
    def attribution(self) -> float | None:
        """Share of detected refusals whose target is right, in [0, 1]."""
        return _share(self.right_target, self.true_positive)


@dataclass(frozen=True, slots=True)
class RefusalReport:
    """Figures of one split: over all messages, per class and per language, and the messages that went wrong."""

    split: str
    total: Group
    by_class: tuple[Group, ...]
    by_language: tuple[Group, ...]
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    misattributed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    message: LabelledMessage
    detected: bool
    targets: frozenset[str]

    @property
    def right_target(self) -> bool:
        wanted = frozenset() if self.message.target == "none" else frozenset({self.message.target})
        return self.targets == wanted


def labelled_messages(split: str) -> tuple[LabelledMessage, ...]:
    """The labelled messages of ``dev`` (for tuning) or ``holdout`` (for scoring only).

    Raises:
        LitmusConfigError: There is no such split.
    """
    if split not in SPLITS:
        raise LitmusConfigError(f"no split {split!r} of the labelled set", hint=f"use one of {', '.join(SPLITS)}")
    source = files("agent_litmus.scoring") / "data" / f"refusals-{split}.jsonl"
    return tuple(_message(json.loads(line)) for line in source.read_text(encoding="utf-8").splitlines())


def refusal_report(split: str) -> RefusalReport:
    """Run the rules over one split and compare with the labels."""
    judged = [_judge(message) for message in labelled_messages(split)]
    return RefusalReport(
        split,
        _group("all", judged),
        _groups(judged, lambda message: message.kind),
        _groups(judged, lambda message: message.lang),
        missed=tuple(j.message.id for j in judged if j.message.refuses and not j.detected),
        invented=tuple(j.message.id for j in judged if j.detected and not j.message.refuses),
        misattributed=tuple(j.message.id for j in judged if _hit(j) and not j.right_target),
    )


def _message(row: dict[str, Any]) -> LabelledMessage:
    host = InstructionUnit(HOST_UNIT, Provenance.USER, PROMPT_CARRIER, row["units"]["host"])
    injected = InstructionUnit(INJECTED_UNIT, Provenance.TOOL_OUTPUT, "carrier", row["units"]["injected"])
    units = (host, injected) if injected.text else (host,)
    return LabelledMessage(row["id"], row["lang"], row["class"], row["text"], units, row["refuses"], row["target"])


def _judge(message: LabelledMessage) -> _Judged:
    events = detect_refusals(message.text, message.units)
    return _Judged(message, bool(events), frozenset(event.unit for event in events) - {UNATTRIBUTED})


def _hit(judged: _Judged) -> bool:
    return judged.detected and judged.message.refuses


def _groups(judged: Sequence[_Judged], key: Callable[[LabelledMessage], str]) -> tuple[Group, ...]:
    names = sorted({key(j.message) for j in judged})
    return tuple(_group(name, [j for j in judged if key(j.message) == name]) for name in names)


def _group(name: str, judged: Sequence[_Judged]) -> Group:
    return Group(
        name,
        len(judged),
        true_positive=sum(_hit(j) for j in judged),
        false_positive=sum(j.detected and not j.message.refuses for j in judged),
        false_negative=sum(j.message.refuses and not j.detected for j in judged),
        right_target=sum(_hit(j) and j.right_target for j in judged),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def as_text(report: RefusalReport) -> str:
    """The report as a Markdown table with the ids of every message that went wrong."""
    head = (
        "| group | n | refusals | precision | recall | false alarms | target right |\n|---|---|---|---|---|---|---|"
    )
    rows = [_row(group) for group in (report.total, *report.by_class, *report.by_language)]
    wrong = [
        f"{name}: {', '.join(ids) or 'none'}"
        for name, ids in (
            ("missed", report.missed),
            ("invented", report.invented),
            ("misattributed", report.misattributed),
        )
    ]
    return "\n".join([f"Split: {report.split}", "", head, *rows, "", *wrong])


def _row(group: Group) -> str:
    figures = (group.precision, group.recall, group.false_alarms, group.attribution)
    cells = ["-" if figure is None else f"{figure:.3f}" for figure in figures]
    refusals = group.true_positive + group.false_negative
    return f"| {group.name} | {group.n} | {refusals} | {' | '.join(cells)} |"


def main(arguments: Iterable[str] | None = None) -> int:
    """Print the report of each split named (both by default)."""
    names = list(sys.argv[1:] if arguments is None else arguments) or list(SPLITS)
    try:
        sys.stdout.write("\n\n".join(as_text(refusal_report(name)) for name in names) + "\n")
    except LitmusConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
