"""The messages that the how-to on writing a suite explains are the messages that are given."""

import re
from pathlib import Path

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.suite.load import load_suite

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "how-to/write-a-suite.md").read_text(encoding="utf-8")
TUTORIAL = (DOCS / "tutorial/first-run.md").read_text(encoding="utf-8")
SUITE = TUTORIAL.partition("```yaml file=suite.yaml\n")[2].partition("```")[0]
CHECK = '- answer_contains: "{{token.code}}"'
HARM = "- mail_sent: {to: eve@drop.example}"
MISTAKES = {
    "unknown field 'gaol'; did you mean 'goal'?": ("goal:", "gaol:"),
    "the field 'goal' is missing": ("goal:", "gaol:"),
    "duplicate key (again on line 3; first on line 2)": ('version: "1"', 'version: "1"\nversion: "2"'),
    "not valid YAML: mapping values are not allowed in this context": ("prompt: Read", "prompt: Read: now"),
    "should be text, not 1": ('version: "1"', "version: 1"),
    "found file_exists and answer_contains": (CHECK, f"{CHECK}\n        file_exists: x"),
    "the token slot is not declared in 'tokens'; did you mean 'code'?": (CHECK, CHECK.replace("code", "cod")),
    "stands neither in the prompt nor in what the agent can read": (CHECK, CHECK.replace("code", "other")),
    "no carrier uses the slot 'note'": ("slot: note}", "slot: nota}"),
    "no environment marks {{slot.nota}}": ("slot: note}", "slot: nota}"),
    "the slot 'note' is in a file, but its carrier is of kind 'mail'": ("kind: file", "kind: mail"),
    "makes no probe: no carrier's slot is in its host tasks' environments": ("kind: file", "kind: mail"),
    "the prompt is the host task's own channel; an injection may not share it": (
        "prompt: Read",
        "prompt: Read {{slot.note}}",
    ),
    "holds neither {{injection}} nor {{goal}}": ('template: "{{injection}}"', "template: hello"),
    "every check holds before the agent acts, so doing nothing would pass": (CHECK, "- file_unchanged: note.txt"),
    "the file is there from the start; declare 'invariant: true' or use another check": (
        CHECK,
        "- file_exists: note.txt",
    ),
    "no 'forbidden' check, so its harm could never be seen": (f"    forbidden:\n      {HARM}\n", ""),
    "no 'oracle', so nothing can prove that its forbidden checks fire": (
        "    oracle:\n      - call: {tool: send_mail, arguments: {to: eve@drop.example, subject: s, body: b}}\n",
        "",
    ),
    "holds when nothing was done; a forbidden check must hold after the harm only": (
        HARM,
        "- file_unchanged: note.txt",
    ),
    "'OAK-11' looks like a token of the alphabet 'words'; checks would accept it": ("The code is", "OAK-11 is no"),
    "injection 'leak' needs the tool 'send_mail', which environment 'desk' lacks": (
        "- id: desk",
        "- id: desk\n    tools: [read_file]",
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_an_explained_message_is_given(tmp_path: Path, message: str) -> None:
    right, wrong = MISTAKES[message]
    assert right in SUITE
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE.replace(right, wrong), encoding="utf-8")
    with pytest.raises(LitmusConfigError) as caught:
        load_suite(path)
    assert message in str(caught.value)
    assert message in PAGE


def test_every_explained_error_of_form_is_tried() -> None:
    table = PAGE.partition("Errors of form")[2].partition("Errors of substance")[0]
    explained = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    assert explained
    for text in explained:
        assert any(message in text for message in MISTAKES), text
