"""Digests of what is installed in the agent's interpreter, from the files as they lie on disk now."""

import csv
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TypeAlias

from agent_litmus.build.editable import EditableTree
from agent_litmus.build.files import hash_file, unreadable
from agent_litmus.build.interpreter import Interpreter, is_system
from agent_litmus.records.digest import digest_of, sha256_of

# How and whence a distribution was installed, and what the installer wrote down about it: not what runs.
_NOTES = re.compile(r"\.(?:dist|egg)-info/(?:RECORD|INSTALLER|REQUESTED|direct_url\.json|uv_\w+\.json)$")
# What every virtual environment holds, full of absolute paths; the interpreter itself is in ``runtime``.
_FURNITURE = re.compile(
    r"(?:pyvenv\.cfg|\.gitignore|\.lock|CACHEDIR\.TAG|bin/(?:python|pypy)[\d.]*|bin/(?:de)?activate[\w.]*|bin/Activate\.ps1)$"
)
_SCRIPTS = re.compile(r"\.pth$|__editable_|_editable_impl|^bin/|^Scripts/")


Names: TypeAlias = Sequence[tuple[str, str]]
"""Absolute paths and the placeholders that stand for them in digests, longest first."""


@dataclass(frozen=True, slots=True)
class _File:
    label: str
    """``site`` or ``venv``: which area it lies in."""
    path: str
    """Path below that area."""
    digest: str


def runtime_components(interpreter: Interpreter) -> dict[str, str]:
    """``runtime``: the interpreter itself; ``runtime/prefix``: the rest of its prefix where that is mounted."""
    libraries = {path.name: hash_file(path) for path in interpreter.libraries}
    components = {
        "runtime": digest_of(
            {
                "implementation": interpreter.implementation,
                "version": interpreter.version,
                "binary": hash_file(interpreter.binary),
                "libraries": libraries,
            }
        )
    }
    if not is_system(interpreter.base_prefix):
        hidden = {*interpreter.masked, *interpreter.sites}
        names = {str(interpreter.base_prefix): "{prefix}"}
        files = _hash_tree(interpreter.base_prefix, names, hidden)
        components["runtime/prefix"] = digest_of(files)
    return components


def distribution_components(interpreter: Interpreter, trees: Collection[EditableTree]) -> dict[str, str]:
    """Digests of the installed distributions and of what lies beside them.

    One ``distributions/<name>`` for each distribution, and one ``site/<name>`` or ``venv/<name>`` for each file or
    directory that no distribution owns. A distribution's digest covers its version and its files as they are now;
    compiled ``.pyc`` files, which follow from the sources, and the installer's own notes are left out. Absolute
    paths of the environment and of editable trees are replaced by placeholders before hashing.
    """
    names = {str(tree.path): "{tree}" for tree in trees}
    if interpreter.venv is not None:
        names[str(interpreter.venv)] = "{prefix}"
    held = _held(interpreter, names)
    parts: dict[str, list[dict[str, object]]] = {}
    owned: set[str] = set()
    for site in interpreter.sites:
        for distribution in distributions(path=[str(site)]):
            name = canonical_name(distribution)
            if name:
                files = {path: held[path] for path in _listed(distribution, site, held)}
                owned.update(files)
                digests = {f"{file.label}/{file.path}": file.digest for file in files.values()}
                parts.setdefault(name, []).append({"version": distribution.version, "files": digests})
    return {f"distributions/{name}": digest_of(part) for name, part in parts.items()} | _unowned(held, owned)


def _held(interpreter: Interpreter, names: Mapping[str, str]) -> dict[str, _File]:
    """Every file of the environment, by absolute path."""
    areas = [("site", site, frozenset[Path]()) for site in interpreter.sites]
    if interpreter.venv is not None:
        areas.append(("venv", interpreter.venv, frozenset(interpreter.sites)))
    return {
        f"{root}/{path}": _File(label, path, digest)
        for label, root, hidden in areas
        for path, digest in _hash_tree(root, names, hidden).items()
    }


def canonical_name(distribution: Distribution) -> str:
    """The normalised name of a distribution; empty where its metadata hold none."""
    metadata = distribution.metadata
    name = metadata["Name"] if metadata and "Name" in metadata else None
    return re.sub(r"[-_.]+", "-", name).lower() if name else ""


def _listed(distribution: Distribution, site: Path, held: Mapping[str, _File]) -> list[str]:
    """Absolute paths of a distribution's files: those its RECORD lists, else its top-level packages."""
    try:
        files = distribution.files
    except (ValueError, TypeError, csv.Error):  # a RECORD that is none
        files = None
    if files is not None:
        return [path for file in files if (path := os.path.normpath(f"{site}/{file}")) in held]
    tops = (distribution.read_text("top_level.txt") or canonical_name(distribution).replace("-", "_")).split()
    heads = tuple(f"{site}/{top}/" for top in tops)
    singles = {f"{site}/{top}.py" for top in tops}
    return [path for path in held if path.startswith(heads) or path in singles]


def _unowned(held: Mapping[str, _File], owned: set[str]) -> dict[str, str]:
    groups: dict[str, dict[str, str]] = {}
    for place, file in held.items():
        if place not in owned:
            groups.setdefault(f"{file.label}/{file.path.split('/', 1)[0]}", {})[file.path] = file.digest
    return {name: digest_of(files) for name, files in groups.items()}


def _hash_tree(root: Path, names: Mapping[str, str], hidden: Collection[Path] = ()) -> dict[str, str]:
    """Digest of each file below ``root``, by relative path, with the paths in ``names`` replaced in scripts."""
    ordered = sorted(names.items(), key=lambda item: -len(item[0]))
    files = {}
    for path, item in _files_below(str(root), "", {str(path) for path in hidden}):
        if not _NOTES.search(path) and not _FURNITURE.fullmatch(path):
            shown = path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")
            files[shown] = _file(path, item, ordered)
    return files


def _files_below(root: str, base: str, hidden: set[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        items = sorted(os.scandir(f"{root}/{base}" if base else root), key=lambda item: item.name)
    except OSError as error:
        raise unreadable(Path(root, base), error) from error
    for item in items:
        if item.is_dir(follow_symlinks=False):
            if item.name != "__pycache__" and f"{root}/{base}{item.name}" not in hidden:
                yield from _files_below(root, f"{base}{item.name}/", hidden)
        elif not item.name.endswith((".pyc", ".pyo")):
            yield base + item.name, item


def _file(path: str, item: os.DirEntry[str], names: Names) -> str:
    try:
        if not item.is_file():
            return digest_of(
                {"link": _replaced(str(Path(item.path).readlink()), names)} if item.is_symlink() else {}
            )
        if _SCRIPTS.search(path):
            text = Path(item.path).read_bytes().decode("latin-1")
            return sha256_of(_replaced(text, names).encode("latin-1"))
        return hash_file(item.path)
    except OSError as error:
        raise unreadable(Path(item.path), error) from error


def _replaced(text: str, names: Names) -> str:
    for name, placeholder in names:
        text = text.replace(os.fsencode(name).decode("latin-1"), placeholder)
    return text
