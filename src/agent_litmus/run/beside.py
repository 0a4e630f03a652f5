"""Proofs a run makes beside its episodes, by the same workers: leak pairs and calibration calls.

Nothing here enters the plan, the score or the accounting of episodes.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import anyio

from agent_litmus.errors import LitmusJournalError
from agent_litmus.records.probe import EpisodeKey, PlannedEpisode, Probe
from agent_litmus.records.proofs import CalibrationCall, LeakPair, RunProofs
from agent_litmus.records.session import SessionRecord
from agent_litmus.run.context import RunContext
from agent_litmus.run.journal import Journal
from agent_litmus.run.pairs import Pairs, askable, asking_probe, leak_pair, not_asked

SessionRunner = Callable[[RunContext, Probe, PlannedEpisode], Awaitable[SessionRecord]]
"""Runs one session; :func:`agent_litmus.run.session.run_session` is the one."""


class Calibrates(Protocol):
    """Something that asks the model itself."""

    async def call(self, after: int) -> CalibrationCall:
        """One call, made when ``after`` sessions were finished; never raises for a failure."""


class Beside:
    """What one run makes beside its episodes.

    Args:
        journal: Where it is kept; what is in it already is not made again.
        total: Planned episodes.
        pairs: The leak pairs to make.
        calibrator: Asks the model; ``None`` where the run has no model.
        calls: Calibration calls to make; 0 makes none.

    Raises:
        LitmusJournalError: The journal holds a pair twice, or one that is not of this run.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        total: int,
        pairs: Pairs | None = None,
        calibrator: Calibrates | None = None,
        calls: int = 0,
    ) -> None:
        self._journal = journal
        self._planned: Pairs = pairs or {}
        self._pairs = _journalled(journal, self._planned)
        self._calibrator = calibrator if calls else None
        self._calls = list(journal.calibration)
        self._due = [int((number + 0.5) * total / calls) for number in range(calls)]
        self._begun = len(self._calls)

    async def calibrate(self, finished: Callable[[], int]) -> None:
        """Make every calibration call that is due once ``finished()`` sessions are.

        A worker makes it in the place of a session, so that it meets the model at the run's own concurrency.

        Raises:
            LitmusJournalError: It could not be written.
        """
        while self._calibrator is not None and self._is_due(finished()):
            self._begun += 1
            call = await self._calibrator.call(finished())
            await anyio.to_thread.run_sync(self._journal.append_calibration, call)
            self._calls.append(call)

    def _is_due(self, finished: int) -> bool:
        return self._begun < len(self._due) and self._due[self._begun] <= finished

    async def ask(
        self,
        context: RunContext,
        runner: SessionRunner,
        probe: Probe,
        planned: PlannedEpisode,
        record: SessionRecord,
    ) -> LeakPair | None:
        """Ask a new session for the tokens of the one that has just ended, if a pair is planned there.

        The caller writes it together with ``record``.
        """
        asked = self._planned.get(planned.key)
        if asked is None or planned.key in self._pairs:
            return None
        if askable(record):
            shown = await runner(context, asking_probe(probe, asked), asked)
            pair = leak_pair(probe, planned, shown, context.book.in_snapshot)
        else:
            pair = not_asked(probe, planned, record)
        self._pairs[planned.key] = pair
        return pair

    def proofs(self) -> RunProofs:
        """What was made, in this invocation and before."""
        return RunProofs(
            calibration=None if self._calibrator is None else tuple(self._calls),
            leak_pairs=tuple(self._pairs[key] for key in self._planned if key in self._pairs)
            if self._planned
            else None,
            leak_pairs_planned=len(self._planned),
        )


def _journalled(journal: Journal, planned: Mapping[EpisodeKey, PlannedEpisode]) -> dict[EpisodeKey, LeakPair]:
    pairs: dict[EpisodeKey, LeakPair] = {}
    for pair in journal.leak_pairs:
        if pair.planted in pairs or pair.planted not in planned:
            what = "stands in it twice" if pair.planted in pairs else "is not planned"
            raise LitmusJournalError(
                f"{journal.path}: damaged journal: the leak pair of {pair.planted} {what}",
                hint="start a new run; a damaged journal is never scored",
                slug="damaged-journal",
            )
        pairs[pair.planted] = pair
    return pairs
