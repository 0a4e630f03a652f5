"""Episodes as Parquet columns."""

import json
from types import ModuleType
from typing import IO, Any

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes.document import COLUMNS, METADATA, ROW, head, summary_json
from agent_litmus.records.stored import EpisodesSummary, StoredEpisode

ROWS_PER_GROUP = 1 << 20
"""Rows of a row group, which is what is in memory at once."""
_BATCH = 1 << 14
_FLAGS = frozenset({"recorded_utility", "recorded_security"})


def arrow() -> ModuleType:
    """The pyarrow package.

    Raises:
        LitmusConfigError: It is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415 - as above; binds the submodule
    except ImportError as error:
        raise LitmusConfigError(
            "Parquet files need the package pyarrow", hint="install agent-litmus[parquet], or use JSON lines"
        ) from error
    return pa  # type: ignore[no-any-return] # untyped


def arrow_schema() -> Any:
    """The columns, in the order of the record's fields; text columns are dictionaries."""
    pa = arrow()
    text = pa.dictionary(pa.int32(), pa.string())
    whole = {"seed": pa.int64(), "repeat": pa.int64(), "semantic": pa.int8(), "physical": pa.int8()}
    kinds = {name: whole.get(name, pa.bool_() if name in _FLAGS else text) for name in COLUMNS}
    return pa.schema([pa.field(name, kind, nullable=name in _FLAGS) for name, kind in kinds.items()])


class ParquetLines:
    """Writes episodes in batches."""

    def __init__(self, file: IO[bytes]) -> None:
        self._arrow, self._schema = arrow(), arrow_schema()
        self._writer = self._arrow.parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self.finished = False

    def add(self, episode: StoredEpisode) -> None:
        """Write one episode."""
        self._rows.append(ROW.dump_python(episode))
        if len(self._rows) >= _BATCH:
            self._flush()

    def finish(self, summary: EpisodesSummary) -> None:
        """Write the summary."""
        self._flush()
        self._writer.add_key_value_metadata({METADATA: json.dumps({**head(), **summary_json(summary)})})
        self._writer.close()
        self.finished = True

    def close(self) -> None:
        """Let go of the file; harmless after `finish`."""
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            table = self._arrow.Table.from_pylist(self._rows, schema=self._schema)
            self._writer.write_table(table, row_group_size=ROWS_PER_GROUP)
            self._rows = []
