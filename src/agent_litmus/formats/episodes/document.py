"""What stands in an episode file, in either layout.

JSON lines: a first line that says what the file is, one line per episode, and a last line that says how many there
were and what was lost on the way; without its last line a file was cut short. Parquet: the same columns, with the
first and the last line as key-value metadata.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from agent_litmus.records.stored import EPISODES_SCHEMA_VERSION, EpisodesSummary, StoredEpisode

FORMAT: Final = "agent-litmus-episodes"
METADATA: Final = "agent_litmus"
"""Key of the Parquet metadata that holds head and summary."""
COLUMNS: Final = tuple(field.name for field in dataclasses.fields(StoredEpisode))
ROW: Final[TypeAdapter[StoredEpisode]] = TypeAdapter(StoredEpisode)
_SUMMARY: TypeAdapter[EpisodesSummary] = TypeAdapter(EpisodesSummary)


def head() -> dict[str, Any]:
    """The first line."""
    return {"format": FORMAT, "schema_version": EPISODES_SCHEMA_VERSION}


def check_head(document: Any) -> None:
    """Refuse what is not an episode file of this version.

    Raises:
        ValueError: It is not; the message says what it is instead.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(f"$.format: not {FORMAT!r}: this is no episode file")
    if document.get("schema_version") != EPISODES_SCHEMA_VERSION:
        found = str(document.get("schema_version"))[:20]
        raise ValueError(f"$.schema_version: {found}, this version of litmus reads {EPISODES_SCHEMA_VERSION}")


def summary_json(summary: EpisodesSummary) -> dict[str, Any]:
    """The last line."""
    return {"summary": dataclasses.asdict(summary)}


def read_summary(document: Any) -> EpisodesSummary:
    """Read the last line.

    Raises:
        ValueError: It is not one.
    """
    if not isinstance(document, Mapping) or "summary" not in document:
        raise ValueError("$.summary: missing: the file was cut short")
    try:
        return _SUMMARY.validate_python(document["summary"])
    except ValidationError as error:
        raise ValueError(f"$.summary{fault(error)}") from error


def fault(error: ValidationError) -> str:
    """The first fault of a validation, as ``.path: what``."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return f"{where}: {first['msg']}"


def row_json(episode: StoredEpisode) -> str:
    """One line, without what is left at its default."""
    row = ROW.dump_python(episode, mode="json", exclude_defaults=True)
    return json.dumps(row, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def episodes_schema() -> dict[str, Any]:
    """JSON Schema of an episode's line."""
    schema = ROW.json_schema(mode="validation")
    schema["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
