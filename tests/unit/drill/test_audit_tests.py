"""What an audit concludes from triples of sessions: stale, partly foreign, honest, deterministic, unusable."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from agent_litmus.drill.audit_tests import AuditResult, Triple, audit_result
from agent_litmus.drill.similarity import answers_alike, dice, effects_alike, without_tokens
from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.episode import Episode, HostOutcome, InjectedOutcome
from agent_litmus.records.finding import FindingState
from agent_litmus.records.probe import Condition, EpisodeKey
from agent_litmus.records.session import Delivery, ExitKind, ProcessExit, SessionRecord

WORDS = (
    "the",
    "printer",
    "on",
    "floor",
    "two",
    "jams",
    "since",
    "monday",
    "please",
    "send",
    "paper",
    "and",
    "toner",
)


def record(number: int, answer: str | None, *effects: Effect) -> SessionRecord:
    token = f"OAK-{number % 90 + 10}"
    return SessionRecord(
        key=EpisodeKey(f"p{number}", Condition.INJECTED, 0),
        order=0,
        host_id="h",
        exit=ProcessExit(ExitKind.EXITED, 0),
        answer=answer and answer.replace("TOKEN", token),
        answer_why="" if answer else "no answer",
        effects=effects,
        tokens={"x": token},
    )


def episode(number: int, injected: InjectedOutcome = InjectedOutcome.IGNORED) -> Episode:
    key = EpisodeKey(f"p{number}", Condition.INJECTED, 0)
    return Episode(key, "", "h", Delivery.DELIVERED, HostOutcome.COMPLETED, injected)


def triple(number: int, answers: Iterable[str | None]) -> Triple:
    records = tuple(record(number * 3 + index, answer) for index, answer in enumerate(answers))
    return Triple(f"p{number}", records, (episode(number),) * 3)


def judged(triples: list[Triple], *, deterministic: bool = False) -> AuditResult:
    return audit_result(triples, deterministic=deterministic, with_evidence=True)


def spoken(rng: random.Random) -> str:
    return " ".join(rng.sample(WORDS, 8)) + " TOKEN"


def test_answers_that_differ_in_their_tokens_alone_are_alike() -> None:
    found = judged([triple(n, ["code TOKEN"] * 3) for n in range(24)])
    assert found.state is FindingState.CLEAR
    assert all(layer.against == layer.others == 0 for layer in found.layers)
    assert found.detectable is not None


def test_a_stochastic_agent_is_left_alone() -> None:
    """Holm at 0.01: of 60 honest audits at most a few may alarm."""
    rng = random.Random(3)
    states = [judged([triple(n, [spoken(rng) for _ in range(3)]) for n in range(40)]).state for _ in range(60)]
    assert states.count(FindingState.ALARM) <= 3
    assert set(states) <= {FindingState.CLEAR, FindingState.ALARM}


def test_a_report_of_another_agent_is_an_alarm() -> None:
    rng = random.Random(4)
    other = "I would rather not say anything about TOKEN today"
    found = judged([triple(n, [other, spoken(rng), spoken(rng)]) for n in range(24)])
    assert found.state is FindingState.ALARM
    assert found.layers[0].name == "answers"
    assert found.layers[0].significant
    assert len(found.differing) == 24
    assert found.remedy


def test_a_part_of_foreign_answers_is_an_alarm_where_the_rest_ties() -> None:
    answers = [["stale", "code TOKEN", "code TOKEN"] if n < 8 else ["code TOKEN"] * 3 for n in range(60)]
    assert judged([triple(n, said) for n, said in enumerate(answers)]).state is FindingState.ALARM


def test_one_difference_is_proof_where_determinism_is_declared() -> None:
    triples = [triple(n, ["code TOKEN"] * 3) for n in range(24)]
    triples[5] = triple(5, ["cached", "code TOKEN", "code TOKEN"])
    assert judged(triples).state is FindingState.CLEAR
    found = judged(triples, deterministic=True)
    assert found.state is FindingState.ALARM
    assert found.seen.endswith("first p5")


def test_a_declaration_that_fresh_sessions_disprove_is_no_proof() -> None:
    triples = [triple(n, ["code TOKEN"] * 3) for n in range(24)]
    triples[5] = triple(5, ["other", "code TOKEN", "code TOKEN"])
    triples[6] = triple(6, ["code TOKEN", "other", "code TOKEN"])
    assert judged(triples, deterministic=True).state is FindingState.CLEAR


def test_rosier_outcomes_than_fresh_ones_are_an_alarm() -> None:
    """A report that hides harm: every recorded outcome is safe, every fresh one is not."""
    harm = InjectedOutcome.EXECUTED
    triples = [
        replace(triple(n, ["code TOKEN"] * 3), episodes=(episode(n), episode(n, harm), episode(n, harm)))
        for n in range(12)
    ]
    found = judged(triples)
    assert found.state is FindingState.ALARM
    assert {layer.name for layer in found.layers if layer.significant} == {"outcomes", "rosier"}


def test_other_acts_behind_the_same_words_are_an_alarm() -> None:
    acts = [
        Effect(Channel.TOOLS, "call", Outcome.EXECUTED, {"tool": tool, "arguments": {}, "ok": True})
        for tool in ("read_mail", "send_mail")
    ]
    triples = [
        Triple(
            f"p{n}",
            (record(n, "ok", acts[0]), record(n, "ok", *acts), record(n, "ok", *acts)),
            (episode(n),) * 3,
        )
        for n in range(12)
    ]
    found = judged(triples)
    assert found.state is FindingState.ALARM
    assert [layer.name for layer in found.layers if layer.significant] == ["effects"]


@pytest.mark.parametrize("episodes", [1, 3, 5])
def test_too_few_episodes_are_underpowered_not_clear(episodes: int) -> None:
    found = judged([triple(n, ["code TOKEN"] * 3) for n in range(episodes)])
    assert (found.state, found.detectable) == (FindingState.UNDERPOWERED, None)


def test_fresh_sessions_that_did_not_run_are_missing_not_clear() -> None:
    broken = ProcessExit(ExitKind.HARNESS_ERROR, why="no sandbox")
    triples = [triple(n, ["code TOKEN", None, None]) for n in range(24)]
    lost = [replace(t, records=(t.records[0], *(replace(r, exit=broken) for r in t.records[1:]))) for t in triples]
    assert (judged(lost).state, judged(lost).lost) == (FindingState.MISSING, 24)
    assert judged([]).state is FindingState.MISSING


def test_answers_nobody_gave_are_missing_not_clear() -> None:
    assert judged([triple(n, [None] * 3) for n in range(24)]).state is FindingState.MISSING


def test_imported_outcomes_are_compared_without_answers() -> None:
    triples = [triple(n, ["code TOKEN"] * 3) for n in range(24)]
    found = audit_result(triples, deterministic=False, with_evidence=False)
    assert found.state is FindingState.CLEAR
    assert [layer.name for layer in found.layers] == ["outcomes", "rosier"]


def test_likeness_is_between_nothing_and_the_same() -> None:
    assert without_tokens("OAK-11 and OAK-112", {"x": "OAK-11", "y": "OAK-112"}) == "{x} and {y}"
    assert without_tokens("OAK-11", {}) == "OAK-11"
    assert answers_alike(record(1, "a b c"), record(2, "a b c")) == 1.0
    assert answers_alike(record(1, "a b c"), record(2, "x y z")) == 0.0
    assert effects_alike(record(1, "a"), record(2, "b")) == 1.0
    assert dice(without_words(), without_words()) == 1.0


def without_words() -> Counter[str]:
    return Counter()
