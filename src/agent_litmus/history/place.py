"""Where a history is: its URL without what must not be shown, and what its failures mean."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from agent_litmus.errors import LitmusHistoryError

_POSTGRES = frozenset({"postgresql", "postgres", "postgresql+psycopg"})
_LONGEST = 300
_HINTS = (
    ("not a database", "move the file away, or restore it from a backup; the next run begins a new one"),
    ("malformed", "move the file away, or restore it from a backup; the next run begins a new one"),
    ("locked", "something holds it for too long: end what has it open, then try again"),
    ("lock timeout", "something holds it for too long: end what has it open, then try again"),
    ("readonly", "make the file and its directory writable for this user, or set [history] url to another place"),
    ("unable to open", "make the directory exist and be writable for this user, or set [history] url elsewhere"),
    ("full", "free disk space"),
    ("disk i/o", "look at the disk: the file could be read or written in part only"),
    ("authentication failed", "correct user and password, for example in ~/.pgpass or PGPASSWORD"),
    ("no password supplied", "give the password, for example in ~/.pgpass or PGPASSWORD"),
    ("permission denied", "grant this user the right to use and create tables there"),
    ("does not exist", "create it on the server, or correct [history] url"),
    ("connection", "start the server or make it reachable, or correct [history] url"),
)
"""Words of SQLite and PostgreSQL, and what to do about them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A database that holds a history."""

    url: URL
    file: Path | None
    """The SQLite file; ``None`` for a server."""

    def __str__(self) -> str:
        """The file, or the server and the database on it; never a password, nor the query, which may hold one."""
        if self.file is not None:
            return str(self.file)
        port = f":{self.url.port}" if self.url.port else ""
        return f"postgresql://{self.url.host or ''}{port}/{self.url.database or ''}"

    def error(self, what: str, hint: str) -> LitmusHistoryError:
        """A failure of this history."""
        return LitmusHistoryError(f"history {self}: {what}", hint=hint)

    @contextmanager
    def told(self, doing: str) -> Iterator[None]:
        """Turn failures of the database into errors that say what to do.

        Raises:
            LitmusHistoryError: The block failed in the database or in what it holds.
        """
        try:
            yield
        except (SQLAlchemyError, OSError, OverflowError, ValueError) as error:
            why = self._scrubbed(_words(error))
            lowered = why.lower()
            fallback = "look at the database; the words are its own"
            raise self.error(
                f"cannot be {doing}: {why}", next((hint for key, hint in _HINTS if key in lowered), fallback)
            ) from None  # the cause may hold the password

    def _scrubbed(self, text: str) -> str:
        secrets = [self.url.password, *(v for value in self.url.query.values() for v in _each(value))]
        for secret in sorted((s for s in secrets if s), key=len, reverse=True):
            text = text.replace(secret, "…")
        return text


def place_of(url: str) -> Place:
    """The place that a URL names.

    Raises:
        LitmusHistoryError: It is none, or names what cannot hold a history.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise LitmusHistoryError(
            "the URL of the history cannot be read (it is not shown, since it may hold a password)",
            hint="write it as postgresql+psycopg://USER@HOST/DATABASE or sqlite:////absolute/file",
        ) from None
    if parsed.drivername == "sqlite" and parsed.database and not parsed.host and not parsed.query:
        if parsed.database == ":memory:" or parsed.database.startswith("file:"):
            raise _unusable("a history in memory is forgotten at once")
        file = Path(os.path.abspath(parsed.database))  # noqa: PTH100 - keeps links as they were named
        return Place(parsed.set(database=str(file)), file)
    if parsed.drivername in _POSTGRES:
        return Place(parsed.set(drivername="postgresql+psycopg"), None)
    raise _unusable(f"{parsed.drivername[:40]!r} with these parts cannot hold a history")


def _unusable(why: str) -> LitmusHistoryError:
    return LitmusHistoryError(
        f"the URL of the history: {why}",
        hint="write it as postgresql+psycopg://USER@HOST/DATABASE or sqlite:////absolute/file",
    )


def _words(error: Exception) -> str:
    if isinstance(error, NoSuchModuleError):
        return "the driver is not installed: pip install 'agent-litmus[postgres]'"
    if isinstance(error, DBAPIError) and error.orig is not None:
        return " ".join(str(error.orig).split())[:_LONGEST]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:_LONGEST]


def _each(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
