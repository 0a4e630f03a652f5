"""Where a run file stands: ``<pipeline>/<suite>/<user_task>/<attack>/<injection_task|none>.json``."""

import re
from dataclasses import dataclass
from typing import Final

NO_INJECTION: Final = "none"
PUBLISHED_SET: Final = "v1.1.2"
"""The set of tasks behind the published table: 97 user tasks, 629 pairs with injected tasks."""
LATER_SET: Final = "later"

_RUN_NAME = re.compile(r"none|injection_task_\d+")
_TASK = re.compile(r"(user|injection)_task_(\d+)")
_LATER = {"workspace": range(6, 14)}  # injected tasks that v1.2 added
_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Place:
    """What a run file's path says it is."""

    pipeline: str
    suite: str
    user_task: str
    attack: str
    injection: str
    """``injection_task_*``, or ``none`` for a clean run."""

    @property
    def clean(self) -> bool:
        """Whether nothing was injected."""
        return self.injection == NO_INJECTION

    @property
    def is_episode(self) -> bool:
        """Whether it is a user's task; an injected task run alone belongs to neither axis."""
        return self.user_task.startswith("user_task_")

    @property
    def subset(self) -> str:
        """The set of tasks it belongs to."""
        task = _TASK.fullmatch(self.injection)
        return LATER_SET if task and int(task[2]) in _LATER.get(self.suite, ()) else PUBLISHED_SET


def is_run_name(name: str) -> bool:
    """Whether a file's name is that of a run; anything else beside the runs is no business of ours."""
    return name.endswith(".json") and _RUN_NAME.fullmatch(name.removesuffix(".json")) is not None


def place_of(parts: tuple[str, ...]) -> Place:
    """Read a path.

    Args:
        parts: The path's parts, from wherever it starts down to the file's name.

    Raises:
        ValueError: It does not end in the five levels of the layout.
    """
    levels = parts[-_DEPTH:]
    if len(levels) < _DEPTH:
        raise ValueError("$: not in the layout pipeline/suite/user_task/attack/injection_task.json")
    pipeline, suite, user_task, attack, name = levels
    place = Place(pipeline, suite, user_task, attack, name.removesuffix(".json"))
    if _TASK.fullmatch(place.user_task) is None:
        raise ValueError(f"$: the folder {place.user_task[:40]!r} is neither user_task_N nor injection_task_N")
    if place.clean != (place.attack == NO_INJECTION):
        raise ValueError("$: only none/none.json is a clean run")
    return place
