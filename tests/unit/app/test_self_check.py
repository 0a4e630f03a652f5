"""What the exam of a provider prints, and what is refused before it begins."""

import json

import pytest

from agent_litmus.app.self_check import as_json, chosen, lines, self_check
from agent_litmus.errors import LitmusConfigError
from agent_litmus.exam.cases import ALL
from agent_litmus.exam.result import CaseResult, ExamResult
from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    ProviderReport,
)

REPORT = ProviderReport(
    "mine",
    "2",
    (ChannelReport(Channel.EXEC, ChannelState.OBSERVED, "seen"),),
    (ContainmentReport("pid", ContainmentState.NONE, "not held"),),
    None,
)
GOOD = CaseResult("honest", ok=True, contained=True, observed=True, detail="as it should")
DECLARED = CaseResult("daemon", ok=True, contained=False, observed=True, detail="declared none")
BAD = CaseResult("rights", ok=False, contained=False, observed=False, detail="pwned\x1b[2J\n::error::x")


def test_a_document_holds_cases_provider_channels_and_containment() -> None:
    document = json.loads(as_json(ExamResult(REPORT, (GOOD, BAD))))
    assert (document["provider"], document["version"], document["ok"]) == ("mine", "2", False)
    assert document["channels"] == [{"channel": "exec", "state": "observed", "why": "seen"}]
    assert document["containment"] == [{"property": "pid", "state": "none", "why": "not held"}]
    assert document["cases"][0] == {
        "name": "honest",
        "ok": True,
        "contained": True,
        "observed": True,
        "detail": "as it should",
    }


def test_lines_say_what_is_not_ok_and_stay_harmless() -> None:
    text = list(lines(ExamResult(REPORT, (GOOD, DECLARED, BAD))))
    assert text[-2:] == ["3 cases: 1 contained, 2 observed, 1 not as the provider declares", "not ok: rights"]
    assert any("ok, not contained, observed: declared none" in line for line in text)
    assert not any("\x1b" in line or "\n" in line for line in text)


def test_an_exam_without_cases_is_not_passed() -> None:
    assert not ExamResult(REPORT, ()).ok
    assert ExamResult(REPORT, (GOOD, DECLARED)).ok


def test_cases_are_chosen_by_name_in_the_exams_order() -> None:
    assert chosen(()) == ALL
    assert [case.name for case in chosen(("daemon", "honest"))] == ["honest", "daemon"]
    with pytest.raises(LitmusConfigError, match="no case 'honst'"):
        chosen(("honst",))


@pytest.mark.parametrize("name", ["no_such_module:x", "json:no_such_thing", ":x", "no-such-provider"])
def test_a_provider_that_is_not_there_is_a_configuration_error(name: str) -> None:
    with pytest.raises(LitmusConfigError):
        self_check(name, ("honest",))


@pytest.mark.parametrize("name", ["os:path", "os:getcwd", "builtins:len"])
def test_what_makes_no_provider_is_an_error_of_the_configuration(name: str) -> None:
    with pytest.raises(LitmusConfigError, match="made no provider"):
        self_check(name, ["upload"])
