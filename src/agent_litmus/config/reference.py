"""The reference of every key, made from the schema: ``python -m agent_litmus.config.reference``."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from agent_litmus.config.schema import ConfigFile

_EXACT = 2**53  # beyond it JSON's numbers are inexact; a technical limit, not one worth a column

_HEAD = """# Configuration

Every key of `litmus.toml`. Made from the schema by `python -m agent_litmus.config.reference`; do not edit.

Unknown keys are errors. Relative paths start at the file's directory. Every key can be overridden for one run
by its dotted name: `--set run.jobs=4`.
"""


def reference() -> str:
    """The page as Markdown."""
    schema = ConfigFile.model_json_schema()
    lines = [_HEAD]
    for name, field in schema["properties"].items():
        lines += _table(f"[{name}]", _resolve(field, schema), schema)
    return "\n".join(lines)


def _table(title: str, table: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"{table['description']}\n"
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    inner = []
    required = table.get("required", [])
    for name, field in table["properties"].items():
        default = "required" if name in required else _default(field)
        inner += [(f"{title[:-1]}.{name}{step}]", kind) for step, kind in _inner_tables(field, schema)]
        yield f"| `{name}` | {_kind(field, schema)} | {default} | {_cell(field.get('description', ''))} |"
    yield ""
    for inner_title, kind in inner:
        yield from _table(inner_title, kind, schema)


def _inner_tables(field: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tables that a key may hold, and what stands between its name and theirs."""
    for option in field.get("anyOf", [field]):
        kind = _resolve(option, schema)
        values = kind.get("additionalProperties")
        if "properties" in kind:
            yield "", kind
        elif isinstance(values, dict) and "$ref" in values:
            yield ".NAME", _resolve(values, schema)


def _resolve(field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in field:
        found: dict[str, Any] = schema["$defs"][field["$ref"].rpartition("/")[2]]
        return found
    return field


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value is None or value in ("", [], {}):
        return ""
    return f"`{json.dumps(value)}`"


def _kind(field: dict[str, Any], schema: dict[str, Any]) -> str:
    if "anyOf" in field:
        kinds = [_kind(option, schema) for option in field["anyOf"] if option.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    field = _resolve(field, schema)
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if field["type"] == "array":
        return f"list of {_kind(field['items'], schema)}"
    if field["type"] == "object":
        values = field.get("additionalProperties")
        return f"table of {_kind(values, schema)}" if isinstance(values, dict) else "table"
    return f"{field['type']}{_range(field)}"


def _range(field: dict[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {field[name]}" for name, sign in signs.items() if abs(field.get(name, _EXACT)) < _EXACT]
    return f" {', '.join(limits)}" if limits else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
