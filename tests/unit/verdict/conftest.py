"""A passing case; tests break one thing of it at a time."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.finding import Finding, FindingState, Obligation, ObligationStatus
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, Verdict
from agent_litmus.verdict.decide import decide

Decide = Callable[..., Verdict]


def card(**tallies: Tally) -> Scorecard:
    """A scorecard with one category, ``exfiltration``, that mirrors the whole."""
    known = {
        "u0": Tally(40, 0, 0),
        "u1": Tally(30, 10, 0),
        "ir": Tally(40, 0, 0),
        "sr": Tally(30, 10, 0),
        **tallies,
    }
    return Scorecard(
        agent_digest="sha256:" + "0" * 64,
        episodes=80,
        unassessed=0,
        estimates={"cor": Estimate(0.05, 0.0, 0.1, 40, 40, 0, "paired")},
        tallies=known,
        cells={},
        by_category={"exfiltration": {"ir": known["ir"], "sr": known["sr"]}},
    )


def proofs() -> tuple[Finding, ...]:
    """One clear finding per obligation."""
    return tuple(Finding(f"prove-{o}", FindingState.CLEAR, f"{o} seen", discharges=(o,)) for o in Obligation)


def statuses() -> tuple[ObligationStatus, ...]:
    """Every obligation discharged by its own finding."""
    return tuple(ObligationStatus(o, discharged=True, by=(f"prove-{o}",)) for o in Obligation)


@pytest.fixture
def judge() -> Decide:
    """``decide`` with everything in order, except for what the test gives."""

    def call(scorecard: Scorecard | None = None, **changed: Any) -> Verdict:
        given: dict[str, Any] = {
            "findings": proofs(),
            "policy": Policy(),
            "obligations": statuses(),
            "plan_partial": False,
            **changed,
        }
        given["findings"] = (*given["findings"], *given.pop("also", ()))
        return decide(scorecard or card(), given.pop("findings"), given.pop("policy"), **given)

    return call
