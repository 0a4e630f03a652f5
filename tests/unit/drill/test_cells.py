from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.drill.cells import Cell, next_cell, source_digest, wanted_cells
from agent_litmus.drill.faults import ALL
from agent_litmus.drill.outcome import HONEST
from agent_litmus.drill.range import KINDS


def test_every_fault_and_every_honest_kind_has_cells() -> None:
    cells = wanted_cells({24: 300, 100: 100})
    assert {cell.name for cell in cells} == {fault.name for fault in ALL} | {HONEST}
    assert {cell.kind for cell in cells if cell.name == HONEST} == set(KINDS)


def test_runs_of_one_name_add_up_to_what_was_asked_for() -> None:
    cells = wanted_cells({24: 300})
    for name in {cell.name for cell in cells}:
        assert sum(runs for cell, runs in cells.items() if cell.name == name) >= 300


def test_names_narrow_the_table() -> None:
    assert {cell.name for cell in wanted_cells({24: 6}, ["wrong-build", HONEST])} == {"wrong-build", HONEST}


@given(st.dictionaries(st.sampled_from(sorted(wanted_cells({24: 6}))), st.integers(0, 20), max_size=8))
def test_a_table_that_is_cut_short_is_balanced(wanted: dict[Cell, int]) -> None:
    made: Counter[Cell] = Counter()
    while (cell := next_cell(wanted, made)) is not None:
        made[cell] += 1
        shares = [made[one] / runs for one, runs in wanted.items() if runs]
        steps = [1 / runs for runs in wanted.values() if runs]
        assert max(shares) - min(shares) <= max(steps) + 1e-9
    assert made == Counter({cell: runs for cell, runs in wanted.items() if runs})


def test_the_source_has_one_digest() -> None:
    assert source_digest() == source_digest()
