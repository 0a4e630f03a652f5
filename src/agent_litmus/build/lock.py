"""Advisory locks on directories, shared by those who use one and exclusive for who removes it."""

import fcntl
import os
from pathlib import Path


class DirectoryLock:
    """A held lock; it ends with :meth:`release` or with the process, whatever comes first."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, place: Path, mode: int = fcntl.LOCK_SH) -> "DirectoryLock | None":
        """Lock a directory; ``None`` if it is gone, or if others hold it and ``mode`` says not to wait."""
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, mode)
            # While this waited, who held the lock may have moved the directory away.
            if os.path.samestat(os.fstat(descriptor), place.stat()):
                return cls(descriptor)
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(descriptor)
        return None

    def release(self) -> None:
        """Give the lock back; safe to call twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
