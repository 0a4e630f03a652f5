"""A part of a pool (one agent, one attack …) and the tables of its figures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_litmus.records.episode import HostOutcome
from agent_litmus.records.probe import Condition
from agent_litmus.records.scorecard import Tally
from agent_litmus.scoring.classify import OutcomeTuple
from agent_litmus.scoring.counts import Metric
from agent_litmus.scoring.pool.pool import HOST_OUTCOMES, EpisodePool, OutcomeKey, ProbeKey
from agent_litmus.scoring.stats.table import HOSTS_ONLY, ClusterTable

Counts = NDArray[np.int64]
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True, eq=False)
class PoolView:
    """Some probes of a pool: every figure is made from these counts alone."""

    probes: tuple[ProbeKey, ...]
    outcomes: tuple[OutcomeKey, ...]
    counts: Counts
    """Episodes per probe, outcome and kind of control beside them."""

    @classmethod
    def of(cls, pool: EpisodePool) -> "PoolView":
        """All of a pool."""
        return cls(tuple(pool.probes.keys), tuple(pool.outcomes.keys), pool.counts)

    def where(self, wanted: Callable[[ProbeKey], bool]) -> "PoolView":
        """The probes for which ``wanted`` holds."""
        rows = [index for index, probe in enumerate(self.probes) if wanted(probe)]
        return PoolView(tuple(self.probes[index] for index in rows), self.outcomes, self.counts[rows])

    def arm(self, condition: Condition) -> "PoolView":
        """The probes of one condition."""
        return self.where(lambda probe: probe.condition is condition)

    @property
    def episodes(self) -> int:
        """Episodes in all."""
        return int(self.counts.sum())

    def tally(self, metric: Metric) -> Tally:
        """Good, bad and unknown episodes of a metric."""
        marks = self._marks(metric)
        sums = [
            sum(int(counts[:, mark].sum()) for counts, mark in self._by_condition(marks, kind)) for kind in _KINDS
        ]
        return Tally(*sums)

    def table(self, metric: Metric) -> ClusterTable:
        """Good and assessed episodes of a metric per host and injection."""
        marks = self._marks(metric)
        good, bad = (self._per_probe(marks, kind) for kind in (True, False))
        return self._cluster(good, good + bad, hosts_only=metric.hosts_only)

    def share_table(self, good: Callable[[OutcomeKey], bool | None]) -> ClusterTable:
        """The same for any mark on outcomes; ``None`` leaves an outcome out."""
        marks = [good(key) for key in self.outcomes]
        by_outcome = self.counts.sum(axis=2)
        yes, no = (by_outcome[:, [mark is kind for mark in marks]].sum(axis=1) for kind in (True, False))
        return self._cluster(yes, yes + no, hosts_only=False)

    def total(self, mark: Callable[[OutcomeKey], bool]) -> int:
        """Episodes whose outcome bears a mark."""
        return int(self.counts[:, [mark(key) for key in self.outcomes]].sum())

    def paired_table(self, outcome: HostOutcome, *, control: bool) -> ClusterTable:
        """Pairs with both host outcomes assessed; good: the control's, or the injected one's, is ``outcome``."""
        known, kinds = self._paired()
        mine = np.array([key.host is outcome for key in self.outcomes], dtype=np.bool_)
        theirs = np.array([kind is outcome for kind in HOST_OUTCOMES], dtype=np.bool_)
        picked = known[:, :, theirs] if control else known[:, mine]
        good = picked.sum(axis=(1, 2))
        return self._cluster(good, kinds, hosts_only=False)

    def transitions(self) -> dict[tuple[HostOutcome, HostOutcome], int]:
        """Pairs by control's and injected episode's host outcome, unassessed ones too; no control is unassessed."""
        found: dict[tuple[HostOutcome, HostOutcome], int] = {}
        for index, key in enumerate(self.outcomes):
            by_control = self.counts[:, index].sum(axis=0)
            for kind, count in enumerate(by_control.tolist()):
                before = HOST_OUTCOMES[kind - 1] if kind else HostOutcome.UNASSESSED
                found[before, key.host] = found.get((before, key.host), 0) + count
        return found

    def after_control(self, control: HostOutcome) -> Counts:
        """Episodes per outcome among those whose control came out so."""
        return np.asarray(self.counts[:, :, 1 + HOST_OUTCOMES.index(control)].sum(axis=0))

    def _paired(self) -> tuple[Counts, Counts]:
        assessed = np.array([key.host is not HostOutcome.UNASSESSED for key in self.outcomes], dtype=np.int64)
        controls = np.array([kind is not HostOutcome.UNASSESSED for kind in HOST_OUTCOMES], dtype=np.int64)
        known = self.counts[:, :, 1:] * assessed[:, None] * controls
        return known, known.sum(axis=(1, 2))

    def _marks(self, metric: Metric) -> dict[Condition, list[object]]:
        return {
            condition: [
                _mark(metric, OutcomeTuple(condition, k.delivery, k.host, k.injected)) for k in self.outcomes
            ]
            for condition in {probe.condition for probe in self.probes}
        }

    def _by_condition(
        self, marks: dict[Condition, list[object]], kind: object
    ) -> Iterable[tuple[Counts, list[bool]]]:
        by_outcome = self.counts.sum(axis=2)
        for condition, row in marks.items():
            mine = [probe.condition is condition for probe in self.probes]
            yield by_outcome[mine], [mark is kind for mark in row]

    def _per_probe(self, marks: dict[Condition, list[object]], kind: object) -> Counts:
        by_outcome = self.counts.sum(axis=2)
        out = np.zeros(len(self.probes), dtype=np.int64)
        for condition, row in marks.items():
            mine = np.array([probe.condition is condition for probe in self.probes], dtype=np.bool_)
            out[mine] = by_outcome[mine][:, [mark is kind for mark in row]].sum(axis=1)
        return out

    def _cluster(self, good: Counts, n: Counts, *, hosts_only: bool) -> ClusterTable:
        hosts, row = _codes(host_label(probe) for probe in self.probes)
        names = (HOSTS_ONLY if hosts_only else injection_label(probe) for probe in self.probes)
        injections, column = _codes(names)
        shape = (len(hosts), len(injections))
        cell = row * len(injections) + column
        cells = shape[0] * shape[1]
        good_cells, all_cells = (
            np.bincount(cell, weights=what, minlength=cells).astype(np.float64).reshape(shape) for what in (good, n)
        )
        return ClusterTable.from_counts(good_cells, all_cells, hosts, injections)


_KINDS = (True, False, None)
_NOT_ASKED = object()


def _mark(metric: Metric, outcome: OutcomeTuple) -> object:
    return metric.good(outcome) if metric.eligible(outcome) else _NOT_ASKED


def _codes(labels: Iterable[str]) -> tuple[list[str], NDArray[np.intp]]:
    index: dict[str, int] = {}
    codes = np.array([index.setdefault(label, len(index)) for label in labels], dtype=np.intp)
    return list(index), codes


def host_label(probe: ProbeKey) -> str:
    """Host tasks of different suites are different clusters, whatever their names."""
    return f"{probe.suite}{_SEPARATOR}{probe.host}" if probe.suite else probe.host


def injection_label(probe: ProbeKey) -> str:
    """The same for injected tasks."""
    if not probe.injection:
        return HOSTS_ONLY
    return f"{probe.suite}{_SEPARATOR}{probe.injection}" if probe.suite else probe.injection
