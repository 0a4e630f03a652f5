"""Validation errors as located lines."""

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from agent_litmus.located import Located, LocatedErrors, validate
from agent_litmus.located.toml_file import parse_toml
from agent_litmus.located.yaml_file import parse_yaml


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    sender: str = Field(default="", alias="from")
    size: Annotated[int, Field(ge=1)] = 1

    @field_validator("name")
    @classmethod
    def _no_blank(cls, value: str) -> str:
        if " " in value:
            raise ValueError("a name holds no blank")
        return value


class Top(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    items: list[Item]
    table: dict[str, Item] = Field(default_factory=dict)
    either: int | str = 0
    maybe: Item | None = None


def errors_of(located: Located) -> tuple[str, ...]:
    with pytest.raises(LocatedErrors) as caught:
        validate(Top, located)
    return caught.value.errors


def test_a_valid_document_becomes_the_model() -> None:
    top = validate(Top, parse_yaml("items: [{name: a, from: b}]\n", "f"))
    assert top.items[0].sender == "b"


def test_every_error_is_reported_at_once_with_its_line() -> None:
    text = "items:\n  - name: a b\n    siez: 2\n  - size: 0\ntable:\n  x: {name: 5}\neither: [1]\n"
    assert errors_of(parse_yaml(text, "f.yaml")) == (
        "f.yaml:2: $.items[0].name: a name holds no blank",
        "f.yaml:3: $.items[0].siez: unknown field 'siez'; did you mean 'size'?",
        "f.yaml:4: $.items[1]: the field 'name' is missing",
        "f.yaml:4: $.items[1].size: should be greater than or equal to 1, not 0",
        "f.yaml:6: $.table.x.name: should be text, not 5",
        "f.yaml:7: $.either: should be a whole number, not [1] or: should be text, not [1]",
    )


def test_the_same_holds_for_toml() -> None:
    assert errors_of(parse_toml('[[items]]\nname = "a"\n[[items]]\nnmae = "b"\n', "f.toml")) == (
        "f.toml:3: $.items[1]: the field 'name' is missing",
        "f.toml:4: $.items[1].nmae: unknown field 'nmae'; did you mean 'name'?",
    )


def test_a_suggestion_uses_the_name_in_the_file() -> None:
    assert "did you mean 'from'" in errors_of(parse_yaml("items: [{name: a, form: b}]", "f"))[0]


def test_suggestions_reach_through_tables_and_optional_models() -> None:
    found = errors_of(parse_yaml("items: []\ntable: {x: {name: a, nam: b}}\nmaybe: {name: a, sise: 1}\n", "f"))
    assert "did you mean 'name'" in found[0]
    assert "did you mean 'size'" in found[1]


def test_a_far_off_field_lists_the_known_ones() -> None:
    assert errors_of(parse_yaml("items: []\nzzz: 1\n", "f")) == (
        "f:2: $.zzz: unknown field 'zzz'; known: either, items, maybe, table",
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "null"])
def test_an_empty_file_is_an_error(text: str) -> None:
    assert errors_of(parse_yaml(text, "f")) == ("f:1: $: the file is empty",)


@pytest.mark.parametrize("text", ["[1]", "x", "3"])
def test_a_document_of_another_shape_is_an_error(text: str) -> None:
    assert len(errors_of(parse_yaml(text, "f"))) == 1


def test_a_long_value_is_cut_in_the_message() -> None:
    (line,) = errors_of(parse_yaml(f"items: {'x' * 5000}\n", "f"))
    assert len(line) < 150


def test_parsing_problems_are_raised_with_the_models() -> None:
    located = parse_yaml("items: []\nitems: []\nzzz: 1\n", "f", defer=True)
    assert len(errors_of(located)) == 2


def test_the_message_tells_what_to_do_next() -> None:
    with pytest.raises(LocatedErrors, match="next: correct these 2 lines"):
        validate(Top, parse_yaml("a: 1\nitems: 3\n", "f"))
