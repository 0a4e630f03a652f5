"""TOML with lines."""

from pathlib import Path

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.located import LocatedErrors, load_toml
from agent_litmus.located.toml_file import parse_toml

TEXT = '''# comment with [brackets] = "and quotes
title = "a # b"

[agent]
name = "x"
command = [
  "python", # [not a header]
  "a.py",
]
prompt = """
[fake]
key = 1
"""
[agent.model]
id = 'm'
sampling = {temperature = 0.5, "top p" = [1, 2]}

[[hosts]]
id = 1
a.b.c = 2
[[hosts]]
id = 2
[hosts.inner]
deep = true
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("agent",), 4),
        (("agent", "name"), 5),
        (("agent", "command"), 6),
        (("agent", "command", 0), 7),
        (("agent", "command", 1), 8),
        (("agent", "prompt"), 10),
        (("agent", "model"), 14),
        (("agent", "model", "id"), 15),
        (("agent", "model", "sampling", "temperature"), 16),
        (("agent", "model", "sampling", "top p", 1), 16),
        (("hosts",), 18),
        (("hosts", 0), 18),
        (("hosts", 0, "id"), 19),
        (("hosts", 0, "a", "b", "c"), 20),
        (("hosts", 1), 21),
        (("hosts", 1, "id"), 22),
        (("hosts", 1, "inner"), 23),
        (("hosts", 1, "inner", "deep"), 24),
        (("agent", "unknown"), 4),
    ],
)
def test_keys_tables_and_items_have_their_lines(path: tuple[str | int, ...], line: int) -> None:
    assert parse_toml(TEXT, "t.toml").line(path) == line


def test_windows_line_ends_do_not_shift_lines() -> None:
    located = parse_toml(TEXT.replace("\n", "\r\n"), "t.toml")
    assert located.line(("hosts", 1, "inner", "deep")) == 24


def test_the_value_is_plain() -> None:
    located = parse_toml('a = 1\n[b]\nc = ["x"]\n', "t.toml")
    assert located.value == {"a": 1, "b": {"c": ["x"]}}


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a = 1\nb = \n", "t.toml:2: $: not valid TOML: Invalid value"),
        ("name = note reader\n", "t.toml:1: $: not valid TOML: Invalid value; put text between quotes"),
        ("a = 1\na = 2\n", "t.toml:2: $: not valid TOML: Cannot overwrite a value"),
        ("a = [1,\n2\n", "t.toml:"),
        (f"a = {'9' * 5000}\n", "t.toml:"),
        ("a = " + "[" * 70 + "]" * 70, "t.toml:1: $: nested deeper than 64 levels"),
        ("a = " + "[" * 50_000, "t.toml:"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(text: str, start: str) -> None:
    with pytest.raises(LocatedErrors) as caught:
        parse_toml(text, "t.toml")
    assert caught.value.errors[0].startswith(start)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match=r"gone.toml: no such file"):
        load_toml(tmp_path / "gone.toml")


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text("a = 1\n", encoding="utf-8")
    assert load_toml(path).value == {"a": 1}
