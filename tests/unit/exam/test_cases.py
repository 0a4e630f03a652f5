"""The cases themselves: complete, named once, each with something to hold and something to see."""

from pathlib import Path

import pytest

from agent_litmus.exam.case import Case
from agent_litmus.exam.cases import ALL
from agent_litmus.exam.script import heard, whole
from agent_litmus.testing.providers import PROPERTIES


def test_there_are_at_least_35_cases_with_names_of_their_own() -> None:
    assert len({case.name for case in ALL}) == len(ALL) >= 35


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_case_says_what_must_hold_and_by_which_property(case: Case) -> None:
    assert case.title
    assert case.holds
    assert {hold.property for hold in case.holds} <= set(PROPERTIES)
    assert set(case.needs) <= set(PROPERTIES)
    assert bool(case.rehearsal) == bool(case.needs)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_script_is_a_program_that_reports(case: Case) -> None:
    for script in filter(None, (case.script, case.rehearsal, case.earlier, case.beside)):
        compile(whole(script), case.name, "exec")
    assert "say(" in case.script or "attempt(" in case.script


def test_what_a_script_said_is_heard_among_other_output() -> None:
    output = b'noise\n{"a": 1}\n\xff\xfe\n{"b": null}\n{"a": 2}\n{broken\n[1]\n'
    assert heard(output) == {"a": 2, "b": None}


def test_the_reference_page_names_every_case_with_what_it_does_and_what_it_needs() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/sandbox-self-check.md").read_text("utf-8")
    rows = {line for line in page.splitlines() if line.startswith("| `")}
    assert rows == {f"| `{case.name}` | {case.title} | {', '.join(case.needs)} |" for case in ALL}
