"""Reading episode files strictly: the first fault ends it, with its file, line or column."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

from pydantic import ValidationError

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes.document import COLUMNS, ROW, check_head, fault, read_summary
from agent_litmus.records.columns import EpisodeColumns, columns_of
from agent_litmus.records.stored import EpisodesSummary, StoredEpisode

MAX_LINE = 1 << 20
"""Bytes of the longest line that is read."""
_BATCH = 1 << 14
_PARQUET_MAGIC = b"PAR1"
_REMEDY = "make the file again, with `litmus import` or from its source"


class EpisodeFile(Protocol):
    """An episode file, open for one pass."""

    @property
    def summary(self) -> EpisodesSummary:
        """What the file says of itself; for JSON lines known only after the last batch."""

    def batches(self) -> Iterator[EpisodeColumns]:
        """The rows, batch by batch.

        Raises:
            LitmusConfigError: A row is not as the schema says, or the file is cut short.
        """


def open_episodes(path: Path) -> EpisodeFile:
    """Open a file by what stands in it, not by its name.

    Raises:
        LitmusConfigError: It cannot be read, or is neither layout.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_PARQUET_MAGIC))
    except OSError as error:
        raise LitmusConfigError(f"{path}: cannot be read: {error.strerror}", hint="give an episode file") from error
    if start == _PARQUET_MAGIC:
        from agent_litmus.formats.episodes.parquet_read import ParquetFile  # noqa: PLC0415 - pyarrow is an extra

        return ParquetFile(path)
    return LinesFile(path)


@dataclass(slots=True)
class LinesFile:
    """JSON lines."""

    path: Path
    _summary: EpisodesSummary | None = None

    @property
    def summary(self) -> EpisodesSummary:
        """Known only after the last batch."""
        if self._summary is None:
            raise bad(self.path, "$.summary: not read yet")
        return self._summary

    def batches(self) -> Iterator[EpisodeColumns]:
        """The rows, batch by batch."""
        episodes = self.episodes()
        while rows := list(islice(episodes, _BATCH)):
            yield columns_of(rows)

    def episodes(self) -> Iterator[StoredEpisode]:
        """The rows, one by one."""
        try:
            with self.path.open("rb") as file:
                yield from self._episodes(file)
        except OSError as error:
            raise bad(self.path, f"cannot be read: {error.strerror}") from error

    def _episodes(self, file: IO[bytes]) -> Iterator[StoredEpisode]:
        count, number = 0, 1
        try:
            check_head(_document(file.readline(MAX_LINE + 1)))
            number = 2
            while (line := file.readline(MAX_LINE + 1)).strip() and not line.startswith(b'{"summary"'):
                yield _episode(line)
                count += 1
                number += 1
            self._summary = read_summary(_document(line))
        except ValueError as error:
            raise bad(self.path, str(error), number) from error
        if self._summary.episodes != count:
            raise bad(self.path, f"$.summary.episodes: {self._summary.episodes}, but {count} lines", number)
        if file.readline(MAX_LINE):
            raise bad(self.path, "$: something stands behind the last line", number + 1)


def _episode(line: bytes) -> StoredEpisode:
    document = _document(line)
    if not isinstance(document, dict):
        raise ValueError("$: not an object")  # noqa: TRY004 - caught as the fault of a line
    for name in document:
        if name not in COLUMNS:
            raise ValueError(f"$.{name[:40]}: unknown field")
    try:
        return ROW.validate_json(line, strict=True)
    except ValidationError as error:
        raise ValueError(f"${fault(error)}") from error


def _document(line: bytes) -> Any:
    if len(line) > MAX_LINE:
        raise ValueError(f"$: longer than {MAX_LINE >> 20} MiB")
    if not line.strip():
        raise ValueError("$: nothing there: the file was cut short")
    try:
        return json.loads(line)
    except RecursionError as error:
        raise ValueError("$: nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"$: not complete JSON: {error}") from error


def bad(path: Path, what: str, line: int | None = None) -> LitmusConfigError:
    """The error about a file that cannot be used."""
    where = f"{path}:{line}" if line else str(path)
    return LitmusConfigError(f"{where}: {what}", hint=_REMEDY)
