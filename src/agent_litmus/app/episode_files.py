"""Result files of any kind as one stream of columns: reports of runs, imported episodes, Parquet."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes import open_episodes
from agent_litmus.formats.episodes.document import FORMAT
from agent_litmus.formats.json_report import MAX_REPORT, read_report
from agent_litmus.records.columns import EpisodeColumns, columns_of
from agent_litmus.records.episode import Episode
from agent_litmus.records.stored import StoredEpisode

_HEAD = 4096
_PARQUET = b"PAR1"


@dataclass(slots=True)
class Sources:
    """Files to score, and what they say of themselves."""

    paths: tuple[Path, ...]
    warnings: list[str] = field(default_factory=list)
    rejected: int = 0

    def batches(self) -> Iterator[EpisodeColumns]:
        """Every file's rows; warnings and rejections are complete only at the end.

        Raises:
            LitmusConfigError: A file cannot be used; nothing is scored then.
        """
        for path in self.paths:
            yield from self._report(path) if is_report(path) else self._episodes(path)

    def _report(self, path: Path) -> Iterator[EpisodeColumns]:
        report = read_report(path)
        self.warnings += [f"{report.agent.name}: {warning}" for warning in report.warnings]
        if report.plan.partial:
            self.warnings.append(f"{report.agent.name}: {path.name} is of a partial plan")
        yield columns_of(stored_of(section.episode, report.agent.name) for section in report.episodes)

    def _episodes(self, path: Path) -> Iterator[EpisodeColumns]:
        file = open_episodes(path)
        yield from file.batches()
        self.warnings += file.summary.warnings
        self.rejected += file.summary.rejected
        if file.summary.rejected:
            reasons = "; ".join(file.summary.reasons[:5])
            self.warnings.append(
                f"{path.name}: {file.summary.rejected} files of its source were rejected: {reasons}"
            )


def stored_of(episode: Episode, agent: str = "") -> StoredEpisode:
    """An episode of our own as a row."""
    return StoredEpisode(
        agent=agent or episode.agent,
        suite=episode.suite,
        host=episode.host_id,
        condition=episode.condition,
        delivery=episode.delivery,
        host_outcome=episode.host,
        injected_outcome=episode.injected,
        agent_digest=episode.agent_digest,
        attack=episode.attack_id,
        category=episode.category,
        injection=episode.injection_id,
        carrier=episode.carrier_id,
        probe=episode.key.probe,
        seed=episode.key.seed,
        repeat=episode.key.repeat,
        host_why=episode.host_why,
        injected_why=episode.injected_why,
        semantic=episode.semantic,
        physical=episode.physical,
    )


def sources_of(paths: Iterable[Path]) -> Sources:
    """Files to score, each once.

    Raises:
        LitmusConfigError: A path is missing, a directory, or given twice.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            raise LitmusConfigError(
                f"{path}: is a directory", hint="give a report.json or an episode file; `litmus import` makes one"
            )
        if not path.is_file():
            raise LitmusConfigError(f"{path}: there is no such file", hint="check the path")
        if any(path.samefile(other) for other in found):
            raise LitmusConfigError(f"{path}: given twice", hint="give each file once")
        found.append(path)
    return Sources(tuple(found))


def is_report(path: Path) -> bool:
    """Whether a file is no episode file, so that it should be a report.

    Raises:
        LitmusConfigError: It cannot be read, is empty, or is too large for a report.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError as error:
        hint = "give a report.json, the directory of a finished run, or an episode file"
        raise LitmusConfigError(f"{path}: there is no such file", hint=hint) from error
    except OSError as error:
        raise LitmusConfigError(
            f"{path}: cannot be read: {error.strerror}", hint="check its permissions"
        ) from error
    if not head.strip():
        raise LitmusConfigError(f"{path}: is empty", hint="give a report.json or an episode file")
    if head.startswith(_PARQUET) or FORMAT.encode() in head.split(b"\n", 1)[0]:
        return False
    if path.stat().st_size > MAX_REPORT:
        raise LitmusConfigError(
            f"{path}: larger than {MAX_REPORT >> 30} GiB and no episode file",
            hint="give an episode file (JSON lines or Parquet), which may be of any size",
        )
    return True
