"""Writes docs/reference/sandbox.md from the providers' own reports; ``--check`` only compares."""

import sys
from collections.abc import Iterator
from pathlib import Path

from agent_litmus.records.effect import ContainmentReport, ProviderReport
from agent_litmus.sandbox import seccomp
from agent_litmus.sandbox.bubblewrap_report import bubblewrap_report
from agent_litmus.sandbox.process_report import process_report

PAGE = Path(__file__).parents[1] / "docs/reference/sandbox.md"
HEAD = """# Sandbox

Made from the program by `python scripts/sandbox_reference.py`; a test keeps it current. `litmus doctor` prints the
same for your host, what is missing on it, and the command that would change that; `--json` gives it to machines.

There are two providers. `bubblewrap` contains a session in namespaces and watches it from outside. `process` stands
in where namespaces are refused: it contains next to nothing, refuses real model keys and injections marked
`destructive` without `--unconfined`, and no run under it can pass. The choice is made once, at the start of a run,
by a session that is tried out; `[run] provider` forces it, and the report records it.

## What is observed

`observed`, `partial` or `not_observed`. A check that needs a channel which was not observed in a session is
unassessed, never met or passed by silence. At most 5,000 acts a channel are kept for a session; more make it
`partial`, with the number that was dropped. Every act has its time since the session's start on the monotonic
clock and, where a process is known, its number and its parent's. `attempted` and `executed` are told apart.

"""
MIDDLE = """
A canary is a file of a suite's environment that holds a `{{secret.x}}`. What it is noted by is the kernel's
notification, which says neither who read nor what.

## What is contained

`enforced`, `best_effort` or `none`. Two properties depend on the host.

"""
CALLS = """
Under root every session runs as a host user of its own, 61000 and its slot, and reaches interpreter and snapshot by
mounts in a namespace that only the harness's own starter sees. The agent's root directory holds nothing that is
writable without a limit; the host's `/run`, its sockets and its processes are not there.

After every session the snapshot and the workspace's template are compared with what they were at the start; the
finding `isolation` counts the sessions, and one difference fails it. A killed harness takes its sessions along.

## Refused calls

A call that is refused is noted on the channel `calls`, or `clock`, as attempted. An agent that makes a sandbox of
its own needs some of these: it fails, and the end of the session names the call. Turn the agent's own sandbox off.

"""


def page() -> str:
    """The whole page."""
    best, least = bubblewrap_report("", ""), process_report("")
    rows = [*_channels(best, least), MIDDLE, *_containment(best, least), CALLS, *_calls()]
    return HEAD + "\n".join(rows)


def _channels(best: ProviderReport, least: ProviderReport) -> Iterator[str]:
    yield "| channel | `bubblewrap` | `process` |\n|---|---|---|"
    for report in best.channels:
        other = least.channel(report.channel)
        yield f"| `{report.channel}` | {report.state}: {report.why} | {other.state}: {other.why} |"


def _containment(best: ProviderReport, least: ProviderReport) -> Iterator[str]:
    yield "| property | `bubblewrap` | `process` |\n|---|---|---|"
    poor = bubblewrap_report("", "", in_memory=False, no_group="no control group is delegated")
    fallback = {held.property: held for held in poor.containment}
    others = {held.property: held for held in least.containment}
    for held in best.containment:
        cell = _held(held)
        if fallback[held.property] != held:
            cell += f"; else {_held(fallback[held.property])}"
        yield f"| {held.property} | {cell} | {_held(others[held.property])} |"


def _held(held: ContainmentReport) -> str:
    return f"{held.state}: {held.why}"


def _calls() -> Iterator[str]:
    found: dict[int, list[str]] = {}
    for name, error in seccomp.refusals("x86_64").values():
        found.setdefault(error, []).append(name)
    for error, names in sorted(found.items()):
        yield f"- error {error}: {', '.join(f'`{name}`' for name in sorted(names))}"
    yield "- error 38 also for every call of a foreign ABI (32-bit, x32)"
    yield "- sockets other than Unix, IPv4, IPv6 and netlink ones cannot be made"


def main() -> None:
    """Write the page, or compare it."""
    text = page().rstrip() + "\n"
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
