"""Whatever is cancelled or closed, at whatever moment: nothing is left, and cleaning up never fails."""

import asyncio
import gc
import os
import sys
import threading
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox.protocol import Launch, Limits, Listeners, Provider, SandboxSession, SandboxSpec

pytestmark = pytest.mark.integration
Make = Callable[[], Provider]
Cancel = Callable[[Coroutine[Any, Any, None], int], Awaitable[bool]]
NAME = f"cancelling-{os.getpid()}"
LIMITS = Limits(disk_bytes=(512 << 20) + os.getpid())
"""By this odd number a bubblewrap of this test is found, whoever its parent is by now."""
SPEC = SandboxSpec(NAME, {"a.txt": "a", "d/b.txt": "b"}, LIMITS)
MAX_STEPS = 60


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one place where runs of this test may leave something."""
    place = tmp_path / "state"
    place.mkdir()
    place.chmod(0o711)
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    gc.collect()  # what other tests left for the collector would be closed in between
    monkeypatch.setattr(sys.modules[__name__], "_OTHERS", frozenset(_all_children()))
    return place


_OTHERS: frozenset[str] = frozenset()
"""Children that this process had before the test, such as a database server that other tests use."""


@types.coroutine
def _counted(work: Coroutine[Any, Any, None], on_step: Callable[[], None]) -> Generator[Any, Any, None]:
    """Run ``work``; call ``on_step`` each time it is about to be suspended."""
    steps = work.__await__()
    resume: Callable[[], Any] = steps.__next__
    while True:
        try:
            awaited = resume()
        except StopIteration:
            return
        on_step()
        try:
            yield awaited
        except BaseException as error:  # noqa: BLE001  handed on
            resume = _thrower(steps, error)
        else:
            resume = steps.__next__


def _thrower(steps: Generator[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: steps.throw(error)


def _at(step: int, then: Callable[[], object]) -> Callable[[], None]:
    """Calls ``then`` soon after the ``step``-th call."""
    left = step

    def on_step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            asyncio.get_running_loop().call_soon(then)

    return on_step


async def _by_task(work: Coroutine[Any, Any, None], step: int, times: int = 1) -> bool:
    """Cancel the task at its ``step``-th suspension; whether it got that far."""

    async def main() -> None:
        await _counted(work, _at(step, cancel))

    def cancel() -> None:
        nonlocal times
        times -= 1
        task.cancel()
        if times:
            asyncio.get_running_loop().call_later(0.002, cancel)

    task = asyncio.ensure_future(main())
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()
    return task.cancelled()


async def _by_task_often(work: Coroutine[Any, Any, None], step: int) -> bool:
    return await _by_task(work, step, times=5)


async def _by_scope(work: Coroutine[Any, Any, None], step: int) -> bool:
    """Cancel the anyio scope at the ``step``-th suspension; it cancels everything that is awaited from then on."""
    async with anyio.create_task_group() as group:

        async def main() -> None:
            await _counted(work, _at(step, group.cancel_scope.cancel))

        group.start_soon(main)
    return group.cancel_scope.cancel_called


def _close(listeners: Listeners) -> None:
    for sock in (listeners.gateway, listeners.tools, listeners.dns, *listeners.http):
        if sock is not None:
            sock.close()


async def _life(provider: Provider) -> None:
    session = await provider.open(SPEC)
    try:
        _close(await session.start(Launch(("sh", "-c", "echo x > made; sleep 1000 & sleep 0.02"), {})))
        assert (await session.wait()).exit.clean
        assert (await session.command(("cat", "made"), 20)).stdout == b"x\n"
    finally:
        await session.close()


def _left(state: Path) -> dict[str, object]:
    """What a run left on disk, of processes, threads and descriptors."""
    threads = [t.name for t in threading.enumerate() if t.name.startswith("litmus-")]
    marked = [pid.name for pid in Path("/proc").iterdir() if _is_marked(pid)]
    return {
        "files": [path.name for path in state.iterdir()],
        "children": [pid for pid in _all_children() if pid not in _OTHERS],
        "threads": threads,
        "marked": marked,
        "descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208  as names
    }


def _all_children() -> list[str]:
    return [pid for task in Path("/proc/self/task").iterdir() for pid in _children(task)]


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text().split()
    except OSError:  # a thread that has just ended
        return []


def _is_marked(process: Path) -> bool:
    try:
        if str(LIMITS.disk_bytes).encode() in (process / "cmdline").read_bytes().split(b"\0"):
            return True
        return f"LITMUS_SESSION={NAME}".encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def _run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run ``work``; nothing may be reported to the loop's handler of unexpected errors."""
    reported: list[dict[str, Any]] = []

    async def main() -> Any:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
        return await work()

    result = asyncio.run(main())
    assert reported == []
    return result


