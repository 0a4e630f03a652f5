"""The append-only journal of a run: one JSON line per finished session, on disk before the next is counted.

Line 1 is the header that says what the run is; every further line holds a session, a leak pair, a calibration call
or a receipt of a remote agent's endpoint. A torn last line (a kill in the middle of a write) is cut off on resume;
any other damage is an error that names the line.
"""

import contextlib
import fcntl
import json
import os
import stat
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from io import FileIO
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from agent_litmus.errors import LitmusJournalError
from agent_litmus.records.proofs import CalibrationCall, LeakPair
from agent_litmus.records.session import EndpointReceipt, SessionRecord

SCHEMA_VERSION = 2
_SESSION = TypeAdapter(SessionRecord)
_PAIR = TypeAdapter(LeakPair)
_CALL = TypeAdapter(CalibrationCall)
_RECEIPT = TypeAdapter(EndpointReceipt)


@dataclass(frozen=True, slots=True)
class JournalHeader:
    """What a run is; a resume must agree on every field that it recomputes."""

    run_id: str
    agent_digest: str
    suite_digest: str
    config_digest: str
    plan_digest: str
    token_seed: int
    settings: Mapping[str, Any]
    """What ``config_digest`` is over, so that a refused resume can say what changed."""
    schema_version: int = SCHEMA_VERSION


