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


def forget_interrupts() -> None:
    """Let this process end with the exit code it chooses.

    Python notes an interrupt that leaves code compiled from text (which is how dataclasses make their methods, so
    any import may meet one) and at the end kills itself by SIGINT for it, although it was caught long since. To run
    any other code compiled from text takes the note back.
    """
    exec("")  # noqa: S102  the only way there is, and it runs nothing


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the shape of a handler
    for other in _STOPPING:  # shells and supervisors send several; the second must not cut the cleaning up short
        signal.signal(other, signal.SIG_IGN)
    signal.raise_signal(signal.SIGINT)
