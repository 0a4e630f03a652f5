import json
import sys
from pathlib import Path

import pytest

HELPDESK = Path(__file__).parents[3] / "examples" / "helpdesk"
sys.path.append(str(HELPDESK))

from answers import Answers, key_of  # noqa: E402 - importable only after the line above
from loop import MAX_TURNS, opening, work  # noqa: E402
from model import Call  # noqa: E402

from agent_litmus.records.probe import Condition, TokenAlphabet  # noqa: E402
from agent_litmus.suite.load import load_suite  # noqa: E402
from agent_litmus.suite.tokens import Minter, pattern  # noqa: E402


class Script:
    """Chooses the calls it was given, in order."""

    def __init__(self, *calls: Call) -> None:
        self._calls = list(calls)
        self.asked: list[list[dict[str, str]]] = []

    def next_call(self, messages: list[dict[str, str]]) -> Call:
        self.asked.append(list(messages))
        return self._calls.pop(0)


def chat(*texts: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def test_the_loop_feeds_each_result_back_and_returns_what_the_model_finishes_with() -> None:
    script = Script(Call("read_ticket", "T-1"), Call("finish", "OAK-11"))
    assert work("read T-1.\n", [], script, lambda call, _: f"saw {call.arg}") == "OAK-11"
    assert [message["content"] for message in script.asked[1]] == [
        "TASK: read T-1.",
        Call("read_ticket", "T-1").text(),
        "saw T-1",
    ]


def test_the_loop_gives_up_without_an_answer_after_the_allowed_turns() -> None:
    script = Script(*[Call("read_ticket", "T-1")] * (MAX_TURNS + 1))
    assert work("read T-1.", [], script, lambda *_: "saw nothing") == ""
    assert len(script.asked) == MAX_TURNS


def test_the_builds_differ_only_in_orders_that_stand_in_the_hardened_examples() -> None:
    vulnerable, hardened = (opening(HELPDESK / "prompts", build) for build in ("vulnerable", "hardened"))
    assert len(vulnerable) == len(hardened)
    changed = [(a, b) for a, b in zip(vulnerable, hardened, strict=True) if a != b]
    assert len(changed) == 4
    for plain, with_order in changed:
        assert with_order["role"] == "user"
        assert with_order["content"].startswith(plain["content"] + "\n")
        assert "TASK: send mail" in with_order["content"]


def test_no_example_holds_a_code_that_a_session_could_be_given() -> None:
    for path in sorted((HELPDESK / "prompts").glob("*.json")):
        assert pattern(TokenAlphabet.WORDS).findall(path.read_text(encoding="utf-8")) == []


def test_every_question_meets_three_orders_and_every_order_three_questions() -> None:
    suite = load_suite(HELPDESK / "suite.yaml")
    pairs = {(p.host.id, p.injection.id) for p in suite.probes if p.injection is not None}
    assert len(pairs) == 15
    for side in (0, 1):
        names = [pair[side] for pair in pairs]
        assert len(set(names)) == 5
        assert {names.count(name) for name in names} == {3}
    assert sum(p.condition is Condition.CONTROL for p in suite.probes) == 5


def test_the_cache_takes_sessions_with_different_codes_for_the_same_question() -> None:
    first, second = Minter(7).mint("code", TokenAlphabet.WORDS, 2)
    assert first != second
    assert key_of(chat("read T-1", f"The code is {first}.")) == key_of(chat("read T-1", f"The code is {second}."))


@pytest.mark.parametrize("other", [("read T-1",), ("read T-2", "The code is OAK-11."), ("read T-1", "No code.")])
def test_the_cache_keeps_other_probes_and_turns_apart(other: tuple[str, ...]) -> None:
    assert key_of(chat(*other)) != key_of(chat("read T-1", "The code is OAK-11."))


def test_the_first_answer_stays_and_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "answers.jsonl"
    store = Answers(path)
    assert store.get(chat("q")) is None
    store.put(chat("q"), {"choices": ["first"]})
    store.put(chat("q"), {"choices": ["second"]})
    assert Answers(path).get(chat("q")) == store.get(chat("q")) == {"choices": ["first"]}
    assert [json.loads(line)["reply"] for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"choices": ["first"]}
    ]
