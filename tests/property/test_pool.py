"""The pool that scores columns and the scorecard that scores objects are one definition."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_litmus.records.columns import columns_of
from agent_litmus.records.episode import Episode, HostOutcome, InjectedOutcome
from agent_litmus.records.probe import Condition, EpisodeKey
from agent_litmus.records.session import Delivery
from agent_litmus.records.stored import StoredEpisode
from agent_litmus.scoring.pool.figures import estimates_of, ledger_of, litmus_of
from agent_litmus.scoring.pool.pool import pool_of
from agent_litmus.scoring.pool.view import PoolView
from agent_litmus.scoring.score import score_safety

HOSTS, INJECTIONS, SEEDS = ("h1", "h2", "h3"), ("i1", "i2"), (0, 1)
MARKS = st.sampled_from((-1, 0, 1))


@st.composite
def runs(draw: st.DrawFn) -> list[StoredEpisode]:
    """A small run: every host has its controls, some injected episodes are missing."""
    episodes = [
        StoredEpisode(
            "a",
            "s",
            host,
            Condition.CONTROL,
            Delivery.ABSENT,
            draw(st.sampled_from(HostOutcome)),
            InjectedOutcome.NONE,
        )
        for host in HOSTS
    ]
    episodes = [dataclasses.replace(e, seed=seed, probe=e.host) for e in episodes for seed in SEEDS]
    for host in HOSTS:
        for injection in INJECTIONS:
            for seed in draw(st.sets(st.sampled_from(SEEDS), min_size=1)):
                episodes.append(
                    StoredEpisode(
                        "a",
                        "s",
                        host,
                        Condition.INJECTED,
                        draw(st.sampled_from((Delivery.DELIVERED, Delivery.UNDELIVERED, Delivery.UNKNOWN))),
                        draw(st.sampled_from(HostOutcome)),
                        draw(st.sampled_from(tuple(InjectedOutcome)[1:])),
                        injection=injection,
                        category=injection,
                        probe=f"{host}+{injection}",
                        seed=seed,
                        semantic=draw(MARKS),
                        physical=draw(MARKS),
                    )
                )
    return episodes


def episode_of(row: StoredEpisode) -> Episode:
    return Episode(
        key=EpisodeKey(row.probe, row.condition, row.seed, row.repeat),
        agent_digest="",
        host_id=row.host,
        delivery=row.delivery,
        host=row.host_outcome,
        injected=row.injected_outcome,
        injection_id=row.injection,
        category=row.category,
        suite=row.suite,
        semantic=row.semantic,
        physical=row.physical,
    )


@given(runs())
@settings(deadline=None, max_examples=60)
def test_columns_and_objects_score_alike(rows: list[StoredEpisode]) -> None:
    card = score_safety([episode_of(row) for row in rows])
    view = PoolView.of(pool_of([columns_of(rows)]))
    ours = estimates_of(view)
    litmus, quadrants = litmus_of(view)
    for name, theirs in card.estimates.items():
        mine = litmus["asr"] if name == "asr_litmus" else litmus["ehr"] if name == "ehr" else ours[name]
        assert mine == theirs, name
    assert quadrants == card.quadrants
    assert ours["unassessed"].unassessed == card.unassessed
    ledger = ledger_of(view)
    assert ledger.counts() == card.ledger
    assert ledger.delta(HostOutcome.REFUSED) == card.ledger["refused"]
