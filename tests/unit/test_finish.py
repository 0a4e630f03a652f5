"""Cleaning up goes on to its end whoever is cancelled."""

import asyncio

import anyio.lowlevel
import pytest

from agent_litmus.finish import Once, finished, in_thread


def test_the_result_and_the_error_come_through() -> None:
    async def main() -> None:
        assert await in_thread(int, "7") == 7
        with pytest.raises(ValueError, match="invalid literal"):
            await in_thread(int, "x")

    asyncio.run(main())


def test_a_cancellation_waits_for_the_end_however_often_it_comes() -> None:
    async def main() -> None:
        begun, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def work() -> None:
            begun.set()
            await go.wait()
            ended.set()

        task = asyncio.ensure_future(finished(work()))
        await begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
            assert not task.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(main())


def test_a_cancelled_scope_waits_for_the_end() -> None:
    async def main() -> None:
        steps = []

        async def work() -> None:
            for number in range(5):
                await asyncio.sleep(0)
                steps.append(number)

        with anyio.CancelScope() as scope:
            scope.cancel()
            await finished(work())
            await anyio.lowlevel.checkpoint()
            steps.append(-1)
        assert steps == [0, 1, 2, 3, 4]

    asyncio.run(main())


def test_an_error_behind_a_cancellation_is_not_left_for_the_loop_to_report() -> None:
    async def main() -> list[object]:
        reported: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
        go = asyncio.Event()

        async def work() -> None:
            await go.wait()
            raise OSError("broken")

        task = asyncio.ensure_future(finished(work()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        go.set()
        await asyncio.wait([task])
        assert task.cancelled()
        return reported

    assert asyncio.run(main()) == []


def test_what_is_to_be_done_once_is_done_once_and_all_wait_for_it() -> None:
    async def main() -> None:
        count = 0
        go = asyncio.Event()

        async def work() -> None:
            nonlocal count
            count += 1
            await go.wait()

        once = Once(work)
        waiters = [asyncio.ensure_future(finished_call(once)) for _ in range(3)]
        await asyncio.sleep(0)
        assert once.begun
        waiters[0].cancel()
        await asyncio.sleep(0)
        assert not any(waiter.done() for waiter in waiters)
        go.set()
        ends = await asyncio.gather(*waiters, return_exceptions=True)
        assert [isinstance(end, asyncio.CancelledError) for end in ends] == [True, False, False]
        await once()
        assert count == 1

    async def finished_call(once: Once) -> None:
        await once()

    asyncio.run(main())
