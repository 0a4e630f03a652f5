import subprocess
import sys

SCRIPT = """
import resource
from agent_litmus.app.descriptors import raise_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}))
print(raise_limit())
"""


def _raised(hard: int) -> int:
    ran = subprocess.run([sys.executable, "-c", SCRIPT.format(hard=hard)], capture_output=True, check=True)
    return int(ran.stdout)


def test_the_soft_limit_rises_to_the_hard_one_and_no_further() -> None:
    assert _raised(700) == 700


def test_a_soft_limit_that_is_the_hard_one_stays() -> None:
    assert _raised(256) == 256
