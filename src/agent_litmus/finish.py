"""Work that must not be left half-done, whoever is cancelled meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def finished(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Run ``work`` to its end, then return its result.

    A cancellation that arrives meanwhile, of asyncio or of an anyio scope, is held back and raised when ``work``
    has ended; its result is then lost, so what it made must be known elsewhere.
    """
    task = asyncio.ensure_future(work)
    held: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):  # a cancelled scope would cancel again and again
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                held = error
    if held is not None:
        if not task.cancelled():
            task.exception()  # told to nobody: the cancellation goes first
        raise held
    return task.result()


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Like ``asyncio.to_thread``, but the thread has ended when this returns or raises."""
    return await finished(asyncio.to_thread(function, *arguments))


class Once:
    """Something that is done once, however often and by however many it is asked for.

    Args:
        work: What is to be done.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._work = work
        self._task: asyncio.Task[None] | None = None

    @property
    def begun(self) -> bool:
        """Whether it was asked for."""
        return self._task is not None

    def __call__(self) -> Awaitable[None]:
        """Begin it now unless it was begun; the result is to be awaited and ends when the work has."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._work())
        return finished(self._task)
