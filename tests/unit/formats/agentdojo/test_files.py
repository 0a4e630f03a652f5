import json

import pytest
from pydantic import ValidationError
from tests.unit.app.build_archive import run_file

from agent_litmus.formats.agentdojo.layout import LATER_SET, PUBLISHED_SET, is_run_name, place_of
from agent_litmus.formats.agentdojo.read import Rejected
from agent_litmus.formats.agentdojo.schema import Message, parse_run


def test_the_last_five_levels_say_which_run_it_is() -> None:
    place = place_of(("mnt", "runs", "gpt", "slack", "user_task_3", "direct", "injection_task_2.json"))
    assert (place.pipeline, place.suite, place.user_task) == ("gpt", "slack", "user_task_3")
    assert (place.attack, place.injection, place.clean) == ("direct", "injection_task_2", False)


@pytest.mark.parametrize(
    "parts",
    [
        ("slack", "user_task_3", "direct", "none.json"),
        ("gpt", "slack", "task_3", "none", "none.json"),
        ("gpt", "slack", "user_task_3", "direct", "none.json"),
        ("gpt", "slack", "user_task_3", "none", "injection_task_1.json"),
    ],
)
def test_what_is_not_in_the_layout_is_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"\$: "):
        place_of(parts)


@pytest.mark.parametrize(
    ("suite", "injection", "subset"),
    [
        ("workspace", "injection_task_5", PUBLISHED_SET),
        ("workspace", "injection_task_6", LATER_SET),
        ("workspace", "injection_task_13", LATER_SET),
        ("banking", "injection_task_8", PUBLISHED_SET),
    ],
)
def test_tasks_added_later_are_told_apart(suite: str, injection: str, subset: str) -> None:
    assert place_of(("p", suite, "user_task_0", "plain", f"{injection}.json")).subset == subset


def test_other_files_are_no_runs() -> None:
    assert is_run_name("none.json")
    assert is_run_name("injection_task_12.json")
    assert not any(map(is_run_name, ("README.json", "none.txt", "injection_task_x.json", "none.json.bak")))


def test_both_layouts_of_messages_are_read() -> None:
    parts = [
        {"type": "text", "content": "one"},
        {"type": "thinking", "content": {"deep": 1}},
        {"type": "text", "text": "two"},
    ]
    assert Message.model_validate({"role": "tool", "content": parts}).words == "one\ntwo"
    with pytest.raises(ValidationError):
        Message.model_validate({"role": "tool", "content": [{"type": "text", "content": 5}]})
    assert Message(role="assistant").words == ""


def test_last_words_are_the_agents_own() -> None:
    document = run_file(says="Done.")
    document["messages"] += [{"role": "assistant", "content": " "}, {"role": "tool", "content": "later"}]
    assert parse_run(json.dumps(document).encode()).last_words == "Done."


def test_known_versions_are_read_and_others_are_not() -> None:
    for version in ("v1", "v1.1.2", "v1.2.2", None):
        assert parse_run(json.dumps(run_file() | {"benchmark_version": version}).encode())
    with pytest.raises(ValueError, match=r"\$\.benchmark_version: unknown version 'v3'"):
        parse_run(json.dumps(run_file() | {"benchmark_version": "v3"}).encode())


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("$.messages[17].content: Input should be a string", "$.messages[].content: Input should be a string"),
        ("$: not complete JSON: EOF at line 3", "$: not complete JSON"),
    ],
)
def test_reasons_are_counted_without_what_differs(why: str, kind: str) -> None:
    assert Rejected("a/b", why, 1).kind == kind
