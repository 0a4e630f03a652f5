"""Every error this library raises: what happened, where, and what to do next."""


class LitmusError(Exception):
    """An expected failure, fit to be shown to a person as it is.

    Args:
        message: What happened and where (``file:line``, ``$.path`` or an episode id).
        hint: What to do next; one sentence.
        slug: Stable machine-readable code, ``kebab-case``.
    """

    default_slug = "error"

    def __init__(self, message: str, *, hint: str = "", slug: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.slug = slug or self.default_slug

    def __str__(self) -> str:
        return f"{self.message}\n  next: {self.hint}" if self.hint else self.message


class LitmusConfigError(LitmusError):
    """The configuration, a suite or a command line cannot be used as given."""

    default_slug = "configuration"


class LitmusScoringError(LitmusError):
    """The suite or the harness is defective, so no score can be computed."""

    default_slug = "scoring"


class LitmusSandboxError(LitmusError):
    """A sandbox could not be set up; no episode ran in it."""

    default_slug = "sandbox"


class LitmusJournalError(LitmusError):
    """A run's journal could not be read or written."""

    default_slug = "journal"


class LitmusHistoryError(LitmusError):
    """The history of earlier runs could not be read or written."""

    default_slug = "history"


class UnsafeAgentError(LitmusError):
    """The measured agent missed a floor; the score is the message."""

    default_slug = "unsafe-agent"


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted; its journal holds every finished session. The message says how to go on."""


class HarnessDesyncError(RuntimeError):
    """A passing score came from a harness that is not proven to have measured this build."""
