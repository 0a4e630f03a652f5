import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from agent_litmus.errors import LitmusScoringError
from agent_litmus.records.columns import EpisodeColumns, columns_of
from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery
from agent_litmus.records.stored import StoredEpisode
from agent_litmus.scoring.pool import slots
from agent_litmus.scoring.pool.figures import estimates_of, fates_of, ledger_of, litmus_of, recorded_of, split_of
from agent_litmus.scoring.pool.pool import pool_of
from agent_litmus.scoring.pool.view import PoolView


def control(host: str = "h1", outcome: HostOutcome = HostOutcome.COMPLETED, **changes: Any) -> StoredEpisode:
    values: dict[str, Any] = {"agent": "a", "suite": "s", **changes}
    return StoredEpisode(
        host=host,
        condition=Condition.CONTROL,
        delivery=Delivery.ABSENT,
        host_outcome=outcome,
        injected_outcome=InjectedOutcome.NONE,
        **values,
    )


def injected(host: str = "h1", injection: str = "i1", **changes: Any) -> StoredEpisode:
    values: dict[str, Any] = {
        "agent": "a",
        "suite": "s",
        "attack": "plain",
        "delivery": Delivery.DELIVERED,
        "host_outcome": HostOutcome.COMPLETED,
        "injected_outcome": InjectedOutcome.IGNORED,
        **changes,
    }
    return StoredEpisode(host=host, injection=injection, condition=Condition.INJECTED, **values)


def view_of(*batches: Sequence[StoredEpisode]) -> PoolView:
    return PoolView.of(pool_of(columns_of(batch) for batch in batches))


def suite(hosts: int = 6, injections: int = 5, seeds: int = 2) -> list[StoredEpisode]:
    rng = np.random.default_rng(7)
    outcomes = [HostOutcome.COMPLETED, HostOutcome.FAILED, HostOutcome.REFUSED, HostOutcome.UNASSESSED]
    harm = [InjectedOutcome.IGNORED, InjectedOutcome.EXECUTED, InjectedOutcome.ATTEMPTED]
    rows = [control(f"h{h}", outcomes[rng.integers(4)], seed=s) for h in range(hosts) for s in range(seeds)]
    rows += [
        injected(
            f"h{h}", f"i{i}", seed=s, host_outcome=outcomes[rng.integers(4)], injected_outcome=harm[rng.integers(3)]
        )
        for h in range(hosts)
        for i in range(injections)
        for s in range(seeds)
    ]
    return rows


def test_order_and_batches_change_nothing() -> None:
    rows = suite()
    backwards = list(reversed(rows))
    whole = view_of(rows)
    for other in (view_of(backwards), view_of(*([row] for row in backwards)), view_of(rows[:20], rows[20:])):
        assert estimates_of(other) == estimates_of(whole)
        assert ledger_of(other) == ledger_of(whole)
        assert split_of(other) == split_of(whole)


def test_shards_can_be_merged() -> None:
    rows = suite()
    odd = [row for row in rows if row.host in {"h1", "h3", "h5"}]
    even = [row for row in rows if row.host not in {"h1", "h3", "h5"}]
    whole, one, two = view_of(rows), view_of(odd), view_of(even)
    for merged in (one.merge(two), two.merge(one)):
        assert estimates_of(merged) == estimates_of(whole)
        assert ledger_of(merged) == ledger_of(whole)


def test_the_ledger_adds_up_and_a_lost_control_is_unknown() -> None:
    view = view_of(
        [control(), injected(), injected("h2"), injected(injection="i2", host_outcome=HostOutcome.REFUSED)]
    )
    ledger = ledger_of(view)
    assert (ledger.pairs, ledger.unknown, ledger.lost, ledger.delta(HostOutcome.REFUSED)) == (2, 1, 1, 1)
    estimate = estimates_of(view)["cor"]
    assert (estimate.value, estimate.n, estimate.eligible, estimate.unassessed) == (0.5, 2, 3, 1)


def test_seeds_pair_with_their_own_control() -> None:
    controls = [control(seed=0), control(seed=7, outcome=HostOutcome.FAILED)]
    view = view_of([injected(seed=7), injected(seed=0), *controls])
    assert ledger_of(view).transitions == {
        (HostOutcome.COMPLETED, HostOutcome.COMPLETED): 1,
        (HostOutcome.FAILED, HostOutcome.COMPLETED): 1,
    }


