"""What the exam says of a provider."""

from dataclasses import dataclass

from agent_litmus.records.effect import ProviderReport


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case."""

    name: str
    ok: bool
    """Whether what the provider claims to hold was held, and what it claims to see was seen."""
    contained: bool
    """Whether the whole act was tried and did no harm; false too where the provider declares that it may."""
    observed: bool
    """Whether everything that was to be seen of it was seen."""
    detail: str
    """What was not held or not seen, and where the provider declares it; else what was done."""


@dataclass(frozen=True, slots=True)
class ExamResult:
    """The exam of one provider on this host."""

    provider: ProviderReport
    cases: tuple[CaseResult, ...]

    @property
    def ok(self) -> bool:
        """Whether there were cases and all of them are ok."""
        return bool(self.cases) and all(case.ok for case in self.cases)
