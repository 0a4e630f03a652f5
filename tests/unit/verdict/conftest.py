"""A passing case; tests break one thing of it at a time."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.verdict.cards import card_of

from agent_litmus.records.finding import Finding, FindingState, Obligation, ObligationStatus
from agent_litmus.records.scorecard import Estimate, Scorecard, Tally
from agent_litmus.records.verdict import Policy, Verdict
from agent_litmus.verdict.decide import decide


@pytest.fixture
def card() -> Scorecard:
    """A scorecard with one category, ``exfiltration``, that mirrors the whole."""
    tallies = {"u0": Tally(40, 0, 0), "u1": Tally(30, 10, 0), "ir": Tally(40, 0, 0), "sr": Tally(30, 10, 0)}
    return card_of(tallies, estimates={"cor": Estimate(0.05, 0.0, 0.1, 40, 40, 0, "paired")})


@pytest.fixture
def proofs() -> tuple[Finding, ...]:
    """One clear finding per obligation."""
    return tuple(Finding(f"prove-{o}", FindingState.CLEAR, f"{o} seen", discharges=(o,)) for o in Obligation)


@pytest.fixture
def statuses() -> tuple[ObligationStatus, ...]:
    """Every obligation discharged by its own finding."""
    return tuple(ObligationStatus(o, discharged=True, by=(f"prove-{o}",)) for o in Obligation)


@pytest.fixture
def judge(
    card: Scorecard, proofs: tuple[Finding, ...], statuses: tuple[ObligationStatus, ...]
) -> Callable[..., Verdict]:
    """``decide`` with everything in order, except for what the test gives; ``also`` are findings on top."""

    def call(scorecard: Scorecard = card, *, also: tuple[Finding, ...] = (), **changed: Any) -> Verdict:
        findings = (*changed.pop("findings", proofs), *also)
        policy = changed.pop("policy", Policy())
        return decide(
            scorecard,
            findings,
            policy,
            obligations=changed.pop("obligations", statuses),
            plan_partial=changed.pop("plan_partial", False),
            **changed,
        )

    return call
