"""Moves a process's standard streams on the event loop: output is always drained, input never blocks."""

import asyncio
import contextlib
import fcntl
import os
from typing import Self

_PIPE_BYTES = 1 << 18
_READ = 1 << 18


class Output:
    """Reads a pipe to its end, keeping the first ``limit`` bytes. Owns the descriptor."""

    def __init__(self, fd: int, limit: int) -> None:
        self._fd, self._limit = fd, limit
        self._kept = bytearray()
        self.truncated = False
        self._ended = asyncio.Event()

    def start(self) -> Self:
        """Begin to read."""
        os.set_blocking(self._fd, False)
        asyncio.get_running_loop().add_reader(self._fd, self._read)
        return self

    @property
    def kept(self) -> bytes:
        """What was kept."""
        return bytes(self._kept)

    def _read(self) -> None:
        try:
            piece = os.read(self._fd, _READ)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self.close()
            return
        room = self._limit - len(self._kept)
        self._kept += piece[:room]
        self.truncated |= len(piece) > room

    async def ended(self, within: float) -> None:
        """Wait for the end of the stream, at most ``within`` seconds; then stop reading."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), within)
        self.close()

    def close(self) -> None:
        """Stop reading; safe to call twice."""
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
        self._ended.set()


class Input:
    """Writes bytes into a pipe as its reader takes them, then closes it. Owns the descriptor."""

    def __init__(self, fd: int, data: bytes) -> None:
        self._fd, self._left = fd, memoryview(data)

    def start(self) -> Self:
        """Begin to write."""
        os.set_blocking(self._fd, False)
        asyncio.get_running_loop().add_writer(self._fd, self._write)
        self._write()
        return self

    def _write(self) -> None:
        try:
            if self._left:
                self._left = self._left[os.write(self._fd, self._left) :]
        except BlockingIOError:
            return
        except OSError:  # the reader went away; what it did not want is no error
            self._left = self._left[:0]
        if not self._left:
            self.close()

    def close(self) -> None:
        """Stop writing; safe to call twice."""
        if self._fd >= 0:
            asyncio.get_running_loop().remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1


def pipe(owner: int | None = None) -> tuple[int, int]:
    """A large pipe whose ends ``owner`` may reopen through ``/dev/stdout``."""
    read, write = os.pipe()
    with contextlib.suppress(OSError):
        fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    if owner is not None:
        os.fchown(read, owner, owner)
    return read, write
