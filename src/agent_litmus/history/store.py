"""The history: what may be asked of it, and what may be told to it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from sqlalchemy import Connection, Engine, insert, select

from agent_litmus.errors import LitmusHistoryError
from agent_litmus.history.connect import engine_for, reading, writing
from agent_litmus.history.migrate import ensure_current
from agent_litmus.history.origin import is_original, renew
from agent_litmus.history.place import Place, place_of
from agent_litmus.history.prune import doomed
from agent_litmus.history.queries import (
    EVERY,
    Wanted,
    baselines,
    last_drill,
    listed_rows,
    relevant_runs,
    run_ids,
    run_of,
)
from agent_litmus.history.rows import delete_runs, drill_row, insert_run, read_runs
from agent_litmus.history.tables import DRILLS, RUNS
from agent_litmus.records.config import Config
from agent_litmus.records.history import HistoryFacts, PriorDrill, PriorRun, is_protected

EMPTY = "the history holds no earlier run of this suite"
RESTORED = (
    "the history was copied or restored from a cache, so what happened since is absent; "
    "runs that are recorded from now on count"
)
_LONGEST_ID = 200


def history_url(config: Config) -> str:
    """The URL of a configuration's history: what it says, or a file in the output directory."""
    return config.history.url or f"sqlite:///{config.run.output.absolute() / 'history.sqlite'}"


def open_history(config: Config) -> "History":
    """The history of a configuration; nothing is touched before it is used.

    Raises:
        LitmusHistoryError: Its URL is unusable.
    """
    return History(place_of(history_url(config)), config.history.protected)


