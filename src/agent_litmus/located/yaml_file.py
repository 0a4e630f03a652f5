"""YAML as plain values with lines: safe tags only, text keys, duplicate keys refused, aliases bounded."""

import importlib
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from agent_litmus.located.document import KeyPath, Located, raise_all, raise_one, read_text

MAX_NODES = 100_000
"""Largest number of values after aliases are followed."""
MAX_TEXT = 8 << 20
"""Largest number of characters after aliases are followed."""
MAX_DEPTH = 64
"""Deepest nesting."""
_MAX_INTEGER = 2**53

_TAG = "tag:yaml.org,2002:"
_QUOTE = "; quote texts that hold {{…}}"


_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RESOLVERS = (
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)\Z", list("-+0123456789")),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z", list("-+0123456789.")),
    ("merge", r"<<\Z", ["<"]),
)


def _with_resolvers(base: Any) -> Any:
    """A loader that resolves plain scalars as YAML 1.2 does: ``no``, ``on`` and dates stay text."""
    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
    for name, expression, first in _RESOLVERS:
        loader.add_implicit_resolver(f"{_TAG}{name}", re.compile(expression), first)
    return loader


def _fast_base() -> Any:
    """The C parser, ten times as fast, where it is there and has a limit on nesting; else the Python one."""
    try:
        parser = importlib.import_module("yaml._yaml")
    except ImportError:
        return yaml.SafeLoader
    return yaml.CSafeLoader if parser.get_version() >= (0, 2, 5) else yaml.SafeLoader


LOADERS = {base.__name__: _with_resolvers(base) for base in (yaml.SafeLoader, _fast_base())}
"""The loaders that can be used here, the preferred one last."""
_Loader = list(LOADERS.values())[-1]


def load_yaml(path: Path, *, defer: bool = False) -> Located:
    """Read a YAML file.

    Args:
        path: The file.
        defer: Leave duplicate keys and unsupported values in ``Located.problems``, for ``raise_all`` or
            ``validate`` to raise together with everything else, instead of raising here.

    Raises:
        LitmusConfigError: The file cannot be read, is not YAML, or nests or expands too far.
    """
    return parse_yaml(read_text(path), str(path), defer=defer)


def parse_yaml(text: str, source: str, *, defer: bool = False) -> Located:
    """As :func:`load_yaml` for text already read; ``source`` stands in messages."""
    root = _compose(text, source)
    builder = _Builder(source)
    value = None if root is None else builder.build(root, ())
    located = Located(source, value, builder.lines)
    problems = tuple(located.problem(path, message) for path, message in builder.problems)
    if not defer:
        raise_all(located, problems)
    return Located(source, value, builder.lines, problems)


def _compose(text: str, source: str) -> Node | None:
    bad = _NOT_ALLOWED.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        raise_one(source, line, f"not valid YAML: the character U+{ord(bad[0]):04X} is not allowed")
    try:
        loader = _Loader(text)
        try:
            node: Node | None = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else 1
        told = text.splitlines()[max(line - 2, 0) : line] if mark else []  # the mark may stand on the line after
        quote = _QUOTE if any("{{" in part for part in told) else ""
        raise_one(source, line, f"not valid YAML: {what}{quote}")
    except RecursionError:
        raise_one(source, 1, f"nested deeper than {MAX_DEPTH} levels")
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise_one(source, 1, f"not valid YAML: {error}")
    return node


class _Builder:
    """Turns the node graph into plain values, following aliases within bounds."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[KeyPath, int] = {}
        self.problems: list[tuple[KeyPath, str]] = []
        self._nodes = 0
        self._text = 0

    def build(self, node: Node, path: KeyPath) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self._nodes += 1
        if self._nodes > MAX_NODES or self._text > MAX_TEXT:
            raise_one(self.source, line, f"too large once aliases are followed (more than {MAX_NODES} values)")
        if len(path) > MAX_DEPTH:
            raise_one(self.source, line, f"nested deeper than {MAX_DEPTH} levels (or an alias inside itself)")
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        self.problems.append((path, f"the tag {_show_tag(node.tag)} is not supported here"))
        return None

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                braces = isinstance(key_node, MappingNode) and key_node.flow_style
                self.problems.append((path, f"a key must be plain text{_QUOTE if braces else ''}"))
                continue
            if key_node.tag == f"{_TAG}merge":
                self.problems.append((path, "merge keys ('<<') are not supported; repeat the fields"))
                continue
            self._text += len(key_node.value)
            if _broken(key_node.value):
                self.problems.append((path, _BROKEN))
                continue
            child = (*path, key_node.value)
            if key_node.value in result:
                first, again = self.lines[child], key_node.start_mark.line + 1
                self.problems.append((child, f"duplicate key (again on line {again}; first on line {first})"))
                continue
            self.lines[child] = key_node.start_mark.line + 1
            result[key_node.value] = self.build(value_node, child)
        return result

    def _scalar(self, node: ScalarNode, path: KeyPath) -> Any:
        self._text += len(node.value)
        if _broken(node.value):
            self.problems.append((path, _BROKEN))
            return ""
        parse = _SCALARS.get(node.tag)
        if parse is None:
            self.problems.append((path, f"the tag {_show_tag(node.tag)} is not supported here"))
            return None
        try:
            return parse(node.value)
        except ValueError as error:
            self.problems.append((path, str(error)))
            return None


_BROKEN = "the text holds half of a surrogate pair, which is not a character"


def _broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def _show_tag(tag: str) -> str:
    return tag.replace(_TAG, "!!")


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > _MAX_INTEGER:
        raise ValueError("integers beyond 2**53 are not supported; quote the value to make it text")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("the number is not finite; quote the value to make it text")
    return number


_SCALARS: dict[str, Callable[[str], Any]] = {
    f"{_TAG}str": str,
    f"{_TAG}null": lambda _: None,
    f"{_TAG}bool": lambda text: text.lower() == "true",
    f"{_TAG}int": _integer,
    f"{_TAG}float": _float,
}
