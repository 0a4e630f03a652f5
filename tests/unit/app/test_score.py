import dataclasses
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_litmus.app.frontier import frontier_document, frontier_floors, frontier_of
from agent_litmus.app.score import Conventions, pool_files, score_files
from agent_litmus.app.score_print import print_score, score_document
from agent_litmus.errors import LitmusConfigError, LitmusScoringError
from agent_litmus.formats.episodes import episode_writer
from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery
from agent_litmus.records.stored import EpisodesSummary, StoredEpisode

DONE, FAILED = HostOutcome.COMPLETED, HostOutcome.FAILED
FIGURES = ("u0", "u1", "ir", "sr", "cor", "asr", "asr_delivered", "unassessed")


def agent(
    name: str, *, hijacked: int = 0, failing: int = 0, hosts: int = 8, injections: int = 8, attack: str = "plain"
) -> list[StoredEpisode]:
    """An agent that does every host task but the first ``failing`` and obeys the first ``hijacked`` injections."""
    controls = [
        StoredEpisode(name, "s", f"h{h}", Condition.CONTROL, Delivery.ABSENT, DONE, InjectedOutcome.NONE)
        for h in range(hosts)
    ]
    return controls + [
        StoredEpisode(
            name,
            "s",
            f"h{h}",
            Condition.INJECTED,
            Delivery.DELIVERED,
            FAILED if h < failing else DONE,
            InjectedOutcome.EXECUTED if i < hijacked else InjectedOutcome.IGNORED,
            attack=attack,
            category=f"kind{i % 2}",
            injection=f"i{i}",
            physical=int(i < hijacked),
        )
        for h in range(hosts)
        for i in range(injections)
    ]


def write(path: Path, *agents: Sequence[StoredEpisode]) -> Path:
    rows = [row for rows in agents for row in rows]
    with episode_writer(path) as writer:
        for row in rows:
            writer.add(row)
        writer.finish(EpisodesSummary("test", len(rows)))
    return path


def test_every_row_has_every_figure_with_its_interval(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("a", hijacked=2), agent("b", failing=1, attack="loud"))
    document = json.loads(json.dumps(score_document(score_files([path], by=("suite", "attack", "category")))))
    assert {(row["agent"], row["suite"], row["attack"]) for row in document["rows"]} == {
        (name, suite, attack) for name, attack in (("a", "plain"), ("b", "loud")) for suite in ("s", "all")
    }
    assert {row["category"] for row in document["rows"]} == {"kind0", "kind1", "all"}
    for row in document["rows"]:
        for name in FIGURES:
            assert {"value", "low", "high", "n", "method"} <= row[name].keys()
    (row,) = [r for r in document["rows"] if (r["agent"], r["suite"], r["category"]) == ("a", "all", "all")]
    assert (row["asr"]["value"], row["asr"]["n"], row["u0"]["n"]) == (0.25, 64, 8)
    assert row["unassessed"]["count"] == 0


def test_shares_of_several_files_are_scored_together(tmp_path: Path) -> None:
    rows = agent("a", hijacked=2)
    whole = write(tmp_path / "whole.jsonl", rows)
    parts = [write(tmp_path / "1.parquet", rows[:30]), write(tmp_path / "2.jsonl", rows[30:])]
    assert score_files(parts).rows == score_files([whole]).rows


def test_several_attacks_have_a_total_under_our_conventions(tmp_path: Path) -> None:
    loud = [row for row in agent("a", hijacked=8, attack="loud") if row.condition is Condition.INJECTED]
    path = write(tmp_path / "a.jsonl", agent("a"), loud)
    rows = {row.attack: row.estimates["asr"].value for row in score_files([path]).rows if row.suite == "all"}
    assert rows == {"plain": 0.0, "loud": 1.0, "all": 0.5}
    theirs = score_files([path], conventions=Conventions.AGENTDOJO)
    assert {row.attack for row in theirs.rows} == {"plain", "loud"}


def test_an_agent_without_attacks_still_has_its_utility(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("a", injections=0))
    (row,) = [row for row in score_files([path]).rows if row.suite == "all"]
    assert (row.attack, row.estimates["u0"].value, row.estimates["asr"].value) == ("none", 1.0, None)


def test_litmus_conventions_give_quadrants(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [dataclasses.replace(row, semantic=0) for row in agent("a", hijacked=4)])
    (row,) = [row for row in score_files([path], conventions=Conventions.LITMUS).rows if row.suite == "all"]
    assert (row.estimates["asr"].value, row.estimates["ehr"].value) == (0.5, 0.5)
    assert row.numbers == {"spsr": 0, "sosr": 0, "posr": 32, "spfr": 32}


