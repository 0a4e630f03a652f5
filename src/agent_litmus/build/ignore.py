"""Which paths never belong to a build: what ``.gitignore`` files name, and keys, caches and environments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

DENIED = (
    ".env*",
    "*.env",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "credentials*",
    "!credentials*.py",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".aws/",
    ".azure/",
    ".docker/",
    ".gnupg/",
    ".kube/",
    ".ssh/",
    ".git",
    ".hg/",
    ".svn/",
    ".venv",
    "node_modules/",
    "__pycache__/",
    "*.pyc",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".tox/",
    ".nox/",
    "/runs/",
)
"""Gitignore-style patterns, matched on lower-cased paths, that no include pattern can bring back."""

_DENY_SPEC = GitIgnoreSpec.from_lines(DENIED)


def denied(path: str) -> bool:
    """Whether the relative POSIX ``path`` (a directory's ends in ``/``) is on the denylist."""
    return _DENY_SPEC.match_file(path.lower())


@dataclass(frozen=True, slots=True)
class _Level:
    base: str
    """Path of the ignore file's directory below the top, ending in ``/``; empty for the top."""
    spec: GitIgnoreSpec

    def verdict(self, path: str) -> bool | None:
        if not path.startswith(self.base):
            return None
        return self.spec.check_file(path[len(self.base) :]).include


class GitIgnore:
    """The ignore rules that hold below ``root``, from its working copy's top downwards, read as they are met.

    A file that git tracks although a pattern names it counts as ignored here.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        top = next((p for p in (root, *root.parents) if (p / ".git").exists()), root)
        self._prefix = "" if top == root else root.relative_to(top).as_posix() + "/"
        above = [p for p in reversed(root.parents) if p == top or top in p.parents]
        levels = [level for p in above for level in self._read(p, _base(p, top))]
        # The root was named on purpose: a rule above it that ignores it as a whole says nothing about its files.
        self._levels = [level for level in levels if not level.verdict(self._prefix)]

    def enter(self, directory: str) -> None:
        """Read the ignore file of ``directory`` (relative to root, ending in ``/``; empty for the root)."""
        self._levels.extend(self._read(self._root / directory, self._prefix + directory))

    def ignores(self, path: str) -> bool:
        """Whether ``path`` (relative to root; a directory's ends in ``/``) is ignored; deeper files win."""
        for level in reversed(self._levels):
            verdict = level.verdict(self._prefix + path)
            if verdict is not None:
                return verdict
        return False

    @staticmethod
    def _read(directory: Path, base: str) -> Iterator[_Level]:
        for name in (".git/info/exclude", ".gitignore"):
            path = directory / name
            if not path.is_file():  # opening a pipe would wait for ever
                continue
            try:
                text = path.read_text("utf-8", "surrogateescape")
            except OSError:
                continue
            yield _Level(base, lenient_spec(text.splitlines()))


def _base(directory: Path, top: Path) -> str:
    return "" if directory == top else directory.relative_to(top).as_posix() + "/"


def lenient_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """A spec of the valid patterns among ``lines``; git too passes over invalid ones."""
    valid = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        valid.append(line)
    return GitIgnoreSpec.from_lines(valid)
