"""Tells what earlier runs made: results are never part of the agent that made them.

The rule looks at what a directory or a file holds, not at what the current configuration says: a build must be
the same whichever output directory earlier runs wrote to. What is left out is not in the snapshot either, so
nothing can be hidden from the digest this way.
"""

import json
import os
import re
import stat
from pathlib import Path

STORE = ".snapshots"
"""Name of the snapshot store below an output directory."""
_STORED = re.compile(r"[0-9a-f]{64}|tmp-[0-9a-f]{16}")
_JOURNAL = "journal.jsonl"
_HEADER = {"run_id", "agent_digest", "suite_digest", "plan_digest"}
_HEADER_BYTES = 1 << 20
_HISTORY = "history.sqlite"
_BESIDE = ("-wal", "-shm", "-journal", ".origin")
_MAGIC = b"SQLite format 3\x00"
APPLICATION_ID = 0x6C69746D
"""Written into the head of every SQLite history, as SQLite provides for: the first letters of litmus."""
_AT = 68
"""Where SQLite's file format has it, as four bytes, the highest first."""


def is_history(file: Path) -> bool:
    """Whether ``file`` is a history that runs were recorded in, or one of the files that SQLite and we keep beside.

    A history is called ``history.sqlite`` and says in its head that it is one.
    """
    if not file.name.startswith(_HISTORY) or file.name.removeprefix(_HISTORY) not in {"", *_BESIDE}:
        return False
    head = _start(file.with_name(_HISTORY), _AT + 4)
    return head.startswith(_MAGIC) and head[_AT:] == APPLICATION_ID.to_bytes(4, "big")


def holds_results(directory: Path) -> bool:
    """Whether ``directory`` is a snapshot store or the directory of one run.

    A store is called :data:`STORE` and holds nothing but directories named as builds are. A run's directory holds a
    ``journal.jsonl`` whose first line is the header of a run.
    """
    if directory.name == STORE:
        return _is_store(directory)
    return _begins_with_header(directory / _JOURNAL)


def _is_store(directory: Path) -> bool:
    with os.scandir(directory) as items:
        return all(_STORED.fullmatch(item.name) and item.is_dir(follow_symlinks=False) for item in items)


def _begins_with_header(journal: Path) -> bool:
    return _is_header(_start(journal, _HEADER_BYTES).partition(b"\n")[0])


def _start(file: Path, size: int) -> bytes:
    """The first bytes of a file; none of what is no file."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, size) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)


def _is_header(line: bytes) -> bool:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("type") == "header" and document.keys() >= _HEADER
