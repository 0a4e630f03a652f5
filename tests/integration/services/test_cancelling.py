"""A session's services that are cancelled at any moment stop listening, and the loop watches nothing of theirs."""

import asyncio
import gc
import os

import anyio
import pytest

from agent_litmus.testing.local import local_session

pytestmark = pytest.mark.integration
TURNS = 25


def _watched() -> set[int]:
    selector = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
    return set(selector.get_map())


async def _serve(reached: asyncio.Event) -> None:
    async with local_session() as local:
        _, writer = await asyncio.open_connection(*local.listeners.gateway.getsockname())
        writer.write(b"GET /half-a-request HTTP/1.1\r\n")
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            writer.close()


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208  as names


@pytest.mark.parametrize("repeatedly", [False, True])
def test_services_cancelled_at_any_turn_leave_nothing_that_the_loop_watches(repeatedly: bool) -> None:
    async def cancelled_at(turn: int) -> bool:
        reached = asyncio.Event()
        async with anyio.create_task_group() as group:
            task: list[asyncio.Task[None]] = []

            async def main() -> None:
                task.append(asyncio.current_task())  # type: ignore[arg-type]
                await _serve(reached)

            group.start_soon(main)
            for _ in range(turn):
                await asyncio.sleep(0)
            if repeatedly or not task:
                group.cancel_scope.cancel()
            else:
                task[0].cancel()
        return reached.is_set()

    async def work() -> None:
        assert await cancelled_at(1000)  # what is made once is made
        gc.collect()  # what other tests left for the collector would be closed in between
        before = _watched(), _descriptors()
        for turn in range(TURNS):
            await cancelled_at(turn)
            for _ in range(3):  # transports tell the loop in its next turn that they are closed
                await asyncio.sleep(0)
            assert (_watched(), _descriptors()) == before, f"cancelled at turn {turn}"

    asyncio.run(work())
