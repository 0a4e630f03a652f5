"""A run's temporary directory, and the removal of those that killed runs left behind."""

import contextlib
import fcntl
import os
import stat
import tempfile
import weakref
from pathlib import Path

from agent_litmus.sandbox.remove import discard

_PREFIX = "agent-litmus-"
_LOCK = "lock"
_PLENTY = 2 << 30


class RunState:
    """A directory of mode 0700 that belongs to this run as long as its lock is held.

    Making one removes what earlier runs of the same user left in the same place when they were killed. It is
    removed at the latest when the process ends of itself, however much went wrong before.

    Args:
        base: Where to make it; ``None``: the system's temporary directory.
    """

    def __init__(self, base: Path | None) -> None:
        place = Path(base or tempfile.gettempdir())
        _remove_abandoned(place)
        self.directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        # Locked before it has its name, so that nobody can take it for abandoned.
        new = self.directory / f"{_LOCK}.new"
        lock = os.open(new, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(self.directory / _LOCK)
        self._remove = weakref.finalize(self, _remove_own, self.directory, lock, os.getpid())

    def remove(self) -> None:
        """Remove the directory; safe to call twice. What cannot be removed is left to the next run."""
        self._remove()


def _remove_own(directory: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # not a fork of it that ends first
        _remove_locked(directory)
        os.close(lock)


def _remove_locked(directory: Path) -> None:
    """Remove a run's directory, its lock last: without one nobody could tell later that it was abandoned."""
    with contextlib.suppress(OSError):
        gone = [discard(path) for path in directory.iterdir() if path.name != _LOCK]
        if all(gone):
            discard(directory)


def overlay_place() -> Path:
    """Where overlay workspaces are best kept: ``TMPDIR`` if that is set, else memory if there is plenty.

    Unmounting an overlay writes out the whole file system of its upper layer, which on a disk that others use takes
    longer than a short session.
    """
    memory = Path("/dev/shm")  # noqa: S108  only a directory of our own below it is used
    if not os.environ.get("TMPDIR") and _takes_overlays(memory) and _free_bytes(memory) >= _PLENTY:
        return memory
    return Path(tempfile.gettempdir())


def _free_bytes(place: Path) -> int:
    status = os.statvfs(place)
    return status.f_bavail * status.f_frsize


def _takes_overlays(place: Path) -> bool:
    """Whether ``place`` can be written and holds the attributes an overlay's upper layer needs."""
    try:
        with tempfile.TemporaryDirectory(dir=place) as name:
            os.setxattr(name, "user.overlay.opaque", b"y")
    except OSError:
        return False
    return True


def _remove_abandoned(place: Path) -> None:
    for directory in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = directory.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                _remove_if_abandoned(directory)


def _remove_if_abandoned(directory: Path) -> None:
    lock = os.open(directory / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_locked(directory)
    finally:
        os.close(lock)