@pytest.mark.parametrize("cancel", [_by_task, _by_task_often, _by_scope])
def test_a_session_cancelled_at_any_step_leaves_nothing(provider: Make, state: Path, cancel: Cancel) -> None:
    async def work(step: int) -> bool:
        opened = provider()
        try:
            return await cancel(_life(opened), step)
        finally:
            await opened.close()

    _run(lambda: work(MAX_STEPS))  # what is made once per process is made
    before = _left(state)
    assert (before["files"], before["children"], before["threads"], before["marked"]) == ([], [], [], [])
    step = 1
    while _run(partial(work, step)):
        assert _left(state) == before, f"cancelled at step {step}"
        step += 1
        assert step < MAX_STEPS
    assert step > 5


@pytest.mark.parametrize("cancel", [_by_task, _by_task_often, _by_scope])
def test_closing_the_provider_goes_on_when_it_is_cancelled(provider: Make, state: Path, cancel: Cancel) -> None:
    async def work() -> None:
        opened = provider()
        session = await opened.open(SPEC)
        _close(await session.start(Launch(("sleep", "1000"), {})))
        await cancel(_awaiting(opened.close), 1)

    _run(work)
    left = _left(state)
    assert (left["files"], left["children"], left["marked"]) == ([], [], [])


async def _awaiting(close: Callable[[], Awaitable[None]]) -> None:
    await close()


@pytest.mark.parametrize("ticks", [0, 1, 2, 3, 5, 8, 13])
def test_a_provider_that_is_closed_while_a_session_is_opened_closes_that_too(
    provider: Make, state: Path, ticks: int
) -> None:
    async def work() -> None:
        opened = provider()
        opening = asyncio.ensure_future(opened.open(SPEC))
        for _ in range(ticks):
            await asyncio.sleep(0)
        await opened.close()
        (end,) = await asyncio.gather(opening, return_exceptions=True)
        if not isinstance(end, BaseException):
            with pytest.raises(LitmusSandboxError, match="closed"):
                await end.start(Launch(("true",), {}))
        else:
            assert isinstance(end, LitmusSandboxError)
        with pytest.raises(LitmusSandboxError, match="closed"):
            await opened.open(SPEC)

    _run(work)
    left = _left(state)
    assert (left["files"], left["children"], left["marked"]) == ([], [], [])


async def _starting(session: SandboxSession) -> None:
    _close(await session.start(Launch(("sleep", "1000"), {})))


async def _waiting(session: SandboxSession) -> None:
    await _starting(session)
    assert not (await session.wait()).exit.clean


async def _commanding(session: SandboxSession) -> None:
    _close(await session.start(Launch(("true",), {})))
    await session.wait()
    assert (await session.command(("sleep", "1000"), 20)).exit_code is None


@pytest.mark.parametrize(("use", "steps"), [(_starting, 8), (_waiting, 2), (_commanding, 8)])
@pytest.mark.parametrize("closer", ["session", "provider", "both"])
def test_closing_what_others_are_using_ends_their_work(
    provider: Make, state: Path, use: Callable[[SandboxSession], Coroutine[Any, Any, None]], steps: int, closer: str
) -> None:
    async def work(step: int) -> None:
        opened = provider()
        session = await opened.open(SPEC)
        reached = asyncio.Event()
        using = asyncio.ensure_future(_counted(use(session), _at(step, reached.set)))
        waiting = asyncio.ensure_future(reached.wait())
        await asyncio.wait([using, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        closers = {
            "session": [session.close],
            "provider": [opened.close],
            "both": [session.close, opened.close] * 2,
        }
        await asyncio.gather(*(_awaiting(close) for close in closers[closer]))
        (end,) = await asyncio.gather(using, return_exceptions=True)
        assert end is None or isinstance(end, LitmusSandboxError), repr(end)
        await opened.close()

    for step in range(1, steps + 1):
        _run(partial(work, step))
        left = _left(state)
        assert (left["files"], left["children"], left["marked"]) == ([], [], []), f"closed at step {step}"
