import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[4] / "benchmarks" / "coverage.py"


@pytest.fixture(scope="module")
def benchmark_module() -> ModuleType:
    """The coverage benchmark, loaded from its file as benchmarks are no package."""
    spec = importlib.util.spec_from_file_location("coverage_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("p", [0.5, 0.9, 0.97])
@pytest.mark.parametrize("effects", [0, 1])
def test_shipped_interval_holds_where_the_plain_one_does_not(
    benchmark_module: ModuleType, p: float, effects: int
) -> None:
    """500 fixed replications of 20 x 10 x 2; 93 % less two standard errors is 0.907."""
    rows = benchmark_module.share_rows(benchmark_module.EFFECTS[effects], (20, 10, 2), p, 500, 3)
    coverage = {row.method: row.coverage for row in rows}
    assert coverage["two-way"] > 0.907
    assert coverage["wilson"] < 0.85


def test_shipped_interval_is_not_trivially_wide(benchmark_module: ModuleType) -> None:
    rows = benchmark_module.share_rows(benchmark_module.EFFECTS[0], (20, 10, 2), 0.5, 500, 3)
    assert {row.method: row.coverage for row in rows}["two-way"] < 0.98


def test_saturated_small_design_is_where_the_others_break_and_the_guard_holds(benchmark_module: ModuleType) -> None:
    rows = benchmark_module.share_rows(benchmark_module.EFFECTS[0], (6, 4, 2), 0.99, 500, 3)
    coverage = {row.method: row.coverage for row in rows}
    assert coverage["bootstrap"] < 0.5
    assert coverage["one-way"] < 0.5
    assert coverage["two-way"] > 0.99


def test_paired_difference_holds(benchmark_module: ModuleType) -> None:
    (row,) = benchmark_module.difference_rows(benchmark_module.EFFECTS[0], (20, 10, 2), (0.9, 0.8), 500, 3)
    assert 0.907 < row.coverage < 0.99


def test_logit_intercept_gives_the_marginal_rate_it_is_asked_for(benchmark_module: ModuleType) -> None:
    import numpy as np
    from scipy.special import expit

    draws = np.random.default_rng(0).normal(benchmark_module.intercept(0.9, 1.5), 1.5, 400_000)
    assert expit(draws).mean() == pytest.approx(0.9, abs=0.001)
