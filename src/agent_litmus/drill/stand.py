"""A firing stand: the range's scenes of one process, kept and renewed, and one run of one cell."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from agent_litmus.app.seams import HONEST as NOTHING_BETWEEN
from agent_litmus.config import load_config
from agent_litmus.drill.around import Touch
from agent_litmus.drill.bench import Workbench
from agent_litmus.drill.campaign import shown
from agent_litmus.drill.cells import Cell
from agent_litmus.drill.faults import ALL
from agent_litmus.drill.outcome import HONEST
from agent_litmus.drill.range import make_range
from agent_litmus.drill.range.model import model_server
from agent_litmus.drill.scene import Scene
from agent_litmus.records.report import Report
from agent_litmus.sandbox.remove import discard

RENEWED_AFTER = 25
"""Runs after which a scene's earlier runs are recorded anew, so that a table does not hang on a few of them."""

Also = Callable[[Scene, Report], Mapping[str, Any]]
"""What else is noted of a run, given where it was made and its report."""


def nothing_else(_scene: Scene, _report: Report) -> Mapping[str, Any]:
    """No more than the outcome."""
    return {}


@dataclass(slots=True)
class _Used:
    scene: Scene
    runs: int = 0


class Stand:
    """Makes runs; use it as a context.

    Args:
        place: Directory of its own.
        session_jobs: Sessions a run holds at once.
    """

    def __init__(self, place: Path, session_jobs: int) -> None:
        self._place, self._jobs = place, session_jobs
        self._scenes: dict[tuple[str, int], _Used] = {}
        self._stack = ExitStack()
        self._url = ""

    def __enter__(self) -> Self:
        """Start the model."""
        self._url = self._stack.enter_context(model_server())
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it and remove what is left."""
        self._stack.close()
        discard(self._place)

    def run(self, cell: Cell, also: Also = nothing_else) -> dict[str, Any]:
        """One run of a cell, as a line of the outcomes, with what ``also`` notes of it."""
        scene = self._scene(cell)
        noted: dict[str, Any] = {}

        def kept(report: Report) -> Report:
            noted.update(also(scene, report))
            return report

        if cell.name == HONEST:
            run = shown(HONEST, lambda: kept(scene.report(NOTHING_BETWEEN)), None)
        else:
            fault = next(fault for fault in ALL if fault.name == cell.name)
            touch = Touch(fault.share)
            run = shown(cell.name, lambda: kept(fault.run(scene, touch)), touch)
        return {**asdict(cell), **asdict(run), "verdict": run.verdict.value, "fired": list(run.fired), **noted}

    def _scene(self, cell: Cell) -> Scene:
        key = (cell.kind, cell.size)
        used = self._scenes.get(key)
        if used is None or used.runs >= RENEWED_AFTER:
            used = self._scenes[key] = _Used(self._made(cell) if used is None else used.scene.renewed())
        used.runs += 1
        return used.scene

    def _made(self, cell: Cell) -> Scene:
        place = self._place / f"{cell.kind}-{cell.size}"
        made = make_range(place, cell.kind, cell.size, self._url if cell.kind == "model" else "")
        config = load_config(made.config)
        config = replace(config, run=replace(config.run, jobs=self._jobs))
        return Scene(Workbench(config, place / "work"))
