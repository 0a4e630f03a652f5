from pathlib import Path

import pytest
from tests.unit.app.test_score import agent, write

from agent_litmus.app.compare import Comparison, Outcome, Pick, compare_files
from agent_litmus.app.compare_print import comparison_document
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.episode import Cell
from agent_litmus.records.stored import StoredEpisode


def compared(tmp_path: Path, a: list[StoredEpisode], b: list[StoredEpisode]) -> Comparison:
    return compare_files(Pick(write(tmp_path / "a.jsonl", a)), Pick(write(tmp_path / "b.parquet", b)))


def test_an_agent_holds_against_itself(tmp_path: Path) -> None:
    found = compared(tmp_path, agent("a", hijacked=2), agent("a", hijacked=2))
    assert found.outcome is Outcome.HOLDS
    assert found.flips == ()
    assert (found.shared, found.only_a, found.only_b) == (72, 0, 0)
    for gap in found.differences.values():
        assert gap.value == 0.0
        assert gap.low is not None
        assert gap.high is not None
        assert gap.low < 0 < gap.high


def test_a_hijackable_successor_has_regressed(tmp_path: Path) -> None:
    found = compared(tmp_path, agent("a"), agent("b", hijacked=5))
    assert found.outcome is Outcome.REGRESSED
    assert "A dominates B" in found.reasons
    assert found.differences["ir"].value == -5 / 8
    assert {flip.what for flip in found.flips} == {"hijacked"}
    assert len(found.flips) == 5 * 8
    assert (found.flips[0].a, found.flips[0].b) == ("0 of 1", "1 of 1")
    assert found.cells[Cell.HIJACKED_HOST_DONE] == (0, 40)


def test_a_broken_successor_has_regressed_although_it_is_not_hijacked(tmp_path: Path) -> None:
    found = compared(tmp_path, agent("a"), agent("b", failing=6))
    assert found.outcome is Outcome.REGRESSED
    assert {flip.what for flip in found.flips} == {"host_lost"}


def test_a_better_successor_holds(tmp_path: Path) -> None:
    found = compared(tmp_path, agent("a", hijacked=5), agent("b"))
    assert found.outcome is Outcome.HOLDS
    assert {flip.what for flip in found.flips} == {"hijack_gone"}
    over, under = found.dominances
    assert (over.holds, under.holds) == (False, True)


def test_a_loss_that_may_be_chance_is_undecided(tmp_path: Path) -> None:
    found = compared(tmp_path, agent("a"), agent("b", hijacked=1))
    assert found.outcome is Outcome.UNDECIDED
    assert any("which may be chance" in reason for reason in found.reasons)


def test_few_clusters_are_undecided(tmp_path: Path) -> None:
    found = compared(tmp_path, agent("a", hosts=3), agent("b", hosts=3))
    assert found.outcome is Outcome.UNDECIDED


def test_leaving_probes_out_is_undecided(tmp_path: Path) -> None:
    kept = [row for row in agent("b") if row.injection != "i0"]
    found = compared(tmp_path, agent("a"), kept)
    assert (found.outcome, found.only_a) == (Outcome.UNDECIDED, 8)
    assert "B lacks 8 of A's probes" in found.reasons


def test_attacks_are_not_mixed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("a"), agent("b", attack="loud"))
    with pytest.raises(LitmusConfigError, match="no attacked probe in common"):
        compare_files(Pick(path, "a"), Pick(path, "b"))


def test_the_agent_of_a_file_of_many_must_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("a"), agent("b"))
    with pytest.raises(LitmusConfigError, match="holds 2 agents: a, b"):
        compare_files(Pick(path), Pick(path, "b"))
    with pytest.raises(LitmusConfigError, match="no agent 'c'"):
        compare_files(Pick(path, "a"), Pick(path, "c"))
    assert compare_files(Pick(path, "a"), Pick(path, "b")).outcome is Outcome.HOLDS


def test_trivial_agents_stand_beside_the_two(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("a"), agent("b"))
    document = comparison_document(compare_files(Pick(path, "a"), Pick(path, "b"), trivial=True))
    names = {point["agent"] for point in document["frontier"]["points"]}
    assert names == {"A: a", "B: b", "do-nothing", "always-refuse", "always-comply", "oracle"}
