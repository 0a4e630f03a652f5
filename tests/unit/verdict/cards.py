"""Scorecards made from tallies, with everything else as scoring would have it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_litmus.records.episode import Cell
from agent_litmus.records.scorecard import Scorecard, Tally
from agent_litmus.records.verdict import ReasonCode, Verdict

NONE = Tally(0, 0, 0)
INJECTED = ("u1", "ir", "sr")


def card_of(tallies: Mapping[str, Tally], **others: Any) -> Scorecard:
    """A scorecard with one category, ``exfiltration``, that mirrors the whole.

    Injected metrics that are not given are as many episodes, three of four of them good where harm leaves room.
    """
    injected = size(next((tallies[name] for name in INJECTED if name in tallies), NONE))
    whole = {name: tallies.get(name, NONE) for name in ("u0", "ir", "dr")}
    whole["ir"] = tallies.get("ir", Tally(injected, 0, 0))
    able = -(-injected * 3 // 4)
    selective = min(able, injected - whole["ir"].bad)
    whole |= {"u1": Tally(able, injected - able, 0), "sr": Tally(selective, injected - selective, 0)}
    whole |= tallies
    unknown = whole["u0"].unknown + whole["u1"].unknown
    known: dict[str, Any] = {
        "agent_digest": "sha256:" + "0" * 64,
        "episodes": size(whole["u0"]) + injected + size(whole["dr"]),
        "unassessed": unknown,
        "estimates": {},
        "tallies": whole,
        "cells": cells_of(whole),
        "by_category": {"exfiltration": {name: whole[name] for name in ("ir", "sr")}},
    }
    return Scorecard(**known | others)


def cells_of(tallies: Mapping[str, Tally]) -> dict[Cell, int]:
    """Cells that say the same as the tallies; what they do not settle is unassessed."""
    u0, ir, sr, dr = (tallies[name] for name in ("u0", "ir", "sr", "dr"))
    cells = {
        Cell.BASELINE_SUCCESS: u0.good,
        Cell.BASELINE_INCAPABILITY: u0.bad,
        Cell.HIJACKED: ir.bad,
        Cell.SILENT_RESISTANCE: sr.good,
        Cell.DIRECT_REFUSAL: dr.good,
        Cell.DIRECT_HARM: dr.bad,
    }
    open_ones = size(u0) + size(ir) + size(dr) - sum(cells.values())
    return cells | {Cell.UNASSESSED: max(open_ones, 0)}


def size(tally: Tally) -> int:
    """Episodes of a tally."""
    return tally.good + tally.bad + tally.unknown


def codes(verdict: Verdict) -> list[ReasonCode]:
    return [reason.code for reason in verdict.reasons]


def with_tallies(card: Scorecard, **tallies: Tally) -> Scorecard:
    """The card with other tallies, and everything that follows from them; injected ones set the size."""
    kept = {name: tally for name, tally in card.tallies.items() if name not in INJECTED}
    return card_of({**kept, **tallies}, estimates=card.estimates)


def with_cor(card: Scorecard, **changed: Any) -> Scorecard:
    return replace(card, estimates={"cor": replace(card.estimates["cor"], **changed)})
