"""A history of each kind, empty; and the server behind it."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.integration.history.server import Server, binaries, running

from agent_litmus.history.place import place_of
from agent_litmus.history.store import History

_NUMBERS = count()
PROTECTED = ("main", "release/*")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for every worker of the test run."""
    found = binaries()
    if found is None:
        pytest.skip("PostgreSQL's server programs are not installed (Debian: apt-get install postgresql)")
    with running(found) as server:
        yield server


@pytest.fixture
def database(server: Server) -> str:
    """URL of a new, empty database."""
    name = f"history{next(_NUMBERS)}"
    plain = server.url().replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.url(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a history that does not exist yet, one of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'history.sqlite'}"
    found: Any = request.getfixturevalue("database")
    return str(found)


@pytest.fixture
def history(url: str) -> History:
    """The history at ``url``."""
    return History(place_of(url), PROTECTED)
