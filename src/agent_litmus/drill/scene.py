"""What faults are made from: the workbench, and earlier runs, recorded when they are first needed."""

import tempfile
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from agent_litmus.app.gate import GateRequest, gate_report
from agent_litmus.app.seams import Seams
from agent_litmus.drill.bench import Workbench
from agent_litmus.drill.builds import OtherBuild, helpers, honestly, other_build
from agent_litmus.drill.earlier import Earlier, record_earlier
from agent_litmus.formats.json_report import report_json
from agent_litmus.records.history import HistoryFacts
from agent_litmus.records.report import Report
from agent_litmus.records.verdict import VerdictKind


class Scene:
    """One configuration's drill ground.

    Args:
        bench: Where the runs are made.
    """

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    @cached_property
    def earlier(self) -> Earlier:
        """An earlier run of this very build."""
        return record_earlier(self.bench)

    @cached_property
    def other(self) -> OtherBuild:
        """Another build: every file changed by an empty line."""
        return other_build(self.bench.config, ())

    @cached_property
    def helper(self) -> OtherBuild:
        """Another build: one helper changed."""
        return other_build(self.bench.config, helpers(self.bench.config.agent)[:1])

    @cached_property
    def earlier_build(self) -> Earlier:
        """An earlier run of the other build."""
        return record_earlier(self.bench, Seams(prepare=honestly(self.bench, self.other)))

    @cached_property
    def has_helper(self) -> bool:
        """Whether the agent has a file besides those that its command names."""
        return bool(helpers(self.bench.config.agent))

    @property
    def has_model(self) -> bool:
        """Whether the configuration names a model upstream."""
        model = self.bench.config.agent.model
        return bool(model.base_url or model.serve)

    @cached_property
    def known(self) -> HistoryFacts:
        """The history that all runs here are judged with: an earlier run of either build.

        One of this build that failed is left out, because a FAIL is pooled with what comes after it.
        """
        runs = [run.prior() for run in (self.earlier_build, self.earlier)]
        kept = tuple(run for run in runs if run.verdict is not VerdictKind.FAIL)
        return HistoryFacts(kept or None, "" if kept else "the drill's earlier runs failed")

    def report(self, seams: Seams) -> Report:
        """The report of one run, judged with that history; nothing of it stays on disk."""
        known = self.known
        return self.bench.report(replace(seams, history=lambda _facts: known))

    def renewed(self) -> "Scene":
        """The same ground with the same builds, whose earlier runs are yet to be recorded."""
        scene = Scene(self.bench)
        scene.other, scene.helper = self.other, self.helper
        return scene

    def without_history(self) -> "Scene":
        """The same ground, where nothing of earlier runs is known."""
        return _Forgetful(self)

    def gate(self, report: Report) -> Report:
        """The report as `litmus gate` judges it against the current build."""
        with tempfile.TemporaryDirectory(prefix="litmus-drill-") as place:
            path = Path(place) / "report.json"
            path.write_bytes(report_json(report))
            return gate_report(GateRequest(path, self.bench.config)).report


class _Forgetful(Scene):
    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.bench)
        self.earlier = scene.earlier

    def report(self, seams: Seams) -> Report:
        """The report of one run, judged without a history."""
        return self.bench.report(seams)
