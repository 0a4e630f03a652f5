"""Removes directory trees that nobody vouches for."""

import errno
import logging
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_TRIES = 200
_PASSING = {errno.ENOENT, errno.ENOTDIR, errno.ENOTEMPTY, errno.ESTALE}
"""Errors that another one's removing or writing explains."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class _Level:
    """A directory on the way down: which it is, and what is still to be removed below it."""

    identity: tuple[int, int]
    left: list[str]


def discard(root: Path) -> bool:
    """Remove a tree, whoever else removes or fills it at the same time; whether it is gone.

    Made for cleaning up: it never raises. What cannot be removed is logged.
    """
    last: OSError | None = None
    for _ in range(_TRIES):
        try:
            remove_tree(root)
        except OSError as error:
            last = error
            if error.errno not in _PASSING:
                break
        else:
            return True
    logging.getLogger(__name__).warning("%s cannot be removed: %s", root, last)
    return False


def remove_tree(root: Path) -> None:
    """Remove a tree however deep it is and whatever modes it has; a missing one is no error.

    One descriptor moves down and, by ``..``, up again, so depth never matters and no link is followed.

    Raises:
        OSError: Something cannot be removed, or the tree changes under our hands.
    """
    try:
        if not stat.S_ISDIR(root.lstat().st_mode):
            root.unlink()
            return
        root.chmod(0o700)
        fd = os.open(root, _DIRECTORY)
    except FileNotFoundError:
        return
    levels = [_enter(fd)]
    try:
        while levels:
            fd = _step(fd, levels)
    finally:
        os.close(fd)
    root.rmdir()


def _step(fd: int, levels: list[_Level]) -> int:
    """Remove or enter the next entry, or go up; the descriptor of where that leads."""
    left = levels[-1].left
    if left:
        name = left[-1]
        if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            os.unlink(left.pop(), dir_fd=fd)
            return fd
        os.chmod(name, 0o700, dir_fd=fd)
        inner = os.open(name, _DIRECTORY, dir_fd=fd)
        return _moved(fd, inner, lambda: levels.append(_enter(inner)))
    levels.pop()
    if not levels:
        return fd
    outer = os.open("..", _DIRECTORY, dir_fd=fd)
    return _moved(fd, outer, lambda: _leave(outer, levels[-1]))


def _moved(old: int, new: int, then: Callable[[], None]) -> int:
    try:
        then()
    except BaseException:
        os.close(new)
        raise
    os.close(old)
    return new


def _enter(fd: int) -> _Level:
    return _Level(_identity(fd), os.listdir(fd))


def _leave(fd: int, level: _Level) -> None:
    if _identity(fd) != level.identity:
        raise OSError(errno.ESTALE, "a directory was moved while its tree was removed")
    os.rmdir(level.left.pop(), dir_fd=fd)


def _identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino
