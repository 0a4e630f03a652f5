"""Properties of the suite's parser, tokens, rendering and digest."""

import contextlib
import copy
import random
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_litmus.errors import LitmusConfigError
from agent_litmus.located.toml_file import parse_toml
from agent_litmus.located.yaml_file import parse_yaml
from agent_litmus.records.probe import TokenAlphabet
from agent_litmus.suite.load import builtin_path, parse_suite
from agent_litmus.suite.render import PLACEHOLDER, check_pattern, render
from agent_litmus.suite.tokens import Minter, pattern

OFFICE = builtin_path("office").read_text("utf-8")
DIGEST = parse_suite(OFFICE).digest
DOCUMENT: dict[str, Any] = yaml.safe_load(OFFICE)
ALPHABETS = st.sampled_from(TokenAlphabet)
PATIENT = settings(deadline=None)
FEW = settings(deadline=None, max_examples=25)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def refuses_or_accepts(parse: Any, text: str) -> None:
    with contextlib.suppress(LitmusConfigError):
        parse(text, "f")


@PATIENT
@given(st.text())
def test_any_text_is_a_suite_or_a_configuration_error(text: str) -> None:
    refuses_or_accepts(parse_suite, text)


@PATIENT
@given(st.text(alphabet="ab:-{}[]&*!|>'\"#?,%@ \t\n\\<~0.e"))
def test_any_yaml_like_text_is_a_document_or_a_configuration_error(text: str) -> None:
    refuses_or_accepts(parse_yaml, text)


@PATIENT
@given(st.text(alphabet="ab=[]{}'\"#.,\\ \t\r\n01-:Tu"))
def test_any_toml_like_text_is_a_document_or_a_configuration_error(text: str) -> None:
    refuses_or_accepts(parse_toml, text)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in children for found in paths(inner, (*path, key)))]


ALL_PATHS = paths(DOCUMENT)[1:]


def replaced(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return document


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(ALL_PATHS), JSON)
def test_any_value_anywhere_is_accepted_or_a_configuration_error(path: tuple[Any, ...], value: Any) -> None:
    refuses_or_accepts(parse_suite, yaml.safe_dump(replaced(path, value), allow_unicode=True))


TEXT_PATHS = [
    path
    for path in ALL_PATHS
    if path[-1] in {"body", "prompt", "goal", "text", "template", "title", "subject", "answer"}
    or (len(path) > 1 and path[-2] in {"files", "pages", "secrets", "tool_descriptions"})
]


def at(path: tuple[Any, ...]) -> Any:
    value: Any = DOCUMENT
    for step in path:
        value = value[step]
    return value


@FEW
@given(st.sampled_from([path for path in TEXT_PATHS if isinstance(at(path), str)]), st.text("abc .,!é", min_size=1))
def test_the_digest_changes_with_any_text(path: tuple[Any, ...], more: str) -> None:
    changed = yaml.safe_dump(replaced(path, at(path) + more), allow_unicode=True)
    assert parse_suite(changed).digest != DIGEST


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, Mapping):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


@FEW
@given(st.randoms(use_true_random=False), st.sampled_from([None, True, False]), st.integers(20, 200))
def test_the_digest_does_not_depend_on_key_order_style_or_comments(
    order: random.Random, flow: bool | None, width: int
) -> None:
    written = yaml.safe_dump(
        shuffled(DOCUMENT, order), sort_keys=False, default_flow_style=flow, width=width, allow_unicode=True
    )
    assert parse_suite("# first\n" + written + "\n# last\n").digest == DIGEST


def test_probe_ids_are_unique() -> None:
    ids = [probe.id for probe in parse_suite(OFFICE).probes]
    assert len(ids) == len(set(ids))


NAMES = st.lists(st.text("abc.-_0", min_size=1, max_size=4), unique=True, min_size=1, max_size=3)


