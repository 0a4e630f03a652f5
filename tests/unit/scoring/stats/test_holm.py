import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.holm import holm


@pytest.mark.parametrize("seed", range(5))
def test_adjustment_agrees_with_statsmodels(seed: int) -> None:
    p = np.random.default_rng(seed).beta(0.5, 3, 12).round(2).clip(0, 1)
    adjusted = list(holm(dict(enumerate(p.tolist()))).values())
    assert adjusted == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_order_of_claims_is_kept() -> None:
    assert list(holm({"b": 0.5, "a": 0.01})) == ["b", "a"]


def test_no_claims_need_no_adjustment() -> None:
    assert holm({}) == {}


@pytest.mark.parametrize("p", [float("nan"), -0.1, 1.5])
def test_a_missing_p_value_is_not_waved_through(p: float) -> None:
    with pytest.raises(LitmusScoringError, match="p-value of 'x'"):
        holm({"x": p})
