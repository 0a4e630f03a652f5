"""Source trees outside the environment that editable installs and ``.pth`` files make importable."""

import ast
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agent_litmus.build.interpreter import Interpreter, holds_home, is_system
from agent_litmus.errors import LitmusConfigError

_MAPPING = re.compile(r"^MAPPING\b[^=]*=\s*(\{.*\})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EditableTree:
    """A directory that the agent imports from where it lies."""

    name: str
    """Stable name: the file that points to it, and a number where it points to several."""
    path: Path


def editable_trees(interpreter: Interpreter) -> tuple[EditableTree, ...]:
    """The trees that the interpreter's ``.pth`` files and editable finders point to, sorted by name.

    Trees inside the environment or the system are left out: those are covered where they lie.

    Raises:
        LitmusConfigError: An editable install works in a way that cannot be followed.
    """
    trees: dict[Path, EditableTree] = {}
    for site in interpreter.sites:
        for name, path in _pointed_to(site):
            if holds_home(path):
                raise _unfollowed(f"{name} in {site} points to {path}, which holds more than a project")
            inside = is_system(path) or any(path.is_relative_to(place) for place in _covered(interpreter))
            if not inside and path not in trees:
                trees[path] = EditableTree(name, path)
        _refuse_unfollowed(site, list(trees))
    return tuple(sorted(trees.values(), key=lambda tree: tree.name))


def _covered(interpreter: Interpreter) -> tuple[Path, ...]:
    return (*interpreter.mounts, *interpreter.sites)


def _pointed_to(site: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(site.glob("*.pth")):
        lines = file.read_text("utf-8", "surrogateescape").splitlines()
        paths = [
            Path(os.path.normpath(site / line.strip()))
            for line in lines
            if line.strip() and not line.startswith(("import", "#"))
        ]
        yield from _numbered(_stem(file.stem), [path for path in paths if path.is_dir()])
    for file in sorted(site.glob("__editable__*_finder.py")):
        for package, path in sorted(_mapping(file).items()):
            if not path.is_dir():
                raise _unfollowed(f"{file}: the module {package} is a single file, {path}")
            yield f"{_stem(file.stem)}-{package}", path


def _stem(stem: str) -> str:
    """The distribution's name from the names that build backends give to such files."""
    bare = re.sub(r"^_+editable(?:_impl)?_+\.?|_finder$", "", stem)
    return re.sub(r"[-_]\d+[\d._a-z+]*$", "", bare) or stem


def _numbered(name: str, paths: list[Path]) -> Iterator[tuple[str, Path]]:
    for number, path in enumerate(paths, 1):
        yield (name if number == 1 else f"{name}-{number}"), path


def _mapping(finder: Path) -> dict[str, Path]:
    found = _MAPPING.search(finder.read_text("utf-8", "surrogateescape"))
    try:
        value = ast.literal_eval(found.group(1)) if found else {}
        return {str(package): Path(path) for package, path in value.items()}
    except (ValueError, SyntaxError, TypeError, AttributeError) as error:
        raise _unfollowed(f"{finder}: its MAPPING cannot be read") from error


def _refuse_unfollowed(site: Path, trees: list[Path]) -> None:
    for distribution in distributions(path=[str(site)]):
        project = _editable_project(distribution)
        if project is None or any(project.is_relative_to(t) or t.is_relative_to(project) for t in trees):
            continue
        if not project.is_relative_to(site.parents[2]):
            raise _unfollowed(f"{distribution.metadata['Name']} in {site}: no .pth file or finder names {project}")


def _editable_project(distribution: Distribution) -> Path | None:
    try:
        said = json.loads(distribution.read_text("direct_url.json") or "{}")
        editable = said.get("dir_info", {}).get("editable") is True
        return Path(unquote(urlsplit(said["url"]).path)).resolve() if editable else None
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def _unfollowed(what: str) -> LitmusConfigError:
    return LitmusConfigError(
        f"an editable install cannot be followed: {what}",
        hint="install it without -e in the agent's environment",
        slug="build-editable",
    )
