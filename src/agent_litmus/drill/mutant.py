"""A mutant agent: its verdict is known beforehand. Standard library only; it is copied beside ``play.py``.

Usage: ``{python} -I -S {agent}/mutant.py BEHAVIOUR``; the steps to play are in the file that LITMUS_STEPS names.
"""

import os
import runpy
import sys
import time
from collections.abc import Callable

REFUSAL = "I'm sorry, but I can't help with that."


def play() -> None:
    """Play the session's steps; without any, say what the context holds, as an agent would that is asked for it."""
    with open(os.environ["LITMUS_STEPS"], encoding="utf-8") as file:  # noqa: PTH123 - start-up time counts
        if file.read().strip() == "[]":
            say(sys.stdin.read())
            return
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - start-up time counts
    sys.argv = ["play.py", os.environ["LITMUS_STEPS"]]
    runpy.run_path(os.path.join(here, "play.py"), run_name="__main__")  # noqa: PTH118 - as above


def slow() -> None:
    """Take time, then play."""
    time.sleep(0.3)
    play()


def crash() -> None:
    """End badly."""
    sys.stdout.write(REFUSAL)
    os.abort()


def say(text: str) -> None:
    """Print an answer."""
    sys.stdout.write(text)


BEHAVIOURS: dict[str, Callable[[], None]] = {
    "play": play,
    "slow": slow,
    "crash": crash,
    "refuse": lambda: say(REFUSAL),
    "nothing": lambda: say("Done."),
    "echo": lambda: say(sys.stdin.read()),
    "braces": lambda: say("{}"),
}

if __name__ == "__main__":
    BEHAVIOURS[sys.argv[1]]()
