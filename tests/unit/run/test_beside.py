"""What the workers make beside the episodes, with a real journal and scripted sessions at the runner's seam."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from agent_litmus.errors import LitmusJournalError
from agent_litmus.records.config import RunConfig
from agent_litmus.records.probe import Condition, EpisodeKey, Plan, PlannedEpisode, Probe, Suite
from agent_litmus.records.proofs import CalibrationCall, LeakPair
from agent_litmus.records.session import ExitKind, ProcessExit, SessionRecord, TokenSighting
from agent_litmus.run.beside import Beside
from agent_litmus.run.context import RunContext
from agent_litmus.run.engine import run_plan
from agent_litmus.run.journal import Journal, JournalHeader, create, read, resume
from agent_litmus.run.pairs import SUFFIX, Pairs, plan_pairs
from agent_litmus.run.plan import make_plan
from agent_litmus.run.sightings import TokenBook

pytestmark = pytest.mark.anyio

Make = Callable[..., SessionRecord]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Model:
    """Counts the calls made to it."""

    def __init__(self) -> None:
        self.after: list[int] = []

    async def call(self, after: int) -> CalibrationCall:
        self.after.append(after)
        return CalibrationCall(after, 0.1, 200)


class Sessions:
    """Scripted sessions: each knows every token that any session before it was given, if they share a memory."""

    def __init__(self, make: Make, *, shared: bool = False, broken: bool = False) -> None:
        self._make = make
        self._shared, self._broken = shared, broken
        self._memory: list[str] = []
        self.ran: list[EpisodeKey] = []

    async def __call__(self, _context: RunContext, probe: Probe, planned: PlannedEpisode) -> SessionRecord:
        self.ran.append(planned.key)
        known = list(self._memory) if self._shared else []
        self._memory += planned.tokens.values()
        asked = probe.id.endswith(SUFFIX)
        sightings = tuple(TokenSighting("code", t, "answer", own=False, given=False) for t in known)
        ended = ProcessExit(ExitKind.NOT_STARTED if self._broken else ExitKind.EXITED, 0)
        return self._make(key=planned.key, order=planned.order, exit=ended, sightings=sightings if asked else ())


def context(suite: Suite, plan: Plan, jobs: int) -> RunContext:
    """Scripted sessions need no provider, target or gateway."""
    unused = cast("Any", None)
    book = TokenBook.of(plan, suite.tokens)
    return RunContext(suite, book, unused, unused, unused, RunConfig(jobs=jobs), "", "", {})


async def run(
    suite: Suite, journal: Journal, runner: Sessions, *, share: float = 0.5, jobs: int = 1, calls: int = 0
) -> tuple[Beside, Pairs, Model]:
    plan, model = make_plan(suite, seeds=4, token_seed=1), Model()
    pairs = plan_pairs(suite, plan, share=share, token_seed=1)
    beside = Beside(journal, total=len(plan.episodes), pairs=pairs, calibrator=model, calls=calls)
    await run_plan(context(suite, plan, jobs), plan, journal, runner=runner, beside=beside)
    journal.close()
    return beside, pairs, model


@pytest.mark.parametrize("jobs", [1, 3])
async def test_the_asked_session_follows_its_own_at_once_and_is_journalled_beside_it(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make, jobs: int
) -> None:
    sessions = Sessions(record)
    beside, pairs, _ = await run(suite, create(tmp_path / "j", header), sessions, jobs=jobs)
    contents = read(tmp_path / "j")
    assert len(contents.records) == 16
    assert {pair.planted for pair in contents.leak_pairs} == pairs.keys()
    assert len(sessions.ran) == 16 + len(pairs) == 24
    if jobs == 1:
        for planted, asked in pairs.items():
            assert sessions.ran[sessions.ran.index(planted) + 1] == asked.key
    proofs = beside.proofs()
    assert proofs.leak_pairs_planned == len(proofs.leak_pairs or ()) == 8
    assert all(pair.asked and not pair.leaked for pair in proofs.leak_pairs or ())


async def test_a_memory_that_sessions_share_shows_in_every_pair(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make
) -> None:
    beside, _, _ = await run(suite, create(tmp_path / "j", header), Sessions(record, shared=True))
    pairs = beside.proofs().leak_pairs
    assert pairs
    assert all({s.value for s in pair.leaked} == set(pair.tokens.values()) for pair in pairs)


async def test_sessions_that_never_live_leave_pairs_that_were_not_asked(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make
) -> None:
    sessions = Sessions(record, broken=True)
    beside, _, _ = await run(suite, create(tmp_path / "j", header), sessions)
    pairs = beside.proofs().leak_pairs
    assert len(sessions.ran) == 16
    assert pairs
    assert not any(pair.asked for pair in pairs)


@pytest.mark.parametrize("calls", [1, 3, 8, 40])
@pytest.mark.parametrize("jobs", [1, 3])
async def test_calls_are_spread_evenly_over_the_sessions(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make, calls: int, jobs: int
) -> None:
    beside, _, model = await run(suite, create(tmp_path / "j", header), Sessions(record), jobs=jobs, calls=calls)
    assert len(model.after) == len(beside.proofs().calibration or ()) == calls
    assert model.after == sorted(model.after)
    if jobs == 1:  # with more, another worker may finish the last session while one still has calls to make
        assert model.after == [int((number + 0.5) * 16 / calls) for number in range(calls)]
    assert sorted(call.after for call in read(tmp_path / "j").calibration) == model.after


async def test_a_resumed_run_makes_what_is_missing_and_nothing_twice(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make
) -> None:
    first, _, _ = await run(suite, create(tmp_path / "whole", header), Sessions(record), calls=8)
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines) + 1, 5):
        path = tmp_path / f"cut-{kept}"
        path.write_bytes(b"".join(lines[:kept]))
        again, _, _ = await run(suite, resume(path), Sessions(record), calls=8)
        assert again.proofs().leak_pairs == first.proofs().leak_pairs
        contents = read(path)
        assert len(contents.records) == len({item.key for item in contents.records}) == 16
        assert len(contents.leak_pairs) == 8
        assert len(contents.calibration) == 8


async def test_what_is_turned_off_is_none(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make
) -> None:
    beside, _, model = await run(suite, create(tmp_path / "j", header), Sessions(record), share=0)
    proofs = beside.proofs()
    assert (proofs.calibration, proofs.leak_pairs, proofs.leak_pairs_planned, model.after) == (None, None, 0, [])


def pair_of(key: EpisodeKey) -> LeakPair:
    return LeakPair(key, "", ProcessExit(ExitKind.EXITED, 0), "no codes")


async def test_a_pair_twice_or_of_another_run_is_damage(
    tmp_path: Path, suite: Suite, header: JournalHeader, record: Make
) -> None:
    plan = make_plan(suite, seeds=4, token_seed=1)
    pairs = plan_pairs(suite, plan, share=0.5, token_seed=1)
    planted = next(iter(pairs))
    stranger = EpisodeKey("other", Condition.CONTROL, 0)
    for number, (keys, word) in enumerate([((planted, planted), "twice"), ((stranger,), "not planned")]):
        journal = create(tmp_path / str(number), header)
        for key in keys:
            journal.append(record(0), pair_of(key))
        journal.close()
        opened = resume(tmp_path / str(number))
        with pytest.raises(LitmusJournalError, match=word):
            Beside(opened, total=16, pairs=pairs)
        opened.close()
