"""Reading the response of an agent behind a URL."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.targets.wire import JSON, Reply, question, spoken

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "content-type": st.sampled_from([JSON, f"{JSON}; charset=utf-8", "text/html", ""]) | st.text(),
        "content-encoding": st.sampled_from(["identity", "gzip", ""]) | st.text(),
    },
)


def reply(body: bytes, status: int = 200, *, whole: bool = True) -> Reply:
    return Reply(status, {"content-type": JSON}, body, whole)


@given(st.text())
def test_the_text_under_answer_is_the_answer_unless_it_is_blank(text: str) -> None:
    answer, why = spoken(reply(json.dumps({"answer": text, "more": 1}).encode()))
    assert (answer, bool(why)) == ((text, False) if text.strip() else ("", True))


@given(st.integers(100, 599), headers, st.binary() | anything.map(lambda v: json.dumps(v).encode()), st.booleans())
def test_whatever_comes_is_an_answer_or_a_reason_and_never_both(
    status: int, given_headers: dict[str, str], body: bytes, whole: bool
) -> None:
    answer, why = spoken(Reply(status, given_headers, body, whole))
    assert bool(answer) != bool(why)
    if answer:
        assert (status, whole) == (200, True)
        assert json.loads(body)["answer"] == answer


@given(anything)
def test_json_without_a_text_as_answer_is_none(value: Any) -> None:
    for document in (value, {"answer": value}):
        if isinstance(document, dict) and isinstance(document.get("answer"), str):
            continue
        assert spoken(reply(json.dumps(document).encode()))[0] == ""


@given(st.text(), st.text(), st.integers(0, 10**6))
def test_a_question_is_json_that_says_everything(prompt: str, session: str, seed: int) -> None:
    body = question(prompt=prompt, session=session, nonce="n", seed=seed, tools_url="http://h/mcp")
    assert json.loads(body) == {
        "prompt": prompt,
        "session": session,
        "nonce": "n",
        "seed": seed,
        "mcp": {"url": "http://h/mcp"},
    }
