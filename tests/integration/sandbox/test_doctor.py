"""``litmus doctor`` on this host."""

import json
import os
import subprocess
import sys

import pytest

from agent_litmus.records.effect import Channel

pytestmark = pytest.mark.integration


def doctor(*arguments: str) -> str:
    argv = [sys.executable, "-m", "agent_litmus", "doctor", *arguments]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def test_every_channel_and_property_of_the_chosen_provider_is_told(namespaces: str) -> None:
    found = json.loads(doctor("--json"))
    assert {channel["channel"] for channel in found["channels"]} == {*Channel}
    assert found["host"]["root"] == (os.geteuid() == 0)
    assert found["provider"] == ("process" if namespaces else "bubblewrap")
    assert bool(found["reason"]) == bool(namespaces)
    assert {held["state"] for held in found["containment"]} <= {"enforced", "best_effort", "none"}
    assert all(advice["command"] for advice in found["advice"])
    if namespaces:
        assert [advice for advice in found["advice"] if advice["blocking"]]


def test_people_are_told_the_same(namespaces: str) -> None:
    text = doctor()
    advice = json.loads(doctor("--json"))["advice"]
    assert all(each["command"] in text and each["problem"] in text for each in advice)
    assert ("nothing is missing" in text) == (not advice)
    assert ("a trial session under bubblewrap failed" in text) == bool(namespaces)


def test_the_degraded_provider_says_that_it_can_never_pass() -> None:
    assert "can never PASS" in doctor("--provider", "process")