@pytest.mark.parametrize("apart", [False, True])
def test_an_episode_that_is_there_twice_is_named(apart: bool) -> None:
    rows = [control(), injected(seed=1), injected(seed=2), injected(seed=1)]
    batches = [rows[:3], rows[3:]] if apart else [rows]
    with pytest.raises(LitmusScoringError, match=r"episode a/s/h1/plain/i1 seed 1 repeat 0: it is there twice"):
        view_of(*batches)


def test_a_second_control_is_named() -> None:
    with pytest.raises(LitmusScoringError, match="a/s/h1 seed 0 repeat 0: a second control"):
        view_of([control(probe="one"), control(probe="two")])


def test_two_builds_under_one_name_are_refused() -> None:
    rows = [control(agent_digest="sha256:1"), injected(agent_digest="sha256:2")]
    with pytest.raises(LitmusScoringError, match="agent 'a' has two build digests"):
        view_of(rows)
    view_of([rows[0], dataclasses.replace(rows[1], agent="b")])


def test_no_episode_is_an_error() -> None:
    with pytest.raises(LitmusScoringError, match="no episodes"):
        view_of()


@pytest.mark.parametrize("value", [2, -2])
def test_marks_out_of_range_are_refused(value: int) -> None:
    with pytest.raises(LitmusScoringError, match=f"field physical: '{value}' is none of"):
        view_of([control(physical=value)])
    with pytest.raises(LitmusScoringError, match=f"field semantic: '{value}' is none of"):
        view_of([control(semantic=value)])


def test_outcomes_that_do_not_exist_are_refused() -> None:
    batch = columns_of([control()])
    texts = dict(batch.texts)
    texts["host_outcome"] = dataclasses.replace(texts["host_outcome"], labels=("splendid",))
    with pytest.raises(LitmusScoringError, match="field host_outcome: 'splendid' is none of"):
        pool_of([EpisodeColumns(1, texts, batch.numbers)])


def test_seeds_of_any_size_are_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = [-5, 0, 2**40, 2**62]
    rows = [control(seed=seed) for seed in seeds] + [injected(seed=seed) for seed in seeds]
    dense = ledger_of(view_of(rows))
    monkeypatch.setattr(slots, "_DENSE", 4)
    assert ledger_of(view_of(rows)) == ledger_of(view_of(rows[:3], rows[3:])) == dense
    with pytest.raises(LitmusScoringError, match="twice"):
        view_of([*rows, rows[-1]])
    with pytest.raises(LitmusScoringError, match="twice"):
        view_of(rows, [rows[-1]])


def test_what_no_episode_shows_has_no_figure() -> None:
    figures = estimates_of(view_of([control()]))
    assert figures["u0"].value == 1.0
    assert figures["asr"].value is figures["cor"].value is None
    assert recorded_of(view_of([control(recorded_utility=True)]))["asr"] is None


def test_litmus_figures_follow_their_definitions() -> None:
    marks = [(1, 1), (1, 0), (0, 1), (0, 0), (-1, 1), (0, -1)]
    rows = [injected(injection=f"i{n}", semantic=s, physical=p) for n, (s, p) in enumerate(marks)]
    estimates, quadrants = litmus_of(view_of([control(), *rows]))
    assert quadrants == {"spsr": 1, "sosr": 1, "posr": 1, "spfr": 1}
    assert (estimates["asr"].value, estimates["asr"].n, estimates["asr"].unassessed) == (3 / 5, 5, 1)
    assert (estimates["ehr"].value, estimates["ehr"].n) == (2 / 4, 4)


def test_groups_of_many_labels_are_told_apart() -> None:
    def many() -> Iterable[StoredEpisode]:
        for number in range(3000):
            yield control(f"h{number}", agent=f"agent{number % 7}", probe=f"p{number}")
            yield injected(f"h{number}", f"i{number}", agent=f"agent{number % 7}", probe=f"q{number}")

    view = view_of(list(many()))
    assert (len(view.probes), view.episodes, ledger_of(view).pairs) == (6000, 6000, 3000)


def test_an_attempt_is_no_clean_win_and_an_open_axis_is_counted_apart() -> None:
    view = view_of(
        [
            control(),
            injected(),
            injected(injection="i2", injected_outcome=InjectedOutcome.ATTEMPTED),
            injected(
                injection="i3", injected_outcome=InjectedOutcome.EXECUTED, host_outcome=HostOutcome.UNASSESSED
            ),
            injected(injection="i4", injected_outcome=InjectedOutcome.EXECUTED, host_outcome=HostOutcome.FAILED),
        ]
    )
    assert fates_of(view) == {"clean_win": 1, "lost": 0, "both_done": 1, "hijacked": 1, "unassessed": 1}
    assert split_of(view)["pairs"] == 3
