"""Run files to runs. A file that cannot be trusted is rejected by itself; nothing is guessed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_litmus.formats.agentdojo.layout import NO_INJECTION, Place, place_of
from agent_litmus.formats.agentdojo.schema import RunFile, parse_run
from agent_litmus.formats.agentdojo.source import RawFile, raw_files

_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Run:
    """A run file that could be read."""

    place: Place
    """Identity by directory."""
    file: RunFile
    path: str
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A run file that could not be used."""

    path: str
    why: str
    """Starts with the ``$.path`` of the fault."""
    size: int
    place: Place | None = None

    @property
    def kind(self) -> str:
        """The reason without what differs from file to file."""
        where, _, what = self.why.partition(": ")
        return f"{_INDEX.sub('[]', where)}: {what.split(':')[0]}"


def read_runs(path: Path) -> Iterator[Run | Rejected]:
    """Read a directory or archive of runs, in order, one file at a time.

    Raises:
        LitmusConfigError: The directory or the archive as a whole cannot be read.
    """
    seen: set[Place] = set()
    for raw in raw_files(path):
        found = _read(raw, seen)
        if found is not None:
            yield found


def _read(raw: RawFile, seen: set[Place]) -> Run | Rejected | None:
    place = None
    try:
        place = place_of(raw.parts)
        if not place.is_episode:
            return None
        run = _checked(place, raw, seen)
    except ValueError as error:
        return Rejected(raw.path, str(error), len(raw.data), place)
    seen.add(place)
    return Run(place, run, raw.path, len(raw.data))


def _checked(place: Place, raw: RawFile, seen: set[Place]) -> RunFile:
    if raw.problem:
        raise ValueError(raw.problem)
    run = parse_run(raw.data)
    _agree(place, run)
    if place in seen:
        raise ValueError("$: the same run is there twice")
    return run


def _agree(place: Place, run: RunFile) -> None:
    """A file whose contents say it is another run is in the wrong place; which one is wrong cannot be told."""
    for field, theirs, ours in (
        ("suite_name", run.suite_name, place.suite),
        ("user_task_id", run.user_task_id, place.user_task),
        ("attack_type", run.attack_type or NO_INJECTION, place.attack),
        ("injection_task_id", run.injection_task_id or NO_INJECTION, place.injection),
    ):
        if theirs != ours:
            raise ValueError(
                f"$.{field}: disagrees with the directory: {theirs[:60]!r} in the file, {ours[:60]!r} outside"
            )
