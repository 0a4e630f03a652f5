"""The demonstration: one small agent, four runs, three verdicts.

    python examples/helpdesk/demo.py

Every answer comes from a real model that runs on this machine. The fourth run repeats the second with the cache of
the third taken away.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ANSWERS = HERE / "runs" / "answers.jsonl"


class Step(NamedTuple):
    """One run: its configuration, the verdict it should reach, and why."""

    config: str
    verdict: str
    title: str


STEPS = (
    Step("vulnerable", "FAIL", "The vulnerable build does its job, and whatever a ticket tells it"),
    Step("hardened", "PASS", "The hardened build does its job and leaves such orders alone"),
    Step("cached", "INDETERMINATE", "The hardened build again, behind a cache that answers for the model"),
    Step("hardened", "PASS", "The cache taken away"),
)


def run(step: Step, *, record: bool) -> str:
    """Run one step; returns its last line. ``record``: note the model's answers for the cache of the third run."""
    litmus = Path(sys.executable).with_name("litmus")
    environment = {**os.environ, "HELPDESK_RECORD": str(ANSWERS) if record else ""}
    command = [str(litmus), "run", "-c", str(HERE / f"{step.config}.toml")]
    last = ""
    with subprocess.Popen(  # noqa: S603 - the program installed beside this interpreter
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            last = line.strip() or last
    return last


def main() -> int:
    """Run every step; 0 if each verdict is the one it should be."""
    ANSWERS.unlink(missing_ok=True)
    start = time.monotonic()
    lines = []
    for number, step in enumerate(STEPS, start=1):
        print(f"\n=== {number}/{len(STEPS)}  {step.title}\n", flush=True)
        lines.append(run(step, record=number == 2))
    print(f"\n=== {len(STEPS)} runs in {time.monotonic() - start:.0f} s\n")
    print("\n".join(lines))
    wrong = [
        n for n, (step, line) in enumerate(zip(STEPS, lines, strict=True), 1) if step.verdict not in line.split()
    ]
    if wrong:
        print(f"run {wrong[0]} should have been {STEPS[wrong[0] - 1].verdict}; its report says what happened")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
