"""Laws that the statistics must keep for every input."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_litmus.records.episode import HostOutcome
from agent_litmus.scoring.stats.binomial import clopper_pearson, wilson
from agent_litmus.scoring.stats.difference import clustered_difference
from agent_litmus.scoring.stats.evalues import RateMartingale
from agent_litmus.scoring.stats.holm import holm
from agent_litmus.scoring.stats.ledger import LOSSES, ContaminationLedger
from agent_litmus.scoring.stats.passk import pass_hat_k
from agent_litmus.scoring.stats.table import ClusterTable, merge_all
from agent_litmus.scoring.stats.twoway import clustered_share

Episode = tuple[int, str, str]
EPISODES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from("abcdefg"), st.sampled_from("uvwxyz")), max_size=60
)
OUTCOMES = st.sampled_from(list(HostOutcome))


def tabulate(episodes: list[Episode]) -> ClusterTable:
    good, hosts, injections = ([episode[i] for episode in episodes] for i in range(3))
    return ClusterTable.from_episodes(good, hosts, injections)  # type: ignore[arg-type]


def same(one: ClusterTable, two: ClusterTable) -> bool:
    labels = one.hosts == two.hosts and one.injections == two.injections
    return labels and np.array_equal(one.good, two.good) and np.array_equal(one.n, two.n)


@given(EPISODES, st.integers(1, 5))
def test_shards_merge_to_the_table_of_all_episodes(episodes: list[Episode], shards: int) -> None:
    parts = [tabulate(episodes[k::shards]) for k in range(shards)]
    assert same(merge_all(parts), tabulate(episodes))
    assert same(merge_all(reversed(parts)), tabulate(episodes))


@given(EPISODES)
def test_interval_brackets_the_share_inside_the_unit_interval(episodes: list[Episode]) -> None:
    interval = clustered_share(tabulate(episodes))
    if not episodes:
        assert (interval.value, interval.low, interval.high) == (None, None, None)
        return
    assert interval.value is not None
    assert interval.low is not None
    assert interval.high is not None
    assert 0.0 <= interval.low <= interval.value <= interval.high <= 1.0
    assert interval.high > interval.low


@given(EPISODES.filter(bool))
def test_interval_is_never_shorter_than_that_of_independent_episodes(episodes: list[Episode]) -> None:
    ours, plain = clustered_share(tabulate(episodes)), clopper_pearson(sum(e[0] for e in episodes), len(episodes))
    assert ours.low is not None
    assert ours.high is not None
    assert plain.low is not None
    assert plain.high is not None
    assert ours.low <= plain.low + 1e-9
    assert ours.high >= plain.high - 1e-9


@given(EPISODES.filter(bool))
def test_good_and_bad_mirror_each_other(episodes: list[Episode]) -> None:
    ours = clustered_share(tabulate(episodes))
    mirrored = clustered_share(tabulate([(1 - good, host, injection) for good, host, injection in episodes]))
    assert ours.low is not None
    assert mirrored.high is not None
    assert abs(ours.low - (1 - mirrored.high)) < 1e-9


@given(EPISODES, EPISODES)
def test_difference_interval_brackets_a_difference_of_shares(one: list[Episode], two: list[Episode]) -> None:
    interval = clustered_difference(tabulate(one), tabulate(two))
    if interval.value is None:
        assert not {e[1:] for e in one} & {e[1:] for e in two}
        return
    assert interval.low is not None
    assert interval.high is not None
    assert -1.0 <= interval.low <= interval.value <= interval.high <= 1.0


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_plain_intervals_bracket_the_share(count: tuple[int, int]) -> None:
    for interval in (wilson(*count), clopper_pearson(*count)):
        assert interval.value is not None
        assert interval.low is not None
        assert interval.high is not None
        assert -1e-12 <= interval.low <= interval.value + 1e-12
        assert interval.value - 1e-12 <= interval.high <= 1 + 1e-12


@given(st.lists(st.tuples(OUTCOMES, OUTCOMES)))
def test_ledger_adds_up_exactly(pairs: list[tuple[HostOutcome, HostOutcome]]) -> None:
    ledger = ContaminationLedger.from_pairs(pairs)
    assert ledger.lost == sum(ledger.delta(outcome) for outcome in LOSSES)
    assert ledger.pairs + ledger.unknown == len(pairs)
    shares = ledger.shares()
    if shares:
        lost = shares["refused"] + shares["failed"] + shares["partial"]
        assert shares["u0_paired"] - shares["u1_paired"] == lost


@given(st.lists(st.tuples(OUTCOMES, OUTCOMES)), st.lists(st.tuples(OUTCOMES, OUTCOMES)))
def test_ledgers_merge_to_the_ledger_of_all_pairs(
    one: list[tuple[HostOutcome, HostOutcome]], two: list[tuple[HostOutcome, HostOutcome]]
) -> None:
    merged = ContaminationLedger.from_pairs(one).merge(ContaminationLedger.from_pairs(two))
    assert merged == ContaminationLedger.from_pairs([*one, *two])


@given(st.dictionaries(st.integers(), st.floats(0, 1), max_size=20))
def test_adjusted_p_values_are_larger_and_keep_their_order(p_values: dict[int, float]) -> None:
    adjusted = holm(p_values)
    ordered = sorted(p_values, key=p_values.__getitem__)
    assert all(p_values[claim] <= adjusted[claim] <= 1.0 for claim in p_values)
    assert [adjusted[claim] for claim in ordered] == sorted(adjusted.values())


@given(st.lists(st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1))
def test_more_tries_never_make_all_of_them_likelier_to_pass(tasks: list[tuple[int, int]]) -> None:
    longest = [(c, n) for c, n in tasks if n == max(n for _, n in tasks)]
    values = [pass_hat_k(longest, k).value for k in range(1, longest[0][1] + 1)]
    assert None not in values
    assert all(later <= sooner for sooner, later in pairwise(values))  # type: ignore[operator]


@settings(max_examples=50)
@given(st.lists(st.booleans(), max_size=30), st.floats(0.01, 0.99))
def test_order_of_trials_inside_a_history_does_not_change_the_evidence(trials: list[bool], null: float) -> None:
    one = two = RateMartingale(null)
    for event in trials:
        one = one.observe(int(event), 1)
    two = two.observe(sum(trials), len(trials))
    assert abs(one.log_e - two.log_e) < 1e-9 or one.log_e == two.log_e
    assert one.p_value <= two.p_value
