"""A run's temporary directory, and the removal of those that killed runs left behind."""

import contextlib
import fcntl
import os
import re
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox.remove import discard

_PREFIX = "agent-litmus-"
_LOCK = "lock"
_PLENTY = 2 << 30
_DAY = 86_400.0
"""Seconds after which a directory is no longer just being made."""
_UNLOCKED = frozenset({f"{_LOCK}.new"})
"""All that a directory without a lock can hold."""


class RunState:
    """A directory of mode 0700 that belongs to this run as long as its lock is held.

    Making one removes what earlier runs of the same user left in the same place when they were killed. It is
    removed at the latest when the process ends of itself, however much went wrong before.

    Args:
        base: Where to make it; ``None``: the system's temporary directory.

    Raises:
        LitmusSandboxError: It cannot be made there.
    """

    def __init__(self, base: Path | None) -> None:
        with temporary_files(base):
            place = Path(base or tempfile.gettempdir())
            _remove_abandoned(place)
            self.directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
            try:
                lock = _locked(self.directory)
            except BaseException:
                discard(self.directory)
                raise
        self._remove = weakref.finalize(self, _remove_own, self.directory, lock, os.getpid())

    def remove(self) -> None:
        """Remove the directory; safe to call twice. What cannot be removed is left to the next run."""
        self._remove()


@contextlib.contextmanager
def temporary_files(place: Path | None) -> Iterator[None]:
    """Say what to do where temporary files cannot be written below ``place`` (``None``: the system's directory).

    Raises:
        LitmusSandboxError: Instead of any ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise LitmusSandboxError(
            f"temporary files cannot be written below {place or 'the temporary directory'}: {error}",
            hint="free space there, or set TMPDIR to a directory that can be written and has room",
        ) from error


def _locked(directory: Path) -> int:
    """The open lock of a new directory, locked before it has its name: nobody can take it for abandoned."""
    new = directory / f"{_LOCK}.new"
    lock = os.open(new, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(directory / _LOCK)
    except BaseException:
        os.close(lock)
        raise
    return lock


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
    if not os.environ.get("TMPDIR") and takes_overlays(memory) and _free_bytes(memory) >= _PLENTY:
        return memory
    return Path(tempfile.gettempdir())


def memory_holds_workspaces() -> bool:
    """Whether workspaces can be kept in memory of their own: there is plenty, and it holds overlays (Linux 6.6)."""
    if not takes_overlays(Path("/dev/shm")):  # noqa: S108  as above
        return False
    found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return found is not None and int(found[1]) << 10 >= _PLENTY


def _free_bytes(place: Path) -> int:
    status = os.statvfs(place)
    return status.f_bavail * status.f_frsize


def takes_overlays(place: Path) -> bool:
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
                _remove_if_never_locked(directory, status)


def _remove_if_never_locked(directory: Path, status: os.stat_result) -> None:
    """Remove what a run left that was killed before it had its lock, and nothing anyone else may have made."""
    ours = stat.S_IMODE(status.st_mode) == 0o700 and {path.name for path in directory.iterdir()} <= _UNLOCKED
    if ours and time.time() - status.st_mtime > _DAY:
        discard(directory)


def _remove_if_abandoned(directory: Path) -> None:
    try:
        lock = os.open(directory / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_locked(directory)
    finally:
        os.close(lock)
