"""Writing an episode file: beside its name first, moved there when it is whole."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Protocol

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes.document import head, row_json, summary_json
from agent_litmus.records.stored import EpisodesSummary, StoredEpisode


class EpisodeWriter(Protocol):
    """Takes episodes one by one, then the summary."""

    def add(self, episode: StoredEpisode) -> None:
        """Write one episode."""

    def finish(self, summary: EpisodesSummary) -> None:
        """Write the summary; nothing can be added after it. Without it the file is thrown away."""


class _Lines:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._line(json.dumps(head()))
        self.finished = False

    def add(self, episode: StoredEpisode) -> None:
        self._line(row_json(episode))

    def finish(self, summary: EpisodesSummary) -> None:
        self._line(json.dumps(summary_json(summary)))
        self.finished = True

    def _line(self, text: str) -> None:
        self._file.write(text.encode() + b"\n")


@contextmanager
def episode_writer(path: Path) -> Iterator[EpisodeWriter]:
    """Write ``path``: Parquet if its name ends so, JSON lines otherwise.

    Raises:
        LitmusConfigError: It cannot be written. Whatever goes wrong, ``path`` is left as it was.
    """
    if path.is_dir():
        raise LitmusConfigError(f"{path}: is a directory", hint="give the name of a file to write")
    with ExitStack() as stack:
        try:
            file = stack.enter_context(
                tempfile.NamedTemporaryFile(dir=path.parent, prefix=".episodes.", delete=False)
            )
            stack.callback(Path(file.name).unlink, missing_ok=True)
            writer = _writer(path, file, stack)
            yield writer
            if writer.finished:
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).chmod(0o644)
                Path(file.name).replace(path)
        except OSError as error:
            raise LitmusConfigError(
                f"{path}: cannot be written: {error.strerror}", hint="choose another file, or free disk space"
            ) from error


def _writer(path: Path, file: IO[bytes], stack: ExitStack) -> "_Finishing":
    if path.suffix != ".parquet":
        return _Lines(file)
    from agent_litmus.formats.episodes.parquet import ParquetLines  # noqa: PLC0415 - pyarrow is an extra

    writer = ParquetLines(file)
    stack.callback(writer.close)
    return writer


class _Finishing(EpisodeWriter, Protocol):
    finished: bool
