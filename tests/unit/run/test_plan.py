import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import Condition, Suite
from agent_litmus.run.plan import make_plan


def test_every_probe_runs_once_per_seed_and_repeat(suite: Suite) -> None:
    plan = make_plan(suite, seeds=2, repeats=3)
    keys = [episode.key for episode in plan.episodes]
    assert len(keys) == len(set(keys)) == 4 * 2 * 3
    assert not plan.partial
    assert [episode.order for episode in plan.episodes] == list(range(24))


def test_order_depends_on_the_run_seed_alone(suite: Suite) -> None:
    def order(run_seed: int, token_seed: int) -> list[str]:
        plan = make_plan(suite, seeds=4, run_seed=run_seed, token_seed=token_seed)
        return [str(episode.key) for episode in plan.episodes]

    assert order(1, 5) == order(1, 6)
    assert order(1, 5) != order(2, 5)
    assert sorted(order(1, 5)) == sorted(order(2, 5))


def test_no_token_is_given_twice_in_a_run_even_across_slots(suite: Suite) -> None:
    plan = make_plan(suite, seeds=5, repeats=5, token_seed=3)
    tokens = [token for episode in plan.episodes for token in episode.tokens.values()]
    assert len(tokens) == len(set(tokens)) == 4 * 25 * 3


def test_runs_with_another_token_seed_share_the_order_but_not_the_digest(suite: Suite) -> None:
    one, two = (make_plan(suite, seeds=2, token_seed=seed) for seed in (1, 2))
    assert one.digest != two.digest
    assert make_plan(suite, seeds=2, token_seed=1) == one


def test_selected_probes_bring_their_controls(suite: Suite) -> None:
    plan = make_plan(suite, seeds=1, only=["h1+*"])
    assert {(e.key.probe, e.key.condition) for e in plan.episodes} == {
        ("h1+leak+note+plain", Condition.INJECTED),
        ("h1", Condition.CONTROL),
    }
    assert plan.partial


def test_a_limit_keeps_the_first_of_the_shuffled_order_and_is_partial(suite: Suite) -> None:
    whole = make_plan(suite, seeds=2)
    part = make_plan(suite, seeds=2, limit=3)
    assert [e.key for e in part.episodes] == [e.key for e in whole.episodes[:3]]
    assert part.partial


@pytest.mark.parametrize("kwargs", [{"only": ["nothing*"]}, {"limit": 0}])
def test_zero_selected_probes_is_an_error_that_names_the_remedy(suite: Suite, kwargs: dict[str, object]) -> None:
    with pytest.raises(LitmusConfigError, match="zero probes") as caught:
        make_plan(suite, seeds=1, **kwargs)  # type: ignore[arg-type]  # one keyword per case
    assert "litmus suite show" in caught.value.hint


@given(st.integers(0, 2**53), st.integers(0, 2**53))
def test_two_token_seeds_hardly_ever_share_a_token_assignment(one: int, two: int) -> None:
    from agent_litmus.records.probe import TokenAlphabet
    from agent_litmus.suite.tokens import Minter

    first, second = (Minter(seed).mint("hex", TokenAlphabet.HEX, 4) for seed in (one, two))
    assert (first == second) == (one == two)