_HEADER = TypeAdapter(JournalHeader)
_RESUMED_FIELDS = {
    "agent_digest": "the agent build",
    "suite_digest": "the suite",
    "config_digest": "the configuration",
    "plan_digest": "the plan",
    "schema_version": "the journal format",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal holds."""

    header: JournalHeader
    records: tuple[SessionRecord, ...] = ()
    leak_pairs: tuple[LeakPair, ...] = ()
    calibration: tuple[CalibrationCall, ...] = ()
    endpoint: tuple[EndpointReceipt, ...] = ()


class Journal:
    """An open, locked journal."""

    def __init__(self, path: Path, file: FileIO, contents: Contents) -> None:
        self.path = path
        self.header = contents.header
        self.records = contents.records
        """Sessions that were in the journal when it was opened."""
        self.leak_pairs = contents.leak_pairs
        """Leak pairs that were in it then."""
        self.calibration = contents.calibration
        """Calibration calls that were in it then."""
        self.endpoint = contents.endpoint
        """What a remote agent's endpoint had said of itself before the sessions in it."""
        self._file = file
        self._lock = threading.Lock()

    def append(self, record: SessionRecord, pair: LeakPair | None = None) -> None:
        """Write one session, and the leak pair made right after it, and sync them to disk.

        Both go in one write, the pair first: a session that is in the journal has its pair there too, so a run that
        is killed between the two makes both again.

        Raises:
            LitmusJournalError: They could not be written whole; what was written of them is removed again.
        """
        line = _line("session", _SESSION.dump_json(record))
        self._write(line if pair is None else _line("leak_pair", _PAIR.dump_json(pair)) + line)

    def append_calibration(self, call: CalibrationCall) -> None:
        """Write one calibration call and sync it to disk; raises as :meth:`append`."""
        self._write(_line("calibration", _CALL.dump_json(call)))

    def append_endpoint(self, receipts: Iterable[EndpointReceipt]) -> None:
        """Write what a remote agent's endpoint said of itself before sessions; raises as :meth:`append`."""
        self._write(b"".join(_line("endpoint", _RECEIPT.dump_json(receipt)) for receipt in receipts))

    def _write(self, lines: bytes) -> None:
        with self._lock:
            _write_line(self.path, self._file, lines)

    def close(self) -> None:
        """Release the lock."""
        self._file.close()


def create(path: Path, header: JournalHeader) -> Journal:
    """Start a new journal.

    Raises:
        LitmusJournalError: The file exists or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644), "a")
    except OSError as error:
        raise LitmusJournalError(
            f"{path}: the journal cannot be created: {error.strerror}",
            hint="give a writable, empty run directory (`--output`), or `--resume` an existing run",
        ) from error
    _lock(path, file)
    _write_line(path, file, json.dumps({"type": "header", **asdict(header)}).encode() + b"\n")
    return Journal(path, file, Contents(header))


def resume(path: Path) -> Journal:
    """Open a journal to go on with; the caller compares the header with :func:`ensure_same_run`.

    Raises:
        LitmusJournalError: The file is missing, locked by a live run, or damaged elsewhere than in its last line.
    """
    try:
        file = FileIO(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC), "a")
    except OSError as error:
        raise LitmusJournalError(
            f"{path}: the journal cannot be opened: {error.strerror}",
            hint="`--resume` takes the directory of an earlier run, the one that holds journal.jsonl",
        ) from error
    _lock(path, file)
    try:
        _ensure_regular(path, file)
        whole = _cut_torn_line(path, file)
        contents = _parse(path, whole)
    except BaseException:
        file.close()
        raise
    return Journal(path, file, contents)


def read(path: Path) -> Contents:
    """Read a journal without changing it; a torn last line is ignored. Raises as :func:`resume`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LitmusJournalError(f"{path}: the journal cannot be read: {error.strerror}") from error
    return _parse(path, data[: data.rfind(b"\n") + 1])


def ensure_same_run(journal: Journal, expected: JournalHeader) -> None:
    """Refuse to mix two runs in one journal.

    Raises:
        LitmusJournalError: Digest, suite, configuration or plan differ; the message says which.
    """
    old, new = asdict(journal.header), asdict(expected)
    changed = [text for name, text in _RESUMED_FIELDS.items() if old[name] != new[name]]
    differing = [
        f"{name} was {old['settings'].get(name)!r}, is {new['settings'].get(name)!r}"
        for name in sorted(old["settings"].keys() | new["settings"].keys())
        if old["settings"].get(name) != new["settings"].get(name)
    ]
    if changed:
        raise LitmusJournalError(
            f"{journal.path}: cannot resume: {' and '.join(changed)} changed since this run began"
            + (f" ({'; '.join(differing)})" if differing else ""),
            hint="give the same options again, or start a new run without `--resume`: results are never mixed",
            slug="resume-mismatch",
        )


def _ensure_regular(path: Path, file: FileIO) -> None:
    """Reading a pipe would wait for ever."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise LitmusJournalError(
            f"{path}: the journal is not a regular file", hint="give the directory of an earlier run"
        )


def _lock(path: Path, file: FileIO) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise LitmusJournalError(
            f"{path}: another process is writing this journal", hint="wait for it to end, or stop it first"
        ) from error


def _write_line(path: Path, file: FileIO, line: bytes) -> None:
    start = os.fstat(file.fileno()).st_size
    try:
        view = memoryview(line)
        while view:
            view = view[os.write(file.fileno(), view) :]
        os.fsync(file.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), start)
        raise LitmusJournalError(
            f"{path}: the journal cannot be written: {error.strerror}",
            hint="free disk space, then go on with `litmus run --resume " + str(path.parent) + "`",
            slug="journal-write",
        ) from error


def _cut_torn_line(path: Path, file: FileIO) -> bytes:
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.ftruncate(file.fileno(), len(whole))
        os.fsync(file.fileno())
    return whole


def _line(kind: str, record: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","record":' + record + b"}\n"


def _parse(path: Path, data: bytes) -> Contents:
    lines = data.splitlines()
    if not lines:
        raise LitmusJournalError(
            f"{path}:1: the journal has no header",
            hint="start a new run; this one never began",
            slug="empty-journal",
        )
    header = _header(path, _json_line(path, 1, lines[0]))
    found: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    for number, line in enumerate(lines[1:], start=2):
        kind, record = _record(path, number, line)
        found[kind].append(record)
    return Contents(
        header,
        tuple(found["session"]),
        tuple(found["leak_pair"]),
        tuple(found["calibration"]),
        tuple(found["endpoint"]),
    )


_KINDS: Mapping[str, tuple[TypeAdapter[Any], str]] = {
    "session": (_SESSION, "not a session record"),
    "leak_pair": (_PAIR, "not a leak pair"),
    "calibration": (_CALL, "not a calibration call"),
    "endpoint": (_RECEIPT, "not a receipt"),
}


def _record(path: Path, number: int, line: bytes) -> tuple[str, Any]:
    document = _json_line(path, number, line)
    kind = document.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise _damaged(path, number, f"a line of no known type ({', '.join(_KINDS)})")
    adapter, otherwise = _KINDS[kind]
    try:
        return kind, adapter.validate_json(json.dumps(document["record"], allow_nan=False), strict=True)
    except (KeyError, ValueError, RecursionError) as error:
        raise _damaged(path, number, otherwise) from error


def _json_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, number, "not JSON") from error
    if not isinstance(document, dict):
        raise _damaged(path, number, "not an object")
    return document


def _header(path: Path, document: dict[str, Any]) -> JournalHeader:
    names = {field.name for field in fields(JournalHeader)}
    if document.get("type") == "header":
        _ensure_version(path, document.get("schema_version"))
    if document.get("type") != "header" or document.keys() - {"type"} != names:
        raise _damaged(path, 1, "not a journal header")
    try:
        return _HEADER.validate_json(json.dumps({name: document[name] for name in names}), strict=True)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, 1, "not a journal header") from error


def _ensure_version(path: Path, version: object) -> None:
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise LitmusJournalError(
            f"{path}:1: the journal has format {version}; this version of litmus writes and reads {SCHEMA_VERSION}",
            hint="finish the run with the version of litmus that began it, or start a new run without `--resume`",
            slug="journal-version",
        )


def _damaged(path: Path, number: int, what: str) -> LitmusJournalError:
    return LitmusJournalError(
        f"{path}:{number}: damaged journal: {what}",
        hint="restore the file from a copy or start a new run; a damaged journal is never scored",
        slug="damaged-journal",
    )
