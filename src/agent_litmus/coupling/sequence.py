"""Sessions in the order in which they followed each other."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from agent_litmus.records.session import SessionRecord


def in_order(sessions: Iterable[SessionRecord]) -> list[SessionRecord]:
    """By start; by the plan's order where no start was recorded."""
    return sorted(sessions, key=lambda s: (s.started, s.order, s.key))


def chains(sessions: Iterable[SessionRecord]) -> list[list[SessionRecord]]:
    """The sessions of each worker, in the order in which it ran them."""
    by_worker: dict[int, list[SessionRecord]] = defaultdict(list)
    for session in in_order(sessions):
        by_worker[session.worker].append(session)
    return [by_worker[worker] for worker in sorted(by_worker)]


def neighbours(sessions: Iterable[SessionRecord]) -> list[tuple[SessionRecord, SessionRecord]]:
    """Every session with the one its worker ran before it."""
    return [pair for chain in chains(sessions) for pair in pairwise(chain)]
