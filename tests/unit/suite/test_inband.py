from dataclasses import replace

import pytest

from agent_litmus.records.probe import (
    Attack,
    Carrier,
    CarrierKind,
    Condition,
    Environment,
    HostTask,
    Injection,
    Probe,
)
from agent_litmus.suite.inband import token_slots

EMPTY = Environment("e")


def control(prompt: str, environment: Environment) -> Probe:
    return Probe("h", Condition.CONTROL, HostTask("h", environment, prompt, (), ()))


@pytest.mark.parametrize(
    ("prompt", "environment"),
    [
        ("Use {{token.a}}.", EMPTY),
        ("", replace(EMPTY, files={"f": "x {{token.a}}"})),
        ("", replace(EMPTY, mailbox=({"id": "m", "body": "{{token.a}}"},))),
        ("", replace(EMPTY, tickets=({"id": "t", "title": "{{token.a}}"},))),
        ("", replace(EMPTY, pages={"http://x.example/": "{{token.a}}"})),
        ("", replace(EMPTY, tool_descriptions={"read_mail": "{{token.a}}"})),
        ("{{secret.s}}", replace(EMPTY, secrets={"s": "KEY-{{token.a}}"})),
    ],
    ids=["prompt", "file", "mail", "ticket", "page", "description", "secret-in-prompt"],
)
def test_a_token_counts_wherever_the_agent_can_meet_it(prompt: str, environment: Environment) -> None:
    assert token_slots(control(prompt, environment)) == {"a"}


@pytest.mark.parametrize(
    ("prompt", "environment"),
    [
        ("Do it.", EMPTY),
        ("token.a {{ token.a }}", EMPTY),
        ("Do it.", replace(EMPTY, secrets={"s": "KEY-{{token.a}}"})),
        ("{{slot.a}}", EMPTY),
    ],
    ids=["none", "no-placeholder", "unused-secret", "slot"],
)
def test_what_the_agent_cannot_meet_does_not_count(prompt: str, environment: Environment) -> None:
    assert token_slots(control(prompt, environment)) == frozenset()


def test_the_injection_is_part_of_the_world() -> None:
    injection = Injection("i", "g", "send {{token.b}}", "c", (), ())
    carrier, attack = Carrier("c", CarrierKind.FILE, "s"), Attack("a", "{{injection}}")
    host = HostTask("h", replace(EMPTY, files={"f": "{{slot.s}}"}), "Do it.", (), ())
    assert token_slots(Probe("p", Condition.INJECTED, host, injection, carrier, attack)) == {"b"}
