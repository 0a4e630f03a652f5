"""One of several processes at one history, started by the tests. Arguments: URL, number, runs."""

import sys

from tests.unit.history.runs import SUITE, a_drill, a_run

from agent_litmus.history.place import place_of
from agent_litmus.history.store import History


def main() -> None:
    """Begin the history if it is the first, then record, read and prune; print what was added."""
    url, number, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    history = History(place_of(url), ("main",))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()  # all go at once
    own = sum(history.record(a_run(f"w{number}-{n}", at=float(n))) for n in range(runs))
    shared = history.record(a_run("shared", at=100.0))
    history.record_drill(a_drill(name=f"w{number}"))
    history.prune(now=0.0, keep=10_000)
    assert history.facts(SUITE, agent_digest=a_run().agent_digest).runs
    sys.stdout.write(f"{own} {int(shared)}\n")


main()