@FEW
@given(NAMES, NAMES, st.integers(1, 3))
def test_expansion_gives_unique_ids_for_any_names(hosts: list[str], injections: list[str], rows: int) -> None:
    document = copy.deepcopy(DOCUMENT)
    task, injection = document["host_tasks"][0], document["injections"][0]
    document["host_tasks"] = [task | {"id": f"h{name}"} for name in hosts]
    document["injections"] = [injection | {"id": f"i{name}"} for name in injections]
    document["matrix"] = [{"attacks": ["plain", "notice"][: 1 + row % 2]} for row in range(min(rows, 2))]
    suite = parse_suite(yaml.safe_dump(document))
    ids = [probe.id for probe in suite.probes]
    assert len(ids) == len(set(ids))
    attacks = min(rows, 2)
    assert len(ids) == len(hosts) + len(hosts) * len(injections) * 2 * attacks


@PATIENT
@given(st.integers(), st.text(max_size=8), ALPHABETS, st.integers(0, 300))
def test_minted_tokens_are_different_well_formed_and_the_same_again(
    seed: int, slot: str, alphabet: TokenAlphabet, n: int
) -> None:
    tokens = Minter(seed).mint(slot, alphabet, n)
    assert len(set(tokens)) == n
    assert all(pattern(alphabet).fullmatch(token) for token in tokens)
    assert tokens == Minter(seed).mint(slot, alphabet, n)


@PATIENT
@given(st.integers(), ALPHABETS, ALPHABETS)
def test_no_token_is_well_formed_in_another_alphabet(seed: int, mine: TokenAlphabet, other: TokenAlphabet) -> None:
    (token,) = Minter(seed).mint("s", mine, 1)
    assert bool(pattern(other).search(token)) == (mine is other)


PIECES = st.sampled_from(
    [
        "{{token.a}}",
        "{{token.b}}",
        "{{secret.k}}",
        "{{slot.s}}",
        "{",
        "}",
        "{{",
        "}}",
        "0",
        "-",
        " ",
        ".*",
        "é",
    ]
)


@PATIENT
@given(st.lists(PIECES).map("".join), st.text(), st.text())
def test_rendering_replaces_each_placeholder_once_and_nothing_else(text: str, first: str, second: str) -> None:
    tokens = {"a": "{{token.b}}" + first, "b": "{{slot.s}}" + second}
    known = {"token.a": tokens["a"], "token.b": tokens["b"], "secret.k": "<k>", "slot.s": "<s>"}
    expected = PLACEHOLDER.split(text)
    expected[1::2] = [known[name] for name in expected[1::2]]
    assert render(text, tokens=tokens, secrets={"k": "<k>"}, slots={"s": "<s>"}) == "".join(expected)


@FEW
@given(st.lists(PIECES.filter(lambda piece: "slot" not in piece)).map("".join), st.integers(), st.integers())
def test_a_check_accepts_its_own_text_under_the_tokens_of_any_session(text: str, own: int, foreign: int) -> None:
    alphabets = {"a": TokenAlphabet.WORDS, "b": TokenAlphabet.HEX}
    secrets = {"k": "k{{token.a}}/{{token.b}}"}
    check = check_pattern(text, alphabets, secrets)
    for seed in (own, foreign):
        tokens = {slot: Minter(seed).mint(slot, alphabet, 1)[0] for slot, alphabet in alphabets.items()}
        assert check.fullmatch(render(text, tokens=tokens, secrets=secrets, slots={}))


@PATIENT
@given(st.text(), st.text())
def test_a_check_without_placeholders_is_plain_containment(needle: str, text: str) -> None:
    if PLACEHOLDER.search(needle):
        return
    assert bool(check_pattern(needle, {}).search(text)) == (needle in text)


@pytest.mark.parametrize("alphabet", list(TokenAlphabet))
def test_a_check_is_not_met_by_the_placeholder_itself(alphabet: TokenAlphabet) -> None:
    assert not check_pattern("{{token.a}}", {"a": alphabet}).search("{{token.a}}")
