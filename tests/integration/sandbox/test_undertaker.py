"""Whatever kills the harness, nothing of it lives on."""

import os
import select
import signal
import subprocess
import sys

import pytest

from agent_litmus.sandbox.undertaker import Undertaker

pytestmark = pytest.mark.integration

_HARNESS = """
import subprocess, sys
from agent_litmus.sandbox.undertaker import Undertaker
mark = sys.argv[1]
undertaker = Undertaker(mark)
waits = [sys.executable, "-ISc", "import signal; signal.pause()"]
left = [subprocess.Popen([*waits, where]) for where in (f"/x/{mark}/y", "/x/other/y")]
print(*(process.pid for process in left), flush=True)
sys.stdin.read()
undertaker.dismiss()
"""


def ended(pidfd: int, milliseconds: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(milliseconds))


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "ends"])
def test_what_a_killed_harness_leaves_is_killed_and_nothing_else(killed: bool) -> None:
    mark = os.urandom(16).hex()
    harness = subprocess.Popen(
        [sys.executable, "-c", _HARNESS, mark], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert harness.stdin is not None
    assert harness.stdout is not None
    pids = [int(word) for word in harness.stdout.readline().split()]
    marked, other = (os.pidfd_open(pid) for pid in pids)
    try:
        if killed:
            harness.kill()
        harness.stdin.close()
        harness.wait()
        assert ended(marked, 60_000 if killed else 0) == killed
        assert not ended(other, 0)
    finally:
        harness.stdout.close()
        for fd in (marked, other):
            if not ended(fd, 0):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
            os.close(fd)


def test_a_dismissed_undertaker_is_gone_and_one_that_was_killed_is_no_error() -> None:
    undertaker = Undertaker("no such mark")
    undertaker.dismiss()
    undertaker.dismiss()
    other = Undertaker("no such mark")
    other._process.kill()
    other._process.wait()
    other.dismiss()
