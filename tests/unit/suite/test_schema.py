"""The format itself."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from agent_litmus.records.probe import CheckKind
from agent_litmus.suite.checks import CheckModel
from agent_litmus.suite.load import builtin_path
from agent_litmus.suite.schema import suite_json_schema

COMMITTED = Path(__file__).parents[3] / "docs" / "reference" / "suite.schema.json"


def params(check: dict[str, Any]) -> dict[str, Any]:
    return CheckModel.model_validate(check).params


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ({"file_exists": "a.txt"}, {"path": "a.txt"}),
        ({"file_absent": {"path": "a.txt"}}, {"path": "a.txt"}),
        ({"file_unchanged": "d/a.txt"}, {"path": "d/a.txt"}),
        ({"file_contains": {"path": "a", "text": "x"}}, {"path": "a", "text": "x"}),
        ({"tool_called": "read_mail"}, {"tool": "read_mail", "arguments": {}}),
        (
            {"tool_called": {"tool": "send_mail", "arguments": {"to": {"contains": "x"}, "n": None, "l": [1]}}},
            {"tool": "send_mail", "arguments": {"to": {"contains": "x"}, "n": None, "l": [1]}},
        ),
        ({"mail_sent": "a@x.example"}, {"to": "a@x.example"}),
        ({"mail_sent": {"body": {"matches": "^a"}}}, {"body": {"matches": "^a"}}),
        ({"ticket_created": "t"}, {"title": "t"}),
        ({"http_request": "x.example"}, {"host": "x.example"}),
        ({"http_request": {"method": "POST", "contains": "k"}}, {"method": "POST", "contains": "k"}),
        ({"process_run": "curl"}, {"program": "curl"}),
        ({"process_run": {"matches": "a+"}}, {"matches": "a+"}),
        ({"signal_sent": "SIGKILL"}, {"signal": "SIGKILL"}),
        ({"signal_sent": {"target": -1}}, {"target": -1}),
        ({"secret_left": "key"}, {"secret": "key"}),
        ({"file_read": "~/.aws/credentials"}, {"path": "~/.aws/credentials"}),
        ({"command": {"argv": ["true"]}}, {"argv": ["true"], "exit_code": 0}),
        ({"answer_contains": "x"}, {"text": "x"}),
        ({"answer_contains": {"matches": "x"}}, {"matches": "x"}),
    ],
)
def test_parameters_are_written_out(check: dict[str, Any], expected: dict[str, Any]) -> None:
    assert params(check) == expected


def test_every_kind_of_check_is_in_the_format() -> None:
    assert {kind.value for kind in CheckKind} == CheckModel.model_fields.keys() - {"id", "invariant"}


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({}, "exactly one of"),
        ({"id": "a"}, "found none"),
        ({"file_exists": "a", "file_absent": "b"}, "found file_exists and file_absent"),
        ({"file_exists": None}, "is empty"),
        ({"file_exists": 3}, "put a number between quotes"),
        ({"file_exists": "/etc/passwd"}, "below the workspace"),
        ({"file_exists": "a/../../b"}, "below the workspace"),
        ({"file_exists": "a//b"}, "below the workspace"),
        ({"file_exists": "./a"}, "below the workspace"),
        ({"file_exists": "."}, "below the workspace"),
        ({"file_exists": ""}, "below the workspace"),
        ({"file_exists": "a\0b"}, "NUL"),
        ({"file_exists": "{{token.x}}"}, "not expanded"),
        ({"file_contains": {"path": "a"}}, "give either 'text' or 'matches'"),
        ({"file_contains": {"path": "a", "text": "x", "matches": "y"}}, "give either 'text' or 'matches'"),
        ({"file_contains": {"path": "a", "matches": "("}}, "not a regular expression"),
        ({"file_contains": {"path": "a", "matches": "a{99999999999999}"}}, "not a regular expression"),
        ({"file_contains": {"path": "a", "matches": "{{token.x}}"}}, "not expanded in regular expressions"),
        ({"file_contains": {"path": "a", "text": ""}}, "at least 1 character"),
        ({"tool_called": "read_male"}, "read_mail"),
        ({"tool_called": {"tool": "read_mail", "arguments": {"a": {"is": 1}}}}, "is"),
        ({"http_request": {}}, "at least one of"),
        ({"http_request": {"method": "post"}}, "pattern"),
        ({"process_run": {}}, "at least one of"),
        ({"process_run": {"argv_contains": "a", "matches": "b"}}, "not both"),
        ({"signal_sent": {}}, "at least one of"),
        ({"signal_sent": "KILL"}, "no signal of this system"),
        ({"command": "ls"}, "dictionary"),
        ({"command": {"argv": []}}, "at least 1 item"),
        ({"command": {"argv": ["a"], "exit_code": 256}}, "255"),
        ({"answer_contains": ""}, "at least 1 character"),
        ({"answer_contains": "x", "invariant": "yes"}, "boolean"),
        ({"answer_contains": "x", "id": "a+b"}, "not an id"),
        ({"answer_contains": "x", "id": "a\n"}, "not an id"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(check: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        params(check)
    assert message in str(caught.value)


def test_the_schema_in_the_documentation_is_current() -> None:
    assert json.loads(COMMITTED.read_text("utf-8")) == json.loads(json.dumps(suite_json_schema()))


def test_the_schema_is_a_valid_schema_and_accepts_the_built_in_suite() -> None:
    jsonschema.Draft202012Validator.check_schema(suite_json_schema())
    document = yaml.safe_load(builtin_path("office").read_text("utf-8"))
    jsonschema.validate(document, suite_json_schema())


@pytest.mark.parametrize(
    "change",
    [
        {"carier": []},
        {"tokens": {"a": "octal"}},
        {"delivery_floor": 2},
        {"environments": [{"id": "e", "tools": ["fly"]}]},
        {
            "host_tasks": [
                {"id": "h", "environment": "e", "checks": [{}], "oracle": [{"answer": "x"}], "prompt": "p"}
            ]
        },
        {"pin": None},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(change: dict[str, Any]) -> None:
    document = yaml.safe_load(builtin_path("office").read_text("utf-8")) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, suite_json_schema())
