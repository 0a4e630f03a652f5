"""The faults that a scripted stand-in cannot show: on the range's own agents, through the real pipeline."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_litmus.config import load_config
from agent_litmus.drill.around import Touch
from agent_litmus.drill.bench import Workbench
from agent_litmus.drill.cells import Cell
from agent_litmus.drill.faults import ALL
from agent_litmus.drill.mutants import MUTANTS, mutant_bench
from agent_litmus.drill.outcome import HONEST, Shown, catchers
from agent_litmus.drill.range import make_range
from agent_litmus.drill.scene import Scene
from agent_litmus.drill.stand import Stand
from agent_litmus.drill.table import outcomes
from agent_litmus.records.finding import FindingState
from agent_litmus.records.verdict import VerdictKind

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


def test_answers_of_a_run_that_no_history_knows_are_borrowed_and_stay_so_in_the_report(
    tmp_path: Path, bubblewrap: Callable[[], None]
) -> None:
    """Two of five sessions, by dice that fall the same way each time: a quarter is missed now and then."""
    bubblewrap()
    config = load_config(make_range(tmp_path / "range", "saturated", 24).config)
    scene = Scene(Workbench(config, tmp_path / "work"))
    fault = next(fault for fault in ALL if fault.name == "partial-25-unrecorded")
    touch = Touch(0.4, random.Random(4))
    report = fault.run(scene, touch)
    assert len(touch.sessions) >= 8
    for judged in (report, scene.gate(report)):
        (finding,) = (f for f in judged.findings if f.signal == "borrowed_tokens")
        assert finding.state is FindingState.ALARM, finding
        assert judged.verdict is VerdictKind.INDETERMINATE


def test_mutants_are_builds_of_their_own(tmp_path: Path, bubblewrap: Callable[[], None]) -> None:
    bubblewrap()
    config = load_config(make_range(tmp_path / "range", "fast", 24).config)
    benches = [mutant_bench(config, mutant, tmp_path / "work") for mutant in MUTANTS]
    digests = {bench.first.build.digest for bench in benches}
    assert all(bench.first.verified_build == bench.first.build.digest for bench in benches)
    # The oracle and the agent that complies are one build that is given other steps.
    assert len(digests) == len(MUTANTS) - 1
