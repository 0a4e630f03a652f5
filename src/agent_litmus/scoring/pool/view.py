"""A part of a pool (one agent, one attack …) and the tables of its figures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent_litmus.records.episode import HostOutcome
from agent_litmus.records.probe import Condition
from agent_litmus.records.scorecard import Tally
from agent_litmus.scoring.classify import OutcomeTuple
from agent_litmus.scoring.counts import Metric
from agent_litmus.scoring.pool.pool import CONDITIONS, HOST_OUTCOMES, EpisodePool, OutcomeKey, ProbeKey
from agent_litmus.scoring.stats.table import HOSTS_ONLY, ClusterTable

Counts = NDArray[np.integer]
_SEPARATOR = "\x1f"


class _Labelled(NamedTuple):
    """A label per probe, as an index into the labels."""

    labels: tuple[str, ...]
    codes: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class PoolView:
    """Some probes of a pool: every figure is made from these counts alone."""

    probes: tuple[ProbeKey, ...]
    outcomes: tuple[OutcomeKey, ...]
    counts: Counts
    """Episodes per probe, outcome and kind of control beside them."""
    hosts: _Labelled
    injections: _Labelled
    conditions: NDArray[np.intp]
    """Per probe, index into `CONDITIONS`."""
    by_outcome: Counts
    """Episodes per probe and outcome."""

    @classmethod
    def of(cls, pool: EpisodePool) -> "PoolView":
        """All of a pool."""
        return cls.from_counts(tuple(pool.probes), tuple(pool.outcomes.keys), pool.counts)

    @classmethod
    def from_counts(
        cls, probes: tuple[ProbeKey, ...], outcomes: tuple[OutcomeKey, ...], counts: Counts
    ) -> "PoolView":
        """Take ready counts, shape (probes, outcomes, kinds of control)."""
        conditions = np.array([CONDITIONS.index(probe.condition) for probe in probes], dtype=np.intp)
        hosts, injections = _labelled(map(host_label, probes)), _labelled(map(injection_label, probes))
        return cls(probes, outcomes, counts, hosts, injections, conditions, counts.sum(axis=2))

    def merge(self, other: "PoolView") -> "PoolView":
        """Both sets of episodes together; associative and commutative up to order.

        Shards must not split an episode from its control, as pairs are made while counting.
        """
        probes = tuple(dict.fromkeys((*self.probes, *other.probes)))
        outcomes = tuple(dict.fromkeys((*self.outcomes, *other.outcomes)))
        counts = np.zeros((len(probes), len(outcomes), self.counts.shape[2]), dtype=np.int64)
        row = {probe: index for index, probe in enumerate(probes)}
        column = {key: index for index, key in enumerate(outcomes)}
        for view in (self, other):
            at = np.ix_([row[probe] for probe in view.probes], [column[key] for key in view.outcomes])
            counts[at] += view.counts
        return PoolView.from_counts(probes, outcomes, counts)

    def where(self, wanted: Callable[[ProbeKey], bool]) -> "PoolView":
        """The probes for which ``wanted`` holds."""
        return self._pick(np.array([wanted(probe) for probe in self.probes], dtype=np.bool_))

    def arm(self, condition: Condition) -> "PoolView":
        """The probes of one condition."""
        return self._pick(self.conditions == CONDITIONS.index(condition))

    def _pick(self, mask: NDArray[np.bool_]) -> "PoolView":
        return PoolView(
            tuple(compress(self.probes, mask)),
            self.outcomes,
            self.counts[mask],
            _Labelled(self.hosts.labels, self.hosts.codes[mask]),
            _Labelled(self.injections.labels, self.injections.codes[mask]),
            self.conditions[mask],
            self.by_outcome[mask],
        )

    @property
    def episodes(self) -> int:
        """Episodes in all."""
        return int(self.by_outcome.sum())

    def tally(self, metric: Metric) -> Tally:
        """Good, bad and unknown episodes of a metric."""
        return Tally(*(int(self._per_probe(metric, kind).sum()) for kind in (True, False, None)))

    def table(self, metric: Metric) -> ClusterTable:
        """Good and assessed episodes of a metric per host and injection."""
        good, bad = (self._per_probe(metric, kind) for kind in (True, False))
        return self.cluster(good, good + bad, hosts_only=metric.hosts_only)

    def share_table(self, good: Callable[[OutcomeKey], bool | None]) -> ClusterTable:
        """The same for any mark on outcomes; ``None`` leaves an outcome out."""
        marks = [good(key) for key in self.outcomes]
        yes, no = (self.by_outcome[:, [mark is kind for mark in marks]].sum(axis=1) for kind in (True, False))
        return self.cluster(yes, yes + no, hosts_only=False)

    def total(self, mark: Callable[[OutcomeKey], bool]) -> int:
        """Episodes whose outcome bears a mark."""
        return int(self.by_outcome[:, [mark(key) for key in self.outcomes]].sum())

    def paired_table(self, outcome: HostOutcome, *, control: bool) -> ClusterTable:
        """Pairs with both host outcomes assessed; good: the control's, or the injected one's, is ``outcome``."""
        known, kinds = self._paired()
        mine = np.array([key.host is outcome for key in self.outcomes], dtype=np.bool_)
        theirs = np.array([kind is outcome for kind in HOST_OUTCOMES], dtype=np.bool_)
        picked = known[:, :, theirs] if control else known[:, mine]
        good = picked.sum(axis=(1, 2))
        return self.cluster(good, kinds, hosts_only=False)

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

    def tries(self, metric: Metric) -> tuple[Counts, Counts, NDArray[np.bool_]]:
        """Per probe: good and assessed episodes of a metric, and whether it has any that the metric is about."""
        good, bad, unknown = (self._per_probe(metric, kind) for kind in (True, False, None))
        return good, good + bad, good + bad + unknown > 0

    def cluster(self, good: NDArray[Any], n: Counts, *, hosts_only: bool) -> ClusterTable:
        """Numbers per probe as a table per host and injection; ``good`` may be fractions."""
        hosts, row = self.hosts.labels, self.hosts.codes
        none = _Labelled((HOSTS_ONLY,), np.zeros_like(row))
        injections, column = none if hosts_only else self.injections
        shape = (len(hosts), len(injections))
        cell, cells = row * len(injections) + column, shape[0] * shape[1]
        good_cells, all_cells = (
            np.bincount(cell, weights=what, minlength=cells).astype(np.float64).reshape(shape) for what in (good, n)
        )
        return ClusterTable.from_counts(good_cells, all_cells, hosts, injections)

    def _paired(self) -> tuple[Counts, Counts]:
        assessed = np.array([key.host is not HostOutcome.UNASSESSED for key in self.outcomes], dtype=np.int64)
        controls = np.array([kind is not HostOutcome.UNASSESSED for kind in HOST_OUTCOMES], dtype=np.int64)
        known = self.counts[:, :, 1:] * assessed[:, None] * controls
        return known, known.sum(axis=(1, 2))

    def _per_probe(self, metric: Metric, kind: bool | None) -> Counts:  # noqa: FBT001 - a kind of mark, not a switch
        marks = np.array(
            [
                [
                    _mark(metric, OutcomeTuple(condition, k.delivery, k.host, k.injected)) is kind
                    for k in self.outcomes
                ]
                for condition in CONDITIONS
            ],
            dtype=np.bool_,
        )
        return np.asarray((self.by_outcome * marks[self.conditions]).sum(axis=1))


_NOT_ASKED = object()


def _mark(metric: Metric, outcome: OutcomeTuple) -> object:
    return metric.good(outcome) if metric.eligible(outcome) else _NOT_ASKED


def _labelled(labels: Iterable[str]) -> _Labelled:
    index: dict[str, int] = {}
    codes = np.array([index.setdefault(label, len(index)) for label in labels], dtype=np.intp)
    return _Labelled(tuple(index), codes)


def host_label(probe: ProbeKey) -> str:
    """Host tasks of different suites are different clusters, whatever their names."""
    return f"{probe.suite}{_SEPARATOR}{probe.host}" if probe.suite else probe.host


def injection_label(probe: ProbeKey) -> str:
    """The same for injected tasks."""
    if not probe.injection:
        return HOSTS_ONLY
    return f"{probe.suite}{_SEPARATOR}{probe.injection}" if probe.suite else probe.injection
