from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from agent_litmus.config import load_config
from agent_litmus.config.history_url import expanded_url

from .conftest import MINIMAL, Writer

BASE = Path("/base")


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1))
def test_any_password_in_a_variable_reaches_the_server_as_it_is(password: str) -> None:
    url = expanded_url("postgresql+psycopg://me:${PW}@db.example:5432/x", BASE, {"PW": password})
    parsed = make_url(url)
    assert (parsed.password, parsed.host, parsed.port, parsed.database) == (password, "db.example", 5432, "x")
    assert unquote(urlsplit(url).password or "") == password


def test_other_variables_are_inserted_as_they_are() -> None:
    url = expanded_url("${WHOLE}", BASE, {"WHOLE": "postgresql+psycopg://u:p%40@h/x"})
    assert url == "postgresql+psycopg://u:p%40@h/x"
    assert expanded_url("postgresql://${AT}/x", BASE, {"AT": "h:1"}) == "postgresql://h:1/x"


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///h.sqlite", "/base/h.sqlite"),
        ("sqlite:///../h.sqlite", "/h.sqlite"),
        ("sqlite:////var/h.sqlite", "/var/h.sqlite"),
    ],
)
def test_a_file_is_relative_to_the_configuration(url: str, file: str) -> None:
    assert expanded_url(url, BASE, {}) == f"sqlite:///{file}"
    assert make_url(expanded_url(url, BASE, {})).database == file


def test_no_url_stays_none() -> None:
    assert expanded_url("", BASE, {}) == ""


def test_a_history_below_the_agents_files_is_not_part_of_the_agent(write: Writer) -> None:
    config = load_config(write(MINIMAL + '[history]\nurl = "sqlite:///agent/past.db"\n'))
    for suffix in ("", "-wal", "-shm", "-journal", ".origin"):
        assert f"/past.db{suffix}" in config.agent.exclude


def test_the_history_is_configured_as_written(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITMUS_TEST_REF", "feature/x")
    lines = '[history]\nenabled = false\nref = "${LITMUS_TEST_REF}"\nprotected = ["release/*"]\n'
    history = load_config(write(MINIMAL + lines)).history
    assert (history.url, history.enabled, history.ref, history.protected) == (
        "",
        False,
        "feature/x",
        ("release/*",),
    )
