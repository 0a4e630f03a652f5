"""Tells directories that earlier runs made: results are never part of the agent that made them.

The rule looks at what a directory holds, not at what the current configuration says: a build must be the same
whichever output directory earlier runs wrote to. What is left out is not in the snapshot either, so nothing can be
hidden from the digest this way.
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
    try:
        fd = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        start = os.read(fd, _HEADER_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)
    return _is_header(start.partition(b"\n")[0])


def _is_header(line: bytes) -> bool:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("type") == "header" and document.keys() >= _HEADER