class History:
    """Runs and drills in a database, for any number of processes at once.

    Every method raises ``LitmusHistoryError`` where the database cannot be used.

    Args:
        place: Where it is.
        protected: Refs whose accepted runs are baselines, as shell patterns.
    """

    def __init__(self, place: Place, protected: Sequence[str] = ()) -> None:
        self.place = place
        self._protected = tuple(protected)

    def protects(self, ref: str) -> bool:
        """Whether runs on ``ref`` may become baselines; one that is not named never may."""
        return is_protected(ref, self._protected)

    def facts(
        self, suite_digest: str, *, agent_digest: str = "", excluding: str = "", tool_version: str = ""
    ) -> HistoryFacts:
        """What is to be known before a run is judged.

        Args:
            suite_digest: Suite of the run.
            agent_digest: Its build; all runs of it are given, of others the newest.
            excluding: Id of the run itself, which may have been recorded already.
            tool_version: Version of the program whose last drill is given.
        """
        if not self._begun():
            return HistoryFacts(None, EMPTY)
        with reading(self.place, self._engine) as connection:
            if not self._trusted(connection):
                held = connection.execute(select(RUNS.c.run_id).limit(1)).first()
                return HistoryFacts(None, RESTORED if held else EMPTY)
            runs, accepted = relevant_runs(connection, suite_digest, agent_digest, excluding, self.protects)
            drill = last_drill(connection, suite_digest, tool_version)
        return HistoryFacts(runs or None, "" if runs else EMPTY, accepted, drill)

    def last_accepted(self, suite_digest: str) -> PriorRun | None:
        """The last run of the whole suite on a protected ref that was judged PASS."""
        return self.facts(suite_digest).accepted

    def last_drill(self, suite_digest: str, tool_version: str) -> PriorDrill | None:
        """The last drill of a suite with a version of the program; none where the history was restored since."""
        if not self._begun():
            return None
        with reading(self.place, self._engine) as connection:
            return last_drill(connection, suite_digest, tool_version) if self._trusted(connection) else None

    def record(self, run: PriorRun) -> bool:
        """Remember a run.

        Returns:
            Whether it was added; one that is held already stays as it was first recorded.

        Raises:
            LitmusHistoryError: A run of that id with other results is held.
        """
        if not run.run_id or len(run.run_id) > _LONGEST_ID:
            raise self.place.error("a run without an id, or with an endless one, cannot be recorded", "run again")
        self._begin()
        try:
            with self._written() as connection:
                held = run_of(connection, run.run_id)
                if held is None:
                    insert_run(connection, run)
                    return True
        except LitmusHistoryError:  # another writer may have been faster
            with reading(self.place, self._engine) as connection:
                held = run_of(connection, run.run_id)
            if held is None:
                raise
        self._refuse_another(held, run)
        return False

    def record_drill(self, drill: PriorDrill) -> None:
        """Remember the result of a drill."""
        self._begin()
        with self._written() as connection:
            connection.execute(insert(DRILLS), drill_row(drill))

    def list(self, wanted: Wanted = EVERY, limit: int | None = None) -> tuple[PriorRun, ...]:
        """Runs, newest first, without their responses."""
        self._need()
        with reading(self.place, self._engine) as connection:
            return read_runs(connection, listed_rows(connection, wanted)[:limit])

    def show(self, run_id: str) -> PriorRun:
        """The run of that id, or the only one whose id begins so.

        Raises:
            LitmusHistoryError: There is none, or more than one.
        """
        self._need()
        with reading(self.place, self._engine) as connection:
            found = run_ids(connection, run_id)
            run = run_of(connection, found[0]) if len(found) == 1 else None
        if run is None:
            what = f"{len(found)} runs begin with" if found else "no run is or begins with"
            raise self.place.error(f"{what} {run_id[:_LONGEST_ID]!r}", "copy an id from `litmus history list`")
        return run

    def prune(
        self,
        *,
        now: float,
        keep: int | None = None,
        older_than: float | None = None,
        wanted: Wanted = EVERY,
        dry_run: bool = False,
    ) -> tuple[PriorRun, ...]:
        """Remove runs, never the last accepted one of a suite.

        Args:
            now: Seconds since the epoch.
            keep: Spare the newest that many of each suite.
            older_than: Spare what is not older than that many days.
            wanted: Spare what is not meant.
            dry_run: Remove nothing.

        Returns:
            What was, or would be, removed; newest first.
        """
        self._need()
        act = reading(self.place, self._engine) if dry_run else writing(self.place, self._engine)
        with act as connection:
            runs = read_runs(connection, listed_rows(connection, wanted))
            removed = doomed(runs, now=now, keep=keep, older_than=older_than, spared=baselines(connection))
            if not dry_run:
                delete_runs(connection, [run.run_id for run in removed])
        return removed

    @cached_property
    def _engine(self) -> Engine:
        return engine_for(self.place)

    def _begun(self) -> bool:
        """Whether there is a history, which is then brought to this version's tables."""
        file = self.place.file
        if file is not None:
            with self.place.told("read"):
                if not file.exists():
                    return False
        return ensure_current(self.place, self._engine, create=False)

    def _need(self) -> None:
        if not self._begun():
            raise self.place.error(
                "there is no history yet", "a first `litmus run` begins one; or correct the place"
            )

    def _begin(self) -> None:
        if self.place.file is not None:
            with self.place.told("written"):
                self.place.file.parent.mkdir(parents=True, exist_ok=True)
        ensure_current(self.place, self._engine, create=True)

    def _trusted(self, connection: Connection) -> bool:
        return self.place.file is None or is_original(connection, self.place.file)

    @contextmanager
    def _written(self) -> Iterator[Connection]:
        """A writing transaction of a history that is trusted from then on."""
        with writing(self.place, self._engine) as connection:
            if self.place.file is not None:
                renew(connection, self.place.file)
            yield connection

    def _refuse_another(self, held: PriorRun, run: PriorRun) -> None:
        same = ("suite_digest", "agent_digest", "results_digest")
        if any(getattr(held, name) != getattr(run, name) for name in same):
            raise self.place.error(
                f"run {run.run_id} is recorded already, with other results", "give every run an id of its own"
            )
