"""Waits for the harness to be killed, then kills what only a living harness could have ended.

bubblewrap dies with its parent only once it has asked to. A child that loses its parent just before waits for ever,
and nobody else knows of it. Runs with ``python -I -S``: the standard input is the harness's sign of life, the
argument a text that stands in the command line of every process to be killed.
"""

import os
import sys
import time

ROUNDS, PAUSE = 4, 0.05


def marked(mark: bytes) -> list[int]:
    """Processes whose command line holds ``mark``, this one aside."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib loads slowly
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as stream:  # noqa: PTH123  as above
                    if mark in stream.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


def main() -> None:
    """Wait for the end of the harness; a word from it says that it ended of itself."""
    if os.read(0, 1):
        return
    mark = os.fsencode(sys.argv[1])
    quiet = 0
    while quiet < ROUNDS:  # what was being forked when the harness died may not be there yet
        found = marked(mark)
        quiet = 0 if found else quiet + 1
        for pid in found:
            try:
                os.kill(pid, 9)
            except OSError:
                continue
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
