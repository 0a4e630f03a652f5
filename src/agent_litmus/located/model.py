"""Pydantic's complaints as located lines, unknown fields with a suggestion."""

import re
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from agent_litmus.located.document import KeyPath, Located, raise_all, suggest

M = TypeVar("M", bound=BaseModel)

_SUBJECT = re.compile("^(?:Input|String|List|Tuple|Dictionary|Value) (?=should )")
_TEXTS = {
    "bool_type": "should be true or false",
    "dict_type": "should be a mapping",
    "float_type": "should be a number",
    "int_type": "should be a whole number",
    "list_type": "should be a list",
    "model_type": "should be a mapping",
    "string_type": "should be text",
    "tuple_type": "should be a list",
}


def validate(model: type[M], located: Located) -> M:
    """Validate the document against ``model``.

    Raises:
        LocatedErrors: With every problem at once, those met while parsing included.
    """
    result, problems = model_problems(model, located)
    raise_all(located, problems)
    assert result is not None
    return result


def model_problems(model: type[M], located: Located) -> tuple[M | None, tuple[str, ...]]:
    """The validated model, or ``None`` with every problem found, for callers that have more to report."""
    if located.value is None:
        return None, (located.problem((), "the file is empty"),)
    try:
        return model.model_validate(located.value), ()
    except ValidationError as error:
        merged: dict[KeyPath, list[str]] = {}
        for detail in error.errors(include_url=False):
            path = _real_path(located.value, detail["loc"])
            merged.setdefault(path, []).append(_message(model, path, detail))
        return None, tuple(located.problem(p, " or: ".join(dict.fromkeys(m))) for p, m in merged.items())


def _real_path(value: Any, loc: tuple[str | int, ...]) -> KeyPath:
    """The steps of pydantic's location that exist in the document; it also names types and tags there."""
    path: list[str | int] = []
    for step in loc:
        if isinstance(value, dict):
            if step not in value:
                continue
        elif not (isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)):
            continue
        path.append(step)
        value = value[step]
    return tuple(path)


def _message(model: type[BaseModel], path: KeyPath, detail: Any) -> str:
    kind, last = detail["type"], detail["loc"][-1] if detail["loc"] else ""
    if kind == "missing":
        return f"the field '{last}' is missing"
    if kind == "extra_forbidden":
        return f"unknown field '{last}'{suggest(str(last), _fields_at(model, path[:-1]))}"
    return f"the key: {_words(detail)}" if last == "[key]" else _words(detail)


def _words(detail: Any) -> str:
    if detail["type"] in {"value_error", "assertion_error"}:
        return str(detail.get("ctx", {}).get("error", detail["msg"]))
    if detail["type"] == "literal_error" and isinstance(detail["input"], str):
        known = re.findall("'([^']*)'", detail["ctx"]["expected"])
        return f"unknown value {_cut(repr(detail['input']))}{suggest(detail['input'], known)}"
    text = _TEXTS.get(detail["type"]) or _SUBJECT.sub("", str(detail["msg"]))
    return f"{text}, not {_cut(repr(detail['input']))}"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def _fields_at(model: type[BaseModel], path: KeyPath) -> set[str]:
    kinds: set[Any] = {model}
    for step in path:
        kinds = {inner for kind in kinds for inner in _descend(kind, step)}
    return {alias or name for kind in kinds if _is_model(kind) for name, alias in _names(kind)}


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _names(kind: type[BaseModel]) -> Iterator[tuple[str, str | None]]:
    for name, info in kind.model_fields.items():
        yield name, info.alias


def _descend(kind: Any, step: str | int) -> Iterator[Any]:
    if _is_model(kind):
        for name, info in kind.model_fields.items():
            if step == (info.alias or name):
                yield from _members(info.annotation)
        return
    args = get_args(kind)
    if get_origin(kind) in {dict, Mapping} and args:
        yield from _members(args[1])
    elif args:
        yield from _members(args[0])


def _members(annotation: Any) -> Iterator[Any]:
    """The alternatives of an annotation, without ``Annotated`` and ``None``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _members(get_args(annotation)[0])
    elif origin in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _members(member)
    elif annotation is not NoneType:
        yield annotation
