"""Standard streams that cannot turn a verdict: closed, full and ASCII-only ones are made safe once, at entry."""

import contextlib
import os
import sys
from collections.abc import Callable
from io import TextIOBase
from typing import Any, TextIO


class Quiet(TextIOBase):
    """A text stream that goes quiet at the first error of writing, for words that decide nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lost = False

    @property
    def encoding(self) -> str:  # type: ignore[override] # the base declares an attribute
        """Encoding of the stream behind."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether a person may be looking."""
        return not self._lost and self._stream.isatty()

    def fileno(self) -> int:
        """Descriptor of the stream behind."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Always: what cannot be written is dropped."""
        return True

    def write(self, text: str) -> int:
        """Write, or drop the text."""
        self._attempt(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flush, or give the stream up."""
        self._attempt(self._stream.flush)

    def _attempt(self, act: Callable[[], Any]) -> None:
        if self._lost:
            return
        try:
            act()
        except (OSError, ValueError):
            self._lost = True
            discard(self._stream)


def settle_streams() -> None:
    """Make the three standard streams usable, whatever the caller left of them.

    A closed descriptor is filled with the null device, or the next file opened would take its number and be written
    to as standard output. Characters that the encoding lacks become escapes. Standard error never raises.
    """
    closed = [number for number in range(3) if _is_closed(number)]
    for number in closed:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, number)
        if null != number:
            os.close(null)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor, for the process's life
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    sys.stderr = Quiet(sys.stderr)
    if 1 in closed:
        sys.stderr.write("litmus: standard output is closed; nothing can be printed on it\n")


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def discard(stream: TextIO) -> None:
    """Send what is left of a stream, and all that follows, to the null device, so that the last flush succeeds."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)
    with contextlib.suppress(OSError, ValueError):
        stream.flush()


def lost_output(write: Callable[[], None]) -> str:
    """Print on standard output by ``write`` and flush.

    Returns:
        Why it could not be printed; empty if it was, or if the reader closed its pipe and wants no more.
    """
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
    except OSError as error:
        discard(sys.stdout)
        return error.strerror or str(error)
    return ""
