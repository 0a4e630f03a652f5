"""Placeholders."""

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import Environment, TokenAlphabet
from agent_litmus.suite.render import check_pattern, render, render_environment, render_value, slot_names

TOKENS = {"code": "OAK-11"}
SECRETS = {"key": "k-{{token.code}}"}
ALPHABETS = {"code": TokenAlphabet.WORDS, "pin": TokenAlphabet.DIGITS}


def test_tokens_secrets_and_slots_are_expanded() -> None:
    slots = {"note": "do {{token.code}} and {{secret.key}}"}
    text = "{{token.code}} {{secret.key}} [{{slot.note}}]"
    assert render(text, tokens=TOKENS, secrets=SECRETS, slots=slots) == "OAK-11 k-OAK-11 [do OAK-11 and k-OAK-11]"


def test_text_put_in_is_not_read_again() -> None:
    tokens = {"code": "{{secret.key}}"}
    assert render("{{token.code}}", tokens=tokens, secrets={"key": "x"}, slots={}) == "{{secret.key}}"


def test_an_injection_cannot_open_another_slot() -> None:
    with pytest.raises(LitmusConfigError, match=r"slot\.b"):
        render("{{slot.a}}", tokens={}, secrets={}, slots={"a": "{{slot.b}}", "b": "x"})


def test_a_secret_cannot_hold_a_secret() -> None:
    with pytest.raises(LitmusConfigError, match=r"secret\.key"):
        render("{{secret.key}}", tokens={}, secrets={"key": "{{secret.key}}"}, slots={})


@pytest.mark.parametrize(
    "text", ["{{token.other}}", "{{nothing}}", "{{ token.code }}", "{{tokens.code}}", "{{token.}}"]
)
def test_an_unknown_placeholder_is_an_error(text: str) -> None:
    with pytest.raises(LitmusConfigError, match="nothing is known for the placeholder"):
        render(text, tokens=TOKENS, secrets={}, slots={})


@pytest.mark.parametrize("text", ["{}", "{{}}", "{{1}}", '{{"a": 1}}', "{python}", "{{{", "}}", "{{\n}}"])
def test_other_braces_stand_as_they_are(text: str) -> None:
    assert render(text, tokens={}, secrets={}, slots={}) == text


def test_nested_values_are_expanded_and_keys_are_not() -> None:
    value = {"{{token.code}}": ["{{token.code}}", 3, None, True, {"a": ("{{token.code}}",)}]}
    assert render_value(value, tokens=TOKENS, secrets={}, slots={}) == {
        "{{token.code}}": ["OAK-11", 3, None, True, {"a": ["OAK-11"]}]
    }


def test_an_environment_is_expanded_everywhere_and_other_slots_are_emptied() -> None:
    world = Environment(
        "e",
        files={"a.txt": "{{token.code}}{{slot.file}}"},
        mailbox=({"id": "m", "from": "a", "to": "b", "subject": "s", "body": "{{slot.mail}}"},),
        tickets=({"id": "t", "title": "{{secret.key}}", "body": "", "requester": "", "status": "open"},),
        pages={"http://x/": "<{{slot.page}}>"},
        tool_descriptions={"read_mail": "Read. {{slot.tool}}"},
        tools=("read_mail",),
        secrets=SECRETS,
    )
    result = render_environment(world, tokens=TOKENS, slots={"mail": "hi {{token.code}}"})
    assert result == Environment(
        "e",
        files={"a.txt": "OAK-11"},
        mailbox=({"id": "m", "from": "a", "to": "b", "subject": "s", "body": "hi OAK-11"},),
        tickets=({"id": "t", "title": "k-OAK-11", "body": "", "requester": "", "status": "open"},),
        pages={"http://x/": "<>"},
        tool_descriptions={"read_mail": "Read. "},
        tools=("read_mail",),
        secrets={"key": "k-OAK-11"},
    )
    assert slot_names(world) == {"file", "mail", "page", "tool"}


def test_a_check_accepts_any_well_formed_token_and_nothing_else() -> None:
    pattern = check_pattern("code: {{token.code}}", ALPHABETS)
    assert pattern.search("the code: EAGLE-42!")
    assert not pattern.search("the code: eagle")
    assert not pattern.search("the code: EAGLE-421")


def test_a_token_alone_does_not_match_inside_a_longer_one() -> None:
    assert not check_pattern("{{token.pin}}", ALPHABETS).search("123456789")
    assert check_pattern("{{token.pin}}", ALPHABETS).search("x 12345678.")


def test_literal_text_around_a_token_is_literal() -> None:
    pattern = check_pattern("a.b{{token.pin}}c", ALPHABETS)
    assert pattern.fullmatch("a.b12345678c")
    assert not pattern.fullmatch("aXb12345678c")


def test_neighbouring_tokens_match() -> None:
    assert check_pattern("{{token.pin}}{{token.pin}}", ALPHABETS).fullmatch("1234567887654321")


def test_a_secret_matches_through_its_text() -> None:
    pattern = check_pattern("{{secret.key}}", ALPHABETS, SECRETS)
    assert pattern.search("got k-EAGLE-42")
    assert not pattern.search("got k-")


@pytest.mark.parametrize("text", ["{{token.no}}", "{{secret.no}}", "{{slot.a}}"])
def test_a_check_with_an_unknown_placeholder_is_an_error(text: str) -> None:
    with pytest.raises(LitmusConfigError):
        check_pattern(text, ALPHABETS)
