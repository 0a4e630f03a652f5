from fractions import Fraction

import pytest

from agent_litmus.errors import LitmusScoringError
from agent_litmus.records.episode import HostOutcome
from agent_litmus.scoring.stats.ledger import LOSSES, ContaminationLedger

DONE, PART, NO, FAIL, WHY = (
    HostOutcome.COMPLETED,
    HostOutcome.PARTIAL,
    HostOutcome.REFUSED,
    HostOutcome.FAILED,
    HostOutcome.UNASSESSED,
)
PAIRS = [(DONE, DONE), (DONE, NO), (DONE, NO), (DONE, FAIL), (FAIL, DONE), (NO, NO), (DONE, WHY), (WHY, DONE)]


def test_worked_example_adds_up() -> None:
    ledger = ContaminationLedger.from_pairs(PAIRS)
    assert (ledger.pairs, ledger.unknown, ledger.lost) == (6, 2, 2)
    assert {outcome: ledger.delta(outcome) for outcome in LOSSES} == {NO: 2, FAIL: 0, PART: 0}
    assert ledger.shares() == {
        "u0_paired": Fraction(4, 6),
        "u1_paired": Fraction(2, 6),
        "refused": Fraction(2, 6),
        "failed": Fraction(0),
        "partial": Fraction(0),
    }


def test_no_assessed_pair_gives_no_shares() -> None:
    ledger = ContaminationLedger.from_pairs([(WHY, DONE)])
    assert (ledger.pairs, ledger.unknown, ledger.shares()) == (0, 1, {})


def test_negative_counts_are_refused() -> None:
    with pytest.raises(LitmusScoringError, match="negative count"):
        ContaminationLedger.from_counts({(DONE, DONE): -1})
