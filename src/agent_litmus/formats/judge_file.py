"""The file that says which judge is used and what it is worth."""

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.json_report import write_whole
from agent_litmus.formats.score_json import text_of
from agent_litmus.records.judge import JUDGE_FORMAT, JUDGE_SCHEMA_VERSION, JudgeCalibration

MAX_BYTES = 1 << 20
_FILE = TypeAdapter(JudgeCalibration)
_REMEDY = "make the file with `litmus judge calibrate`"


def judge_document(found: JudgeCalibration) -> dict[str, Any]:
    """The calibration as a JSON document."""
    document: dict[str, Any] = _FILE.dump_python(found, mode="json")
    return document


def write_judge(path: Path, found: JudgeCalibration) -> None:
    """Write a calibration, whole or not at all.

    Raises:
        LitmusConfigError: The file cannot be written.
    """
    write_whole(path, text_of(judge_document(found)).encode())


def read_judge(path: Path) -> JudgeCalibration:
    """Read a calibration.

    Raises:
        LitmusConfigError: Missing, unreadable, or not a calibration of this version.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        found = _FILE.validate_json(data) if len(data) <= MAX_BYTES else None
    except OSError as error:
        raise LitmusConfigError(f"{path}: cannot be read: {error.strerror}", hint=_REMEDY) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "$" + "".join(f".{part}" for part in first["loc"])
        raise LitmusConfigError(
            f"{path}: {where}: no calibration of a judge: {first['msg']}", hint=_REMEDY
        ) from error
    if found is None or (found.format, found.schema_version) != (JUDGE_FORMAT, JUDGE_SCHEMA_VERSION):
        raise LitmusConfigError(f"{path}: no calibration of a judge, or of another version", hint=_REMEDY)
    return found
