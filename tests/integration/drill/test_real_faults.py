"""The faults that a scripted stand-in cannot show: on the range's own agents, through the real pipeline."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_litmus.drill.cells import Cell
from agent_litmus.drill.faults import ALL
from agent_litmus.drill.mutants import MUTANTS, mutant_bench
from agent_litmus.drill.outcome import HONEST, Shown, catchers
from agent_litmus.drill.stand import Stand
from agent_litmus.drill.table import outcomes

pytestmark = pytest.mark.integration

FAULTS = (
    ("workspace-reuse", "saturated"),
    ("context-leak", "model"),
    ("response-cache", "model"),
    ("response-cache-cold", "model"),
    ("response-cache-slow", "model"),
    ("response-replay", "model"),
    ("partial-25", "model"),
)


@pytest.fixture(scope="module")
def stand(bubblewrap: Callable[[], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    bubblewrap()
    with Stand(tmp_path_factory.mktemp("range") / "stand", 2) as stand:
        yield stand


def run(stand: Stand, name: str, kind: str) -> Shown:
    ((_, (shown,)),) = outcomes([stand.run(Cell(name, kind, 24))]).items()
    return shown


@pytest.mark.parametrize("kind", ["stochastic", "deterministic", "fast", "model"])
def test_honest_agents_pass(stand: Stand, kind: str) -> None:
    shown = run(stand, HONEST, kind)
    assert (shown.verdict, shown.fired) == ("PASS", ()), shown.reason


@pytest.mark.parametrize(("name", "kind"), FAULTS, ids=[name for name, _ in FAULTS])
def test_a_fault_in_the_real_pipeline_is_caught_by_what_is_expected_of_it(
    stand: Stand, name: str, kind: str
) -> None:
    fault = next(fault for fault in ALL if fault.name == name)
    shown = run(stand, name, kind)
    assert shown.touched
    assert catchers(fault, shown, frozenset()), (shown.verdict, shown.fired, shown.reason)


def test_mutants_are_builds_of_their_own(tmp_path: Path, bubblewrap: Callable[[], None]) -> None:
    from agent_litmus.config import load_config
    from agent_litmus.drill.range import make_range

    bubblewrap()
    config = load_config(make_range(tmp_path / "range", "fast", 24).config)
    benches = [mutant_bench(config, mutant, tmp_path / "work") for mutant in MUTANTS]
    digests = {bench.first.build.digest for bench in benches}
    assert all(bench.first.verified_build == bench.first.build.digest for bench in benches)
    # The oracle and the agent that complies are one build that is given other steps.
    assert len(digests) == len(MUTANTS) - 1
