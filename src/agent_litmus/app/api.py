"""The one call that runs everything, for use from Python."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_litmus.app.run import RunOptions, run_config
from agent_litmus.config import load_config
from agent_litmus.records.report import Report


def run_suite(
    config: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    only: tuple[str, ...] = (),
    limit: int | None = None,
    resume: str | Path | None = None,
) -> Report:
    """Run the suite that ``config`` (a ``litmus.toml``) names against its agent.

    Args:
        config: Path of the configuration file.
        overrides: Dotted configuration keys to values, e.g. ``{"run.jobs": 4}``.
        only: Globs of probe ids; a partial plan never passes.
        limit: First episodes of the shuffled order; a partial plan never passes.
        resume: Directory of an interrupted run to finish.

    Returns:
        The report; ``report.verdict`` is PASS, FAIL or INDETERMINATE. It is also written to the run's directory.

    Raises:
        LitmusError: Configuration, suite, sandbox or journal cannot be used; nothing is scored.
    """
    options = RunOptions(only=only, limit=limit, resume=Path(resume) if resume is not None else None)
    return run_config(load_config(Path(config), dict(overrides or {})), options).report
