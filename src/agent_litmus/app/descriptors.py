"""How many files and sockets the harness may hold open at once."""

import contextlib
import resource

WANTED = 65_536
"""Sessions hold a listener for every place their agents send to; the usual soft limit of 1024 is meant for programs
that wait with ``select``, which this one does not."""


def raise_limit() -> int:
    """Raise the soft limit on open files towards :data:`WANTED`, never above the hard one; return what holds now.

    Agents do not inherit it: each session sets limits of its own.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
