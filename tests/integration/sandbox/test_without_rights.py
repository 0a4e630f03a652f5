"""A harness without rights, tried out also where the tests themselves are root."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agent_litmus

pytestmark = pytest.mark.integration

_NOBODY = 65534
_ENTER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def checked(result):
    if result < 0: sys.exit(f"no private mounts: {os.strerror(ctypes.get_errno())}")
def bind(fd, target):
    os.makedirs(target, exist_ok=True)
    checked(libc.mount(f"/proc/self/fd/{fd}".encode(), target.encode(), None, ctypes.c_ulong(4096 | 16384), None))
checked(libc.unshare(0x20000))
checked(libc.mount(None, b"/", None, ctypes.c_ulong(16384 | (1 << 18)), None))
held = {place: os.open(place, os.O_PATH) for place in sys.argv[1].split(":")}
for top in sorted({"/" + place.split("/")[1] for place in held}):
    if not os.stat(top).st_mode & 1:  # a home nobody else may enter: show what is needed of it alone
        checked(libc.mount(b"tmpfs", top.encode(), b"tmpfs", 0, b"mode=755"))
        for place, fd in held.items():
            if place.startswith(top + "/"): bind(fd, place)
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
os.chdir("/")
os.execv(sys.argv[3], sys.argv[3:])
"""


def run_without_rights(*arguments: str) -> str:
    """Standard output of ``python -m agent_litmus`` as a user without rights."""
    argv = [sys.executable, "-m", "agent_litmus", *arguments]
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    if os.geteuid() == 0:
        places = {sys.prefix, sys.base_prefix, str(Path(agent_litmus.__file__).parents[1])}
        argv = [sys.executable, "-c", _ENTER, ":".join(sorted(places)), str(_NOBODY), *argv]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    if "no private mounts" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_harness_without_rights_contains_as_well_where_root_does(namespaces: str) -> None:
    found = json.loads(run_without_rights("doctor", "--json"))
    assert found["host"]["root"] is False
    if found["host"]["trial"]:
        assert namespaces or [advice["name"] for advice in found["advice"] if advice["blocking"]], found["host"]
        return
    assert found["provider"] == "bubblewrap"
    states = {held["property"]: held["state"] for held in found["containment"]}
    assert {name for name, state in states.items() if state != "enforced"} <= {"memory", "disk"}


@pytest.mark.slow
def test_a_harness_without_rights_passes_the_whole_exam(namespaces: str) -> None:
    if namespaces:
        pytest.skip(f"bubblewrap does not work here: {namespaces}")
    found = json.loads(run_without_rights("sandbox", "self-check", "--json"))
    assert [case for case in found["cases"] if not case["ok"]] == []
    assert len(found["cases"]) >= 35
