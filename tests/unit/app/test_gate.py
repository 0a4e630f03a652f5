"""The gate's own parts: policy without a configuration, the command it prints, the history around a run."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.app.floors import floors_of
from agent_litmus.app.gate import GateRequest, gate_report, others, require_build, rerun, stricter
from agent_litmus.app.imported import imported_report
from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes import episode_writer
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import AgentConfig, Config, RunConfig
from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.history import HistoryFacts, PriorRun
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery
from agent_litmus.records.stored import EpisodesSummary, StoredEpisode
from agent_litmus.records.verdict import Policy, ReasonCode, VerdictKind
from agent_litmus.verdict.policy import FLOORED

DIGEST = "sha256:" + "a" * 64
floors = st.dictionaries(st.sampled_from(["ir", "u1", "sr"]), st.floats(0, 1))


@given(own=floors, told=floors, alpha=st.floats(0.001, 0.5))
def test_the_stricter_policy_is_no_laxer_than_either(
    own: dict[str, float], told: dict[str, float], alpha: float
) -> None:
    found = stricter(Policy(floors=own), Policy(floors=told, alpha=alpha))
    for name in own | told:
        assert found.floors[name] == max(own.get(name, 0.0), told.get(name, 0.0))
    assert found.alpha >= max(alpha, Policy().alpha)


def test_floors_are_read_or_refused() -> None:
    assert floors_of(["ir=0.9", "sr=1"], FLOORED) == {"ir": 0.9, "sr": 1.0}
    for text in ("ir", "ir=", "ir=nan", "ir=1.5", "ir=-1", "cor=0.1", "=1"):
        with pytest.raises(LitmusConfigError, match="is no floor"):
            floors_of([text], FLOORED)


def config(seeds: int = 2, sampling: str = "stochastic") -> Config:
    agent = AgentConfig("a", Path("/agents/a b"), ("x",), sampling=sampling)
    return Config(Path("/agents/a b/litmus.toml"), agent, Path("/s.yaml"), RunConfig(seeds=seeds))


def test_the_command_is_isolated_pinned_and_quoted() -> None:
    request = GateRequest(Path("r"), config(), floors={"ir": 0.9}, settings=("gate.alpha=0.05", 'x="a b"'))
    words = shlex.split(rerun(request, DIGEST))
    assert words[:6] == ["litmus", "run", "-c", "/agents/a b/litmus.toml", "--provider", "bubblewrap"]
    assert words[6:] == [
        *("--set", "gate.alpha=0.05", "--set", 'x="a b"', "--set", "gate.floors.ir=0.9"),
        *("--expect-digest", DIGEST),
    ]


def test_the_command_asks_for_the_seeds_a_pass_needs() -> None:
    one = GateRequest(Path("r"), config(seeds=1), settings=("run.seeds=1",))
    assert rerun(one, None).endswith("--provider bubblewrap --seeds 2")
    assert "--seeds" not in rerun(GateRequest(Path("r"), config(seeds=1, sampling="deterministic")), None)
    assert rerun(GateRequest(Path("r")), None) == "litmus run -c litmus.toml --provider bubblewrap"


def prior(run_id: str, at: float, *, protected: bool = True, kind: VerdictKind = VerdictKind.PASS) -> PriorRun:
    return PriorRun(run_id, at, "main", protected, "s", "a", "r", "x", "y", kind, "proven", 1)


def test_no_run_is_evidence_about_itself() -> None:
    runs = (prior("r1", 1), prior("r2", 2, protected=False), prior("r3", 3), prior("r4", 4))
    facts = HistoryFacts(runs, "", accepted=runs[2])
    found = others(facts, "r3", "a")
    assert found.runs == (runs[0], runs[1], runs[3])
    assert found.accepted == runs[0]
    assert others(facts, "other", "a") == facts
    assert others(HistoryFacts(), "r1", "a") == HistoryFacts()
    assert others(HistoryFacts((runs[2],), "", accepted=runs[2]), "r3", "a").accepted is None


def test_a_run_of_the_same_id_by_another_build_is_evidence() -> None:
    facts = HistoryFacts((prior("r1", 1),), "")
    assert others(facts, "r1", "b") == facts


def test_another_build_is_refused() -> None:
    require_build(AgentBuild(DIGEST, {}), DIGEST)
    with pytest.raises(LitmusConfigError, match="as expected"):
        require_build(AgentBuild(DIGEST, {}), DIGEST[:-1] + "b")


CONTROL = StoredEpisode(
    "one", "banking", "t1", Condition.CONTROL, Delivery.ABSENT, HostOutcome.COMPLETED, InjectedOutcome.NONE
)
ATTACKED = replace(
    CONTROL,
    condition=Condition.INJECTED,
    delivery=Delivery.DELIVERED,
    injected_outcome=InjectedOutcome.IGNORED,
    injection="i1",
    attack="direct",
    category="banking",
)


def episodes(path: Path, *rows: StoredEpisode) -> Path:
    with episode_writer(path) as writer:
        for row in rows:
            writer.add(row)
        writer.finish(EpisodesSummary("test", len(rows)))
    return path


def test_imported_episodes_are_scored_and_nothing_of_them_is_proven(tmp_path: Path) -> None:
    path = episodes(tmp_path / "e.jsonl", CONTROL, ATTACKED)
    for digest in (None, DIGEST):
        outcome = gate_report(GateRequest(path, digest=digest))
        report = outcome.report
        assert (report.verdict, outcome.imported, outcome.recorded) == (VerdictKind.INDETERMINATE, True, None)
        assert {reason.code for reason in report.reasons} == {ReasonCode.UNPROVEN}
        assert report.score["ir"].value == 1.0
        assert outcome.rerun


def test_imported_harm_is_a_fail(tmp_path: Path) -> None:
    harmed = replace(ATTACKED, injected_outcome=InjectedOutcome.EXECUTED, physical=1)
    report = gate_report(GateRequest(episodes(tmp_path / "e.jsonl", CONTROL, harmed))).report
    assert (report.verdict, report.reasons[0].code) == (VerdictKind.FAIL, ReasonCode.FLOOR_MISSED)
    assert "attribution unproven" in report.reason


def test_one_agent_is_judged_at_a_time(tmp_path: Path) -> None:
    path = episodes(tmp_path / "e.jsonl", CONTROL, ATTACKED, replace(CONTROL, agent="two"))
    with pytest.raises(LitmusConfigError, match="the file holds one, two"):
        imported_report(path)
    assert len(imported_report(path, "two").episodes) == 1
    with pytest.raises(LitmusConfigError, match="one agent is judged"):
        imported_report(path, "three")
