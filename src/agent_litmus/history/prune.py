"""Which runs are to go."""

from collections import Counter
from collections.abc import Collection, Iterable

from agent_litmus.records.history import PriorRun

_DAY = 86_400.0


def doomed(
    runs: Iterable[PriorRun], *, now: float, keep: int | None, older_than: float | None, spared: Collection[str]
) -> tuple[PriorRun, ...]:
    """The runs to remove: those that every given condition gives up; without a condition none.

    Args:
        runs: Newest first.
        now: Seconds since the epoch.
        keep: Runs of each suite that stay, the newest; at least 0.
        older_than: Age in days, at least 0, up to which runs stay.
        spared: Ids of runs that stay in any case.
    """
    if keep is None and older_than is None:
        return ()
    seen: Counter[str] = Counter()
    found: list[PriorRun] = []
    for run in runs:
        seen[run.suite_digest] += 1
        beyond = keep is None or seen[run.suite_digest] > keep
        old = older_than is None or now - run.at > older_than * _DAY
        if beyond and old and run.run_id not in spared:
            found.append(run)
    return tuple(found)
