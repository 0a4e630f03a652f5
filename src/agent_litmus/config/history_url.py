"""The URL of a history as it is written in a configuration."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from agent_litmus.config.places import absolute, expand

SERVERS = ("postgresql+psycopg", "postgresql", "postgres")
_FILE = "sqlite:///"
_PASSWORD = re.compile(r"(://[^/?#@]*:)(\$\{[A-Za-z_][A-Za-z0-9_]*\})(?=@)")
_WRITE = "write postgresql+psycopg://USER@HOST/DATABASE or sqlite:///FILE"


def history_file(url: str, base: Path) -> Path | None:
    """The SQLite file that an expanded URL names, below ``base`` unless absolute; ``None`` for a server."""
    return absolute(base, url.removeprefix(_FILE)) if url.startswith(_FILE) else None


def expanded_url(text: str, base: Path, environment: Mapping[str, str]) -> str:
    """The URL with its variables replaced and its file made absolute.

    A variable that stands for the whole password may hold any characters; they are encoded as a URL needs it.

    Raises:
        ValueError: A variable is not set, or the result is no URL of a history. The message holds no value.
    """
    url = expand(_PASSWORD.sub(lambda m: m[1] + quote(expand(m[2], environment), safe=""), text), environment)
    if not url:
        return ""
    problem = _problem(url)
    if problem:
        raise ValueError(problem)
    file = history_file(url, base)
    return f"{_FILE}{file}" if file else url


def _problem(url: str) -> str:
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        return _file_problem(url)
    if scheme not in SERVERS:
        return f"names no database that can hold a history; {_WRITE}"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return f"cannot be read (its text may hold a password, so it is not shown); {_WRITE}"
    if not rest or not parts.path.strip("/"):
        return f"names no database on the server; {_WRITE}"
    return ""


def _file_problem(url: str) -> str:
    name = url.removeprefix(_FILE)
    if not url.startswith(_FILE) or not name or name == ":memory:" or name.startswith("file:"):
        return "names no file (a history in memory is forgotten); write sqlite:///FILE, or sqlite:////ABSOLUTE/FILE"
    if "?" in name or "\x00" in name:
        return "must end with the name of the file; write sqlite:///FILE"
    return ""
