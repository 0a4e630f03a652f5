"""YAML with lines."""

from pathlib import Path

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.located import LocatedErrors, load_yaml, raise_all, show_path, yaml_file
from agent_litmus.located.yaml_file import parse_yaml


@pytest.fixture(params=list(yaml_file.LOADERS.values()), ids=list(yaml_file.LOADERS), autouse=True)
def _each_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test holds for the Python parser and for the C one where it is there."""
    monkeypatch.setattr(yaml_file, "_Loader", request.param)


def errors_of(text: str) -> tuple[str, ...]:
    with pytest.raises(LocatedErrors) as caught:
        parse_yaml(text, "s.yaml")
    return caught.value.errors


def test_every_key_and_item_has_its_line() -> None:
    located = parse_yaml("a: 1\nb:\n  - x\n  - c: |\n      text\n      more\n    d: 2\n", "s.yaml")
    assert located.value == {"a": 1, "b": ["x", {"c": "text\nmore\n", "d": 2}]}
    assert [located.line(p) for p in [("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c"), ("b", 1, "d")]] == [
        *(1, 2, 3, 4, 4, 7)
    ]


def test_an_unknown_path_gets_the_line_of_its_nearest_ancestor() -> None:
    located = parse_yaml("a:\n  b: 1\n", "s.yaml")
    assert located.line(("a", "b", "c", 3)) == 2
    assert located.line(("z",)) == 1


def test_words_of_other_yaml_versions_stay_text() -> None:
    located = parse_yaml("a: no\nb: on\nc: 2024-01-01\nd: 010\ne: 1_000\nf: 0x1F\nyes: y\ng: 12:30\n", "s.yaml")
    assert located.value == {
        "a": "no",
        "b": "on",
        "c": "2024-01-01",
        "d": "010",
        "e": "1_000",
        "f": "0x1F",
        "yes": "y",
        "g": "12:30",
    }


def test_plain_scalars_get_their_types() -> None:
    located = parse_yaml("[1, -2, 0.5, 1e3, true, False, null, ~, '1', .5]", "s.yaml")
    assert located.value == [1, -2, 0.5, 1000.0, True, False, None, None, "1", 0.5]


def test_a_duplicate_key_is_an_error_that_names_both_lines() -> None:
    assert errors_of("a:\n  x: 1\n  y: 2\n  x: 3\n") == (
        "s.yaml:2: $.a.x: duplicate key (again on line 4; first on line 2)",
    )


def test_all_duplicate_keys_are_reported_at_once() -> None:
    assert len(errors_of("a: 1\na: 2\nb: {c: 1, c: 2}\n")) == 2


def test_deferred_problems_are_raised_with_the_others_in_file_order() -> None:
    located = parse_yaml("a: 1\nb: 2\nb: 3\nc: 4\n", "s.yaml", defer=True)
    with pytest.raises(LocatedErrors) as caught:
        raise_all(located, [located.problem(("c",), "bad"), located.problem(("a",), "worse")])
    assert [line.split(": ")[0] for line in caught.value.errors] == ["s.yaml:1", "s.yaml:2", "s.yaml:4"]


def test_raise_all_returns_when_there_is_no_problem() -> None:
    raise_all(parse_yaml("a: 1\n", "s.yaml"), [])


def test_aliases_are_followed() -> None:
    assert parse_yaml("a: &x {k: v}\nb: *x\n", "s.yaml").value == {"a": {"k": "v"}, "b": {"k": "v"}}


def test_an_exponential_document_is_refused() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "too large once aliases are followed" in errors_of("\n".join(rows))[0]


def test_repeated_aliases_of_a_long_text_are_refused() -> None:
    text = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]\n"
    assert "too large once aliases are followed" in errors_of(text)[0]


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "[" * 200 + "]" * 200, "[" * 800, "- " * 1500 + "x"])
def test_endless_or_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(LitmusConfigError):
        parse_yaml(text, "s.yaml")


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("a: !!python/object/apply:os.system [id]", "is not supported"),
        ("a: !custom x", "is not supported"),
        ("a: !!int nope", "invalid literal"),
        ("<<: {a: 1}", "merge keys"),
        ("? [a]\n: 1", "a key must be plain text"),
        ("a: {{token.code}}", "a key must be plain text; quote texts that hold {{…}}"),
        ("a: {{token.code}} is it\nb: 1", "; quote texts that hold {{…}}"),
        ("a: {{token.code}} is it", "; quote texts that hold {{…}}"),
        ("a: 99999999999999999999", "beyond 2**53"),
        ("a: 1e999", "not finite"),
        ('a: "\\UFFFFFFFF"', "not valid YAML"),
        ("a: [1\nb: 2", "not valid YAML"),
        ("a: 1\n---\nb: 2", "not valid YAML"),
        ("a: \x01", "U+0001"),
        ("a: *nothing", "undefined alias"),
    ],
)
def test_what_cannot_be_used_is_named(text: str, needle: str) -> None:
    assert needle in errors_of(text)[0]


@pytest.mark.parametrize("text", ['a: "\\ud800"', '"\\udfff": 1'])
def test_half_a_character_is_refused(text: str) -> None:
    (line,) = errors_of(text)
    assert "surrogate" in line or "invalid Unicode" in line


def test_a_syntax_error_names_its_line() -> None:
    assert errors_of("a: 1\nb: {c: 2\nd: 3\n")[0].startswith("s.yaml:3: $: not valid YAML")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match=r"gone\.yaml: no such file"):
        load_yaml(tmp_path / "gone.yaml")


def test_a_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match="is a directory"):
        load_yaml(tmp_path)


def test_a_device_is_not_read() -> None:
    with pytest.raises(LitmusConfigError, match="not a regular file"):
        load_yaml(Path("/dev/zero"))


def test_text_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"a: 1\nb: caf\xe9\n")
    with pytest.raises(LitmusConfigError, match=r"latin.yaml:2: the file is not UTF-8 text \(byte 0xe9\)"):
        load_yaml(path)


def test_a_file_over_the_cap_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(b"#" * ((2 << 20) + 1))
    with pytest.raises(LitmusConfigError, match="larger than 2 MiB"):
        load_yaml(path)


def test_an_impossible_path_is_a_configuration_error() -> None:
    with pytest.raises(LitmusConfigError, match="cannot be read"):
        load_yaml(Path("a\0b"))


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert load_yaml(path).value == {"a": 1}


def test_control_characters_in_a_key_are_escaped_in_messages() -> None:
    assert show_path(("a", 0, "x\x1b[2J", "b-c")) == '$.a[0]["x\\u001b[2J"].b-c'