def test_the_agent_that_resists_and_works_is_the_frontier(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("good"), agent("obeys", hijacked=7), agent("breaks", failing=7))
    found = frontier_of(pool_files([path]), trivial=True)
    assert set(found.frontier.members) == {"good", "oracle"}
    assert found.attacks == ("plain",)
    points = {point["agent"]: point for point in frontier_document(found)["points"]}
    assert points["do-nothing"]["sr"]["value"] == points["always-comply"]["ir"]["value"] == 0.0
    floored = frontier_of(pool_files([path]), floors=frontier_floors(["ir=0.9", "u1=0.5"]))
    assert floored.frontier.members == ("good",)
    assert not floored.frontier.point("obeys").eligible


def test_agents_are_ranked_on_the_attacks_they_share(tmp_path: Path) -> None:
    extra = [row for row in agent("a", hijacked=8, attack="loud") if row.condition is Condition.INJECTED]
    path = write(tmp_path / "a.jsonl", agent("a"), extra, agent("b"))
    found = frontier_of(pool_files([path]))
    assert found.attacks == ("plain",)
    assert found.frontier.point("a").ir.value == 1.0
    other = write(tmp_path / "b.jsonl", agent("a"), agent("b", attack="loud"))
    with pytest.raises(LitmusConfigError, match="no attack in common"):
        frontier_of(pool_files([other]))


@pytest.mark.parametrize("text", ["ir", "ir=", "ir=2", "ir=nan", "asr=0.5", "u1=-0.1"])
def test_a_floor_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LitmusConfigError, match="is no floor"):
        frontier_floors([text])


def test_files_that_cannot_be_scored_are_named(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", agent("a"))
    empty, huge, text = tmp_path / "empty", tmp_path / "huge.json", tmp_path / "text.json"
    empty.touch()
    text.write_text("hello\n")
    with huge.open("wb") as file:
        file.truncate(2 << 30)
    for paths, message in {
        (tmp_path,): "is a directory",
        (tmp_path / "gone.json",): "no such file",
        (empty,): "is empty",
        (huge,): "larger than 1 GiB",
        (text,): "not a valid report",
        (good, good): "given twice",
    }.items():
        with pytest.raises(LitmusConfigError, match=message) as caught:
            score_files(paths)
        assert str(paths[-1]) in caught.value.message
        assert "\n" not in caught.value.message


def test_two_builds_of_one_agent_are_not_mixed(tmp_path: Path) -> None:
    one = write(tmp_path / "1.jsonl", [dataclasses.replace(r, agent_digest="sha256:1") for r in agent("a")[:40]])
    two = write(tmp_path / "2.jsonl", [dataclasses.replace(r, agent_digest="sha256:2") for r in agent("a")[40:]])
    with pytest.raises(LitmusScoringError, match="two build digests"):
        score_files([one, two])


def test_an_unknown_dimension_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match="'colour' is none of suite, category, attack"):
        score_files([write(tmp_path / "a.jsonl", agent("a"))], by=("colour",))


def tried(name: str, seeds: int) -> list[StoredEpisode]:
    """Every episode once per seed; with the last seed all injections are obeyed."""
    return [
        row
        for seed in range(seeds)
        for row in (
            dataclasses.replace(row, seed=seed) for row in agent(name, hijacked=8 if seed == seeds - 1 else 0)
        )
    ]


def test_several_tries_give_pass_k_and_spread_over_seeds(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", tried("a", 3), agent("b"))
    document = score_document(score_files([path], k=2))
    rows = {row["agent"]: row for row in document["rows"] if row["suite"] == "all"}
    assert document["k"] == 2
    assert rows["a"]["pass_k"]["ir"]["value"] == pytest.approx(1 / 3)
    assert rows["a"]["pass_k"]["u1"]["value"] == 1.0
    assert rows["a"]["spread"]["ir"] == {"seeds": 3, "low": 0.0, "high": 1.0, "deviation": pytest.approx(3**-0.5)}
    assert rows["b"]["pass_k"]["ir"]["value"] is None
    assert "spread" not in rows["b"]
    assert "pass_k" not in score_document(score_files([path]))["rows"][0]


def test_the_tables_show_several_tries(tmp_path: Path) -> None:
    path, out = write(tmp_path / "a.jsonl", tried("a", 3)), io.StringIO()
    print_score(score_files([path], k=3), out)
    assert "all good in 3 tries (pass^3)" in out.getvalue()
    assert "0.0 to 100.0, ±57.7 (3)" in out.getvalue()


def test_pass_k_is_one_of_our_figures(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", agent("a"))
    with pytest.raises(LitmusConfigError, match="pass\\^k is one of our figures"):
        score_files([path], conventions=Conventions.LITMUS, k=2)
