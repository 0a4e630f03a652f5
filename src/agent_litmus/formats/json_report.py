"""The JSON report: written whole or not at all, read strictly."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.report import EpisodeSection, Report

_REPORT = TypeAdapter(Report)
_SECTION = TypeAdapter(EpisodeSection)


def report_json(report: Report) -> bytes:
    """The report as indented JSON with sorted keys."""
    document = _REPORT.dump_python(report, mode="json")
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False).encode() + b"\n"


def episode_json(report: Report, key: str) -> str:
    """The judgement and evidence of one episode, safe to print.

    Raises:
        LitmusConfigError: The report holds no episode of that key.
    """
    for section in report.episodes:
        if str(section.episode.key) == key:
            return json.dumps(_SECTION.dump_python(section, mode="json"), indent=1) + "\n"
    raise LitmusConfigError(
        f"the report holds no episode {key!r}", hint="copy a key from the summary, such as host/control/s0.0"
    )


def report_schema() -> dict[str, Any]:
    """JSON Schema of the report."""
    return _REPORT.json_schema(mode="serialization")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader never sees half of it.

    Raises:
        LitmusConfigError: The directory cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
    except OSError as error:
        raise LitmusConfigError(
            f"{path}: cannot be written: {error.strerror}", hint="free disk space or choose another --output"
        ) from error


def read_report(path: Path) -> Report:
    """Read a report.

    Raises:
        LitmusConfigError: Missing, unreadable, not JSON, or not a report of this schema version.
    """
    try:
        return _REPORT.validate_json(path.read_bytes())
    except OSError as error:
        raise LitmusConfigError(f"{path}: cannot be read: {error.strerror}", hint="give a report.json") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "$." + ".".join(str(part) for part in first["loc"])
        raise LitmusConfigError(
            f"{path}: {where}: not a valid report: {first['msg']}",
            hint="give the report.json that `litmus run` wrote, unchanged",
        ) from error
