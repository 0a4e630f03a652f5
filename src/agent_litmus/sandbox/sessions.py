"""The sessions of a run: open ones, and those that are just being opened."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, Protocol, TypeVar

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.finish import finished


class _Closable(Protocol):
    async def close(self) -> None:
        """Remove everything the session left."""


S = TypeVar("S", bound=_Closable)


class Sessions(Generic[S]):
    """Keeps what must be closed at the end of a run, even if nobody was ever given it."""

    def __init__(self) -> None:
        self._open: set[S] = set()
        self._opening: set[asyncio.Task[S]] = set()
        self._over = False

    async def open(self, make: Coroutine[Any, Any, S]) -> S:
        """The session that ``make`` makes; if the caller is cancelled meanwhile, it is closed again.

        Raises:
            LitmusSandboxError: The run is over.
        """
        if self._over:
            make.close()
            raise closed("the run's sandbox provider was closed")
        opening = asyncio.ensure_future(self._made(make))
        self._opening.add(opening)
        try:
            return await finished(opening)
        except asyncio.CancelledError:
            if not opening.cancelled() and opening.exception() is None:
                await opening.result().close()
            raise
        finally:
            self._opening.discard(opening)

    async def _made(self, make: Coroutine[Any, Any, S]) -> S:
        session = await make
        self._open.add(session)
        return session

    def forget(self, session: S) -> None:
        """The session is closed; safe to call twice."""
        self._open.discard(session)

    async def close(self) -> list[BaseException]:
        """Close all, those being opened included; what went wrong. No session can be opened afterwards."""
        self._over = True
        if self._opening:
            await asyncio.wait(set(self._opening))
        ends = await asyncio.gather(*(session.close() for session in tuple(self._open)), return_exceptions=True)
        return [end for end in ends if end is not None]


def closed(what: str) -> LitmusSandboxError:
    """The error for using what was closed."""
    return LitmusSandboxError(what, hint="nothing can be run in it any more; open a new one")
