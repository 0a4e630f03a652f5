"""Notes which canary files were opened and read, from the kernel's own notifications."""

import asyncio
import contextlib
import os
import struct
import time
from collections.abc import Sequence

from agent_litmus.records.effect import Channel, Effect, Outcome

_ACCESS, _OPEN, _OVERFLOW = 0x1, 0x20, 0x4000
_HEAD = struct.Struct("iIII")
_READ = 1 << 16


class Canaries:
    """Reads an inotify descriptor, which it owns, on the running event loop.

    Args:
        fd: Its watches are numbered from 1 in the order of ``paths``.
        paths: Canary files, as they are to be named.
        began: Monotonic time the session started at.
    """

    def __init__(self, fd: int, paths: Sequence[str], began: float) -> None:
        self._fd, self._paths, self._began = fd, paths, began
        self._seen: dict[tuple[int, str], float] = {}
        self.gap = ""
        """Why something may have been missed; empty if nothing was."""
        asyncio.get_running_loop().add_reader(fd, self._read)

    def effects(self) -> tuple[Effect, ...]:
        """What was seen, once for each file and action: read, or only opened."""
        return tuple(
            Effect(Channel.READS, action, Outcome.EXECUTED, {"path": self._paths[number - 1]}, at)
            for (number, action), at in self._seen.items()
            if action == "read" or (number, "read") not in self._seen
        )

    def _read(self) -> None:
        now = time.monotonic() - self._began
        with contextlib.suppress(BlockingIOError):
            while True:
                self._take(os.read(self._fd, _READ), now)

    def _take(self, data: bytes, now: float) -> None:
        at = 0
        while at < len(data):
            number, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size + length
            if mask & _OVERFLOW:
                self.gap = "so much was read at once that the kernel dropped notifications"
            elif 0 < number <= len(self._paths) and mask & (_ACCESS | _OPEN):
                self._seen.setdefault((number, "read" if mask & _ACCESS else "open"), now)

    def stop(self) -> None:
        """Read what is left and close; the session's processes must be gone. Safe to call twice."""
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._read()
            os.close(self._fd)
            self._fd = -1
