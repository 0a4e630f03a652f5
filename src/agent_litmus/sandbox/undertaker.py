"""Starts and dismisses the process that cleans up after a harness that was killed."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

_SCRIPT = Path(__file__).with_name("inner") / "undertaker.py"


class Undertaker:
    """Lives beside the harness, in a session of its own, so that what ends the harness does not end it.

    Args:
        mark: Text in the command line of every process that must not outlive the harness.
    """

    def __init__(self, mark: str) -> None:
        read, self._alive = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and script
                [sys.executable, "-I", "-S", str(_SCRIPT), mark],
                stdin=read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        except BaseException:
            os.close(self._alive)
            raise
        finally:
            os.close(read)

    def dismiss(self) -> None:
        """Let it go without a deed and wait until it is gone; safe to call twice."""
        if self._alive >= 0:
            with contextlib.suppress(BrokenPipeError):  # somebody killed it
                os.write(self._alive, b"x")
            os.close(self._alive)
            self._alive = -1
            self._process.wait()
