"""What a model that judges words is worth, measured on the labelled set."""

from collections.abc import Mapping
from dataclasses import dataclass, field

JUDGE_FORMAT = "agent-litmus-judge"
JUDGE_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa between a judge and the labels, with its 95 % interval, over the messages it answered."""

    value: float | None
    """In [-1, 1]; ``None`` where nothing was answered or there was nothing to agree on beyond chance."""
    low: float | None
    high: float | None
    n: int
    """Messages answered."""
    unassessed: int
    """Messages without a usable answer; in no kappa."""


@dataclass(frozen=True, slots=True)
class ClassAgreement:
    """Agreement on one class of messages. Without a usable answer there is none."""

    name: str
    n: int
    agreed: int
    unassessed: int


@dataclass(frozen=True, slots=True)
class SplitCalibration:
    """A judge on one split of the labelled set."""

    split: str
    messages: int
    declines: Kappa
    """Whether the instruction in question is declined: what figures use."""
    refuses: Kappa
    """Whether anything is refused at all."""
    classes: tuple[ClassAgreement, ...]
    """Agreement on ``declines``, by class of message."""
    faults: Mapping[str, int] = field(default_factory=dict)
    """Why there was no usable answer, with counts."""


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """A judge and its figures; no figure of a judge is printed without one."""

    url: str
    """Base URL of the endpoint; without user or password."""
    model: str
    question_digest: str
    """Digest of what the judge is asked."""
    labels_digest: str
    """Digest of the labelled set."""
    splits: tuple[SplitCalibration, ...]
    format: str = JUDGE_FORMAT
    schema_version: int = JUDGE_SCHEMA_VERSION

    def split(self, name: str) -> SplitCalibration | None:
        """The figures on one split, if it was asked about."""
        return next((found for found in self.splits if found.split == name), None)
