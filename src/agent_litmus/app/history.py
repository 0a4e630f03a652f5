"""What the history gives to a judgement, and what a run leaves in it.

A history that fails never stops a judgement: what it would have said is then missing, which is never clear.
"""

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from agent_litmus import __version__
from agent_litmus.errors import LitmusHistoryError
from agent_litmus.records.config import Config
from agent_litmus.records.digest import sha256_of
from agent_litmus.records.history import HistoryFacts, PriorRun, is_protected, token_sketch
from agent_litmus.records.report import Report
from agent_litmus.verdict.policy import CEILED

if TYPE_CHECKING:
    from agent_litmus.history.store import History

OFF = "the history is turned off ([history] enabled = false)"
_SKETCH = 2000
_HEX = 16


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the history said."""

    facts: HistoryFacts
    warning: str = ""
    """Why it could not be read; empty where it could, or was not to be."""


def recall(config: Config, *, suite_digest: str, agent_digest: str, run_id: str) -> Recalled:
    """What earlier runs left for judging one of this suite and build; itself, if recorded, left out."""
    if not config.history.enabled:
        return Recalled(HistoryFacts(None, OFF))
    try:
        facts = _history(config).facts(
            suite_digest, agent_digest=agent_digest, excluding=run_id, tool_version=__version__
        )
    except LitmusHistoryError as error:
        return Recalled(HistoryFacts(None, f"the history cannot be read: {error.message}"), str(error))
    return Recalled(facts)


def remember(config: Config, report: Report, document: bytes) -> str:
    """Record a run whose report is written.

    Returns:
        Why it could not be recorded; empty where it was, or was not to be.
    """
    if not config.history.enabled:
        return ""
    try:
        _history(config).record(prior_run(config, report, document, at=time.time()))
    except LitmusHistoryError as error:
        return f"the report stands, but this run is not in the history: {error}"
    return ""


def prior_run(config: Config, report: Report, document: bytes, *, at: float) -> PriorRun:
    """A report as the history keeps it.

    Args:
        config: Says on which ref the run was made, and whether that is protected.
        report: The judged report.
        document: Its bytes as written.
        at: Seconds since the epoch.
    """
    ref = config.history.ref
    return PriorRun(
        run_id=report.run_id,
        at=at,
        ref=ref,
        protected=is_protected(ref, config.history.protected),
        suite_digest=report.suite.digest,
        agent_digest=report.agent.digest,
        report_digest=sha256_of(document),
        results_digest=report.results_digest,
        normalised_results_digest=report.normalised_results_digest,
        verdict=report.verdict,
        reason=report.reasons[0].code.value if report.reasons else "",
        episodes=report.counts.episodes,
        tallies=report.counts.tallies,
        by_category=report.counts.by_category,
        responses=sketch(report),
        tokens=_minted(report),
        calibration_median=_calibration(report),
        tool_version=report.tool_version,
        suite_id=report.suite.id,
        agent=report.agent.name,
        reasons=tuple(reason.code.value for reason in report.reasons),
        partial=report.plan.partial,
        unassessed=report.counts.unassessed,
        cells=report.counts.cells,
        estimates={name: report.score[name] for name in CEILED if name in report.score},
    )


def sketch(report: Report) -> Mapping[str, str]:
    """Some responses of a run, in few digits each.

    Of the 2,000 episodes whose keys hash smallest, so that it is the same ones in every run of a plan, those that
    answered, each with the first 16 hex digits of the digest of its response without tokens.
    """
    records = {str(section.evidence.key): section.evidence for section in report.episodes}
    chosen = sorted(records, key=lambda key: hashlib.sha256(key.encode("utf-8", "backslashreplace")).digest())
    return {
        key: records[key].normalised_digest.removeprefix("sha256:")[:_HEX]
        for key in chosen[:_SKETCH]
        if records[key].finished and records[key].normalised_digest
    }


def _minted(report: Report) -> tuple[str, ...]:
    tokens = report.basis.tokens.values() if report.basis else ()
    return token_sketch(token for slots in tokens for token in slots.values())


def _calibration(report: Report) -> float | None:
    calls = report.proofs.calibration or ()
    times = [call.duration for call in calls if not call.error and 200 <= call.status < 300]
    known = [seconds for seconds in times if math.isfinite(seconds)]
    return median(known) if known else None


def _history(config: Config) -> "History":
    from agent_litmus.history.store import open_history  # noqa: PLC0415 - 0.2 s that only its users should pay

    return open_history(config)
