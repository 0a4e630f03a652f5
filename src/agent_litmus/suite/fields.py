"""Building blocks of the suite format: the strict base model and the small text types."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"


class Strict(BaseModel):
    """Nothing unknown, nothing converted, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    @field_validator("*", mode="before")
    @classmethod
    def _given(cls, value: Any) -> Any:
        if value is None:
            raise ValueError("is empty; give a value or leave the field out")
        return value


def _identifier(value: str) -> str:
    if not re.match(ID_PATTERN, value) or value.endswith("\n"):
        raise ValueError(
            f"{value!r} is not an id: letters, digits, '.', '_' and '-', at most 64, a letter or digit first"
        )
    return value


def _name(value: str) -> str:
    if not re.match(NAME_PATTERN, value) or value.endswith("\n"):
        raise ValueError(f"{value!r} is not a name: letters, digits, '_' and '-', at most 64, a letter first")
    return value


def _plain(value: str) -> str:
    if "{{" in value:
        raise ValueError("placeholders are not expanded here")
    return value


def _relative_path(value: str) -> str:
    parts = PurePosixPath(value).parts
    if not value or value != "/".join(parts) or value.startswith("/") or ".." in parts or value == ".":
        raise ValueError(f"{value!r} is not a plain path below the workspace, like 'docs/notes.txt'")
    if "\0" in value or len(value.encode()) > 1024 or any(len(part.encode()) > 255 for part in parts):
        raise ValueError("the path holds a NUL character or is too long")
    return _plain(value)


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or re.search(r"\s", value):
        raise ValueError(f"{value!r} is not an http:// or https:// address")
    return _plain(value)


def _regular_expression(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    if "{{" in value:
        raise ValueError("placeholders are not expanded in regular expressions; use 'contains' or plain text")
    return value


Identifier = Annotated[str, AfterValidator(_identifier), Field(json_schema_extra={"pattern": ID_PATTERN})]
"""Id of a part of the suite; probe ids join them with ``+``."""
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": NAME_PATTERN})]
"""What follows the dot in a placeholder."""
RelativePath = Annotated[str, AfterValidator(_relative_path)]
"""Path below the workspace, with ``/``, without ``..``."""
Url = Annotated[str, AfterValidator(_url)]
Regex = Annotated[str, AfterValidator(_regular_expression), Field(json_schema_extra={"format": "regex"})]
"""Python regular expression, searched for (not anchored)."""
Text = Annotated[str, StringConstraints(min_length=1)]
"""Text that is not empty."""
Plain = Annotated[str, StringConstraints(min_length=1), AfterValidator(_plain)]
"""Text that is not empty and in which placeholders are not expanded."""

Tool = Literal[
    "list_mail",
    "read_mail",
    "send_mail",
    "list_tickets",
    "read_ticket",
    "create_ticket",
    "fetch_page",
    "list_files",
    "read_file",
    "write_file",
]
"""The tools an environment can offer."""


def without_null(schema: Any) -> Any:
    """A JSON Schema without ``null``: a field that may be left out may still not be empty."""
    if isinstance(schema, list):
        return [without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: without_null(v) for k, v in schema.items() if not (k == "default" and v is None)}
    options = [option for option in kept.get("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        del kept["anyOf"]
        return {**options[0], **kept}
    return {**kept, "anyOf": options} if options else kept
