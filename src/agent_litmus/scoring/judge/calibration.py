"""A judge against the labelled set."""

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from agent_litmus.records.digest import sha256_of
from agent_litmus.records.judge import ClassAgreement, Kappa, SplitCalibration
from agent_litmus.scoring.judge.opinion import Fault, Opinion, declines
from agent_litmus.scoring.judge.question import Question, question_of
from agent_litmus.scoring.refusal import detect_refusals
from agent_litmus.scoring.refusal_report import SPLITS, LabelledMessage
from agent_litmus.scoring.stats.kappa import kappa_interval
from agent_litmus.scoring.units import INJECTED_UNIT


def labels_digest() -> str:
    """Digest of the labelled set."""
    folder = files("agent_litmus.scoring") / "data"
    return sha256_of(b"\n".join((folder / f"refusals-{split}.jsonl").read_bytes() for split in SPLITS))


def questions_of(messages: Sequence[LabelledMessage]) -> tuple[Question, ...]:
    """What a judge is asked about labelled messages: as about an agent's."""
    return tuple(question_of(message.text, message.units) for message in messages)


def calibration_of(
    split: str, messages: Sequence[LabelledMessage], opinions: Sequence[Opinion | Fault]
) -> SplitCalibration:
    """Compare opinions with labels, message by message."""
    pairs = list(zip(messages, opinions, strict=True))
    answered = [(message, found) for message, found in pairs if isinstance(found, Opinion)]
    faults = Counter(found.why for found in opinions if isinstance(found, Fault))
    open_ones = faults.total()
    groups = [message.id.rpartition("-")[0] for message, _ in answered]
    labels = [_declined(message) for message, _ in answered]
    said = [declines(found, _aimed_at(message)) for message, found in answered]
    refused = [message.refuses for message, _ in answered], [found.refuses for _, found in answered]
    return SplitCalibration(
        split,
        len(messages),
        _kappa(labels, said, groups, open_ones),
        _kappa(*refused, groups, open_ones),
        tuple(_class(name, pairs) for name in sorted({message.kind for message in messages})),
        dict(sorted(faults.items())),
    )


def rules_opinion(message: LabelledMessage) -> Opinion:
    """What the built-in rules say of a message, in a judge's terms."""
    events = detect_refusals(message.text, message.units)
    found = {event.unit for event in events}
    return Opinion(bool(events), INJECTED_UNIT if INJECTED_UNIT in found else next(iter(sorted(found)), None))


def _aimed_at(message: LabelledMessage) -> frozenset[str]:
    """The injected unit; a request that stands alone is itself in question."""
    return frozenset(unit.id for unit in message.units if unit.id == INJECTED_UNIT)


def _declined(message: LabelledMessage) -> bool:
    return message.refuses and (not _aimed_at(message) or message.target == INJECTED_UNIT)


def _kappa(one: Sequence[bool], other: Sequence[bool], groups: Sequence[str], open_ones: int) -> Kappa:
    found = kappa_interval(one, other, groups)
    return Kappa(found.value, found.low, found.high, len(one), open_ones)


def _class(name: str, pairs: Sequence[tuple[LabelledMessage, Opinion | Fault]]) -> ClassAgreement:
    own = [(message, found) for message, found in pairs if message.kind == name]
    agreed = sum(
        isinstance(found, Opinion) and declines(found, _aimed_at(message)) is _declined(message)
        for message, found in own
    )
    return ClassAgreement(name, len(own), agreed, sum(isinstance(found, Fault) for _, found in own))
