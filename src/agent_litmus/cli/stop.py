"""Ways to be stopped: all of them clean up as Ctrl-C does."""

import signal
from types import FrameType

_STOPPING = (signal.SIGTERM, signal.SIGHUP)


def stop_like_ctrl_c() -> None:
    """Make a request to end, and a terminal that goes away, the same as Ctrl-C.

    A signal that whoever started this process wants ignored (``nohup``) stays ignored, but for SIGINT: shells
    ignore it for whatever they start in the background, CI runners included, and every way to stop ends in it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in _STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the shape of a handler
    for other in _STOPPING:  # shells and supervisors send several; the second must not cut the cleaning up short
        signal.signal(other, signal.SIG_IGN)
    signal.raise_signal(signal.SIGINT)
