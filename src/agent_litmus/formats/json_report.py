"""The JSON report: written whole or not at all, read strictly."""

import contextlib
import dataclasses
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.report import REPORT_SCHEMA_VERSION, EpisodeSection, Report

MAX_REPORT = 1 << 30
"""Bytes of the largest report; it is read whole. Episode files have no limit."""
_REPORT = TypeAdapter(Report)
_SECTION = TypeAdapter(EpisodeSection)


def report_json(report: Report) -> bytes:
    """The report as indented JSON with sorted keys."""
    return json.dumps(report_document(report), indent=1, sort_keys=True, allow_nan=False).encode() + b"\n"


def report_document(report: Report) -> dict[str, Any]:
    """The report as a JSON document."""
    document: dict[str, Any] = _REPORT.dump_python(report, mode="json")
    return document


def episode_json(report: Report, key: str) -> str:
    """The judgement and evidence of one episode, safe to print.

    Raises:
        LitmusConfigError: The report holds no episode of that key.
    """
    for section in report.episodes:
        if str(section.episode.key) == key:
            return json.dumps(_SECTION.dump_python(section, mode="json"), indent=1) + "\n"
    first = str(report.episodes[0].episode.key) if report.episodes else "task/control/s0.0"
    raise LitmusConfigError(
        f"the report holds no episode {key!r}",
        hint=f"a key is a probe that `litmus suite show` lists, condition, seed and repeat: {first}",
    )


def report_schema() -> dict[str, Any]:
    """JSON Schema of the report."""
    return _REPORT.json_schema(mode="serialization")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader never sees half of it.

    Raises:
        LitmusConfigError: The directory cannot be written.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise LitmusConfigError(
            f"{path}: cannot be written: {error.strerror}", hint="free disk space or choose another --output"
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def read_report(path: Path) -> Report:
    """Read a report.

    Raises:
        LitmusConfigError: Missing, unreadable, too large, not JSON, not a report of this schema version, or with a
            number that is not finite.
    """
    try:
        if path.stat().st_size > MAX_REPORT:
            raise _bad(path, f"$: larger than {MAX_REPORT >> 30} GiB")
        report = _REPORT.validate_json(path.read_bytes())
    except OSError as error:
        raise LitmusConfigError(f"{path}: cannot be read: {error.strerror}", hint="give a report.json") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "$." + ".".join(str(part) for part in first["loc"])
        raise _bad(path, f"{where}: not a valid report: {first['msg']}") from error
    if report.schema_version != REPORT_SCHEMA_VERSION:
        found = report.schema_version
        raise _bad(path, f"$.schema_version: {found}, this version of litmus reads {REPORT_SCHEMA_VERSION}")
    for place in _not_finite(report):
        raise _bad(path, f"${place}: not a finite number")
    return report


def _bad(path: Path, what: str) -> LitmusConfigError:
    return LitmusConfigError(f"{path}: {what}", hint="give the report.json that `litmus run` wrote, unchanged")


def _not_finite(value: object) -> Iterator[str]:
    """Where NaN or an infinity stands; JSON parsers let them through, and 1e999 is one."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield ""
    elif isinstance(value, str | int | None):
        return
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from (f".{name}{rest}" for rest in _not_finite(item))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from (f"[{index}]{rest}" for rest in _not_finite(item))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from (f".{field.name}{rest}" for rest in _not_finite(getattr(value, field.name)))
