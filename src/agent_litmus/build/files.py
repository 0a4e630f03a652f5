"""Which files below a directory belong to a build, and the digest of each."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pathspec import GitIgnoreSpec

from agent_litmus.build.ignore import GitIgnore, denied
from agent_litmus.build.results import holds_results, is_history
from agent_litmus.build.secrets import find_secret_in
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.digest import digest_of

MAX_FILES = 20_000
MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a symbolic link of a tree."""

    path: str
    """Relative POSIX path."""
    executable: bool = False
    link: str | None = None
    """Target text of a symbolic link; ``None`` for a file."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a directory belongs to the build."""

    root: Path
    entries: tuple[Entry, ...]
    """Sorted by path."""
    denied: tuple[str, ...] = ()
    """Paths (a directory's ends in ``/``) left out because they are on the denylist."""


def hash_file(path: str | Path) -> str:
    """Digest of a file's bytes."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - thousands of files: Path costs more than hashing
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def entry_digest(root: Path, entry: Entry) -> str:
    """Digest of one entry below ``root``: its content and executable bit, or the link's target."""
    if entry.link is not None:
        return digest_of({"link": entry.link})
    try:
        content = hash_file(root / entry.path)
    except OSError as error:
        raise unreadable(root / entry.path, error) from error
    return digest_of({"content": content, "executable": entry.executable})


def unreadable(path: Path, error: OSError) -> LitmusConfigError:
    """The error for a file of the build that cannot be read."""
    return LitmusConfigError(
        f"{path}: cannot be read: {error.strerror or error}",
        hint="make it readable, or exclude it under [agent] exclude",
        slug="build-unreadable",
    )


def select(
    root: Path,
    include: Sequence[str] = ("**/*",),
    exclude: Sequence[str] = (),
    skip: Callable[[Path], bool] = lambda _path: False,
) -> Selection:
    """The files and links below ``root`` that belong to the build.

    Directories that earlier runs made are left out wherever they lie, see
    :func:`~agent_litmus.build.results.holds_results`.

    Args:
        root: An existing directory.
        include: Gitignore-style patterns of what belongs.
        exclude: Gitignore-style patterns of what does not.
        skip: Further absolute paths to leave out.

    Raises:
        LitmusConfigError: A pattern is invalid or matches nothing, a file holds a secret, cannot be read or is
            neither file nor link, a link leaves the root, or there is too much.
    """
    root = root.resolve()
    walk = _Walk(root, _spec(include, "include"), _spec(exclude, "exclude"), skip)
    try:
        found = islice(walk.directory(""), MAX_FILES + 1)
        entries = tuple(sorted(found, key=lambda e: e.path))
        _refuse_bulk(root, entries)
        _refuse_idle_patterns(root, include, entries)
        _refuse_secrets(root, entries)
    except OSError as error:  # it changed or vanished while it was looked at
        raise unreadable(Path(error.filename or root), error) from error
    return Selection(root, entries, tuple(sorted(walk.denied)))


def _spec(patterns: Sequence[str], key: str) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise LitmusConfigError(
            f"[agent] {key}: {error}", hint="patterns are written as in a .gitignore file", slug="build-pattern"
        ) from error


class _Walk:
    def __init__(
        self, root: Path, include: GitIgnoreSpec, exclude: GitIgnoreSpec, skip: Callable[[Path], bool]
    ) -> None:
        self._root = root
        self._include = include
        self._exclude = exclude
        self._skip = skip
        self._gitignore = GitIgnore(root)
        self.denied: list[str] = []

    def directory(self, base: str) -> Iterator[Entry]:
        self._gitignore.enter(base)
        try:
            items = sorted(os.scandir(self._root / base), key=lambda item: item.name)
        except OSError as error:
            raise unreadable(self._root / base, error) from error
        for item in items:
            is_dir = item.is_dir(follow_symlinks=False)
            path = base + item.name + ("/" if is_dir else "")
            if self._left_out(path, is_dir=is_dir):
                continue
            if is_dir:
                yield from self.directory(path)
            elif self._include.match_file(path):
                yield self._entry(path, item.stat(follow_symlinks=False))

    def _left_out(self, path: str, *, is_dir: bool) -> bool:
        if denied(path):
            self.denied.append(path)
            return True
        if self._gitignore.ignores(path) or self._exclude.match_file(path) or self._skip(self._root / path):
            return True
        if not is_dir:
            return is_history(self._root / path)
        return (self._root / path / "pyvenv.cfg").exists() or holds_results(self._root / path)

    def _entry(self, path: str, info: os.stat_result) -> Entry:
        _refuse_name(self._root, path)
        if stat.S_ISLNK(info.st_mode):
            return Entry(path, link=self._inner_link(path))
        if not stat.S_ISREG(info.st_mode):
            raise LitmusConfigError(
                f"{self._root / path}: is neither a file, a directory nor a link",
                hint=f'exclude it: exclude = ["/{path}"] under [agent]',
                slug="build-special-file",
            )
        return Entry(path, executable=bool(info.st_mode & stat.S_IXUSR))

    def _inner_link(self, path: str) -> str:
        target = str((self._root / path).readlink())
        _refuse_name(self._root, target)
        end = Path(os.path.realpath(self._root / path))
        if Path(target).is_absolute() or not end.is_relative_to(self._root):
            raise LitmusConfigError(
                f"{self._root / path}: the link to {target!r} leaves the agent's root or is absolute",
                hint="copy what it points to below the root, make it a relative link, or exclude it",
                slug="build-link-leaves-root",
            )
        return target


def _refuse_name(root: Path, path: str) -> None:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = repr(os.fsencode(path))[1:]
        raise LitmusConfigError(
            f"{root}: the name {shown} is not UTF-8", hint="rename or exclude it", slug="build-file-name"
        ) from error


def _refuse_idle_patterns(root: Path, include: Sequence[str], entries: tuple[Entry, ...]) -> None:
    for pattern in include:
        spec = GitIgnoreSpec.from_lines([pattern])
        if pattern.startswith(("!", "#")) or not pattern.strip():
            continue
        if not any(spec.match_file(entry.path) for entry in entries):
            raise LitmusConfigError(
                f"[agent] include: {pattern!r} gives no file below {root}",
                hint="check the pattern, and whether .gitignore, exclude or the list of denied names (keys, "
                ".env, caches) leaves out all it matches",
                slug="build-include-empty",
            )


def _refuse_bulk(root: Path, entries: tuple[Entry, ...]) -> None:
    size = sum((root / e.path).stat().st_size for e in entries if e.link is None)
    if len(entries) > MAX_FILES or size > MAX_BYTES:
        raise LitmusConfigError(
            f"{root}: holds more than a build may: {MAX_FILES} files of {MAX_BYTES >> 20} MiB in all",
            hint="narrow [agent] include or root; name model weights under [agent.model] weights",
            slug="build-too-large",
        )


def _refuse_secrets(root: Path, entries: tuple[Entry, ...]) -> None:
    found = [(e.path, rule) for e in entries if e.link is None and (rule := _secret_in(root / e.path))]
    if found:
        raise LitmusConfigError(
            "\n".join(f"{root / path}: holds what looks like a secret (rule {rule})" for path, rule in found),
            hint="take it out and revoke it, or leave the file out of the build: exclude = "
            + str([f"/{path}" for path, _ in found])
            + " under [agent]",
            slug="build-secret",
        )


def _secret_in(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return find_secret_in(file)
    except OSError as error:
        raise unreadable(path, error) from error
