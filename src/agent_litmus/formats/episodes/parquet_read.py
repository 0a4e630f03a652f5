"""Parquet columns as numpy arrays, a batch at a time."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_litmus.formats.episodes.document import METADATA, check_head, read_summary
from agent_litmus.formats.episodes.parquet import arrow
from agent_litmus.formats.episodes.read import bad
from agent_litmus.records.columns import FLAGS, MISSING, NUMBERS, TEXTS, EpisodeColumns, TextColumn
from agent_litmus.records.stored import EpisodesSummary  # noqa: TC001 - beside what is needed at run time

BATCH_ROWS = 1 << 18
"""Rows in memory at once."""


class ParquetFile:
    """An episode file in Parquet."""

    def __init__(self, path: Path) -> None:
        self._path, self._arrow = path, arrow()
        try:
            self._file = self._arrow.parquet.ParquetFile(path)
            self._check_columns()
            document = json.loads((self._file.metadata.metadata or {}).get(METADATA.encode(), b"null"))
            check_head(document)
            self.summary: EpisodesSummary = read_summary(document)
            if self.summary.episodes != self._file.metadata.num_rows:
                found = self._file.metadata.num_rows
                raise bad(path, f"{found} rows, but its summary says {self.summary.episodes}")
            self._file = self._arrow.parquet.ParquetFile(path, read_dictionary=list(TEXTS))
        except (OSError, ValueError, self._arrow.ArrowException) as error:
            raise bad(path, _first_line(error)) from error

    def _check_columns(self) -> None:
        missing = [name for name in (*TEXTS, *NUMBERS, *FLAGS) if name not in self._file.schema_arrow.names]
        if missing:
            raise bad(self._path, f"$.{missing[0]}: the column is missing")

    def batches(self) -> Iterator[EpisodeColumns]:
        """The rows, batch by batch."""
        wanted = [*TEXTS, *NUMBERS, *FLAGS]
        try:
            batches = self._file.iter_batches(BATCH_ROWS, columns=wanted, use_threads=True)
            yield from _ahead(map(self._columns, batches))
        except (OSError, ValueError, self._arrow.ArrowException) as error:
            raise bad(self._path, _first_line(error)) from error

    def _columns(self, batch: Any) -> EpisodeColumns:
        texts = {name: self._text(batch.column(name), name) for name in TEXTS}
        numbers = {name: self._number(batch.column(name), name) for name in NUMBERS}
        numbers |= {name: self._flag(batch.column(name), name) for name in FLAGS}
        return EpisodeColumns(batch.num_rows, texts, numbers)

    def _text(self, column: Any, name: str) -> TextColumn:
        if not self._arrow.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if column.null_count or not self._arrow.types.is_string(column.type.value_type):
            raise ValueError(f"$.{name}: not text in every row")
        codes = column.indices.to_numpy(zero_copy_only=False)
        return TextColumn(codes, tuple(column.dictionary.to_pylist()))

    def _number(self, column: Any, name: str) -> NDArray[np.int64]:
        if column.null_count or not self._arrow.types.is_integer(column.type):
            raise ValueError(f"$.{name}: not a whole number in every row")
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def _flag(self, column: Any, name: str) -> NDArray[np.int64]:
        if not self._arrow.types.is_boolean(column.type):
            raise ValueError(f"$.{name}: neither true, false nor missing in every row")
        if column.null_count == len(column):
            return np.full(len(column), MISSING, dtype=np.int8)
        whole = column.cast(self._arrow.int8())
        return np.asarray(whole.fill_null(MISSING).to_numpy(zero_copy_only=False))


def _ahead(batches: Iterator[EpisodeColumns]) -> Iterator[EpisodeColumns]:
    """The same, with the next batch decoded by a thread while this one is counted."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = thread.submit(next, batches, None)
            yield batch


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300] if str(error) else type(error).__name__
