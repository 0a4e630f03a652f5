"""Which tokens met a check, and where they stood."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.run.test_evaluate import effect, observed

from agent_litmus.records.effect import Channel
from agent_litmus.records.probe import Check, CheckKind, TokenAlphabet
from agent_litmus.records.session import CheckResult, CheckState, CheckToken
from agent_litmus.run.check_tokens import Outputs, with_tokens
from agent_litmus.run.delivery import effect_texts
from agent_litmus.run.evaluate import evaluate
from agent_litmus.run.matching import Matcher
from agent_litmus.run.observed import Observed
from agent_litmus.run.scrubbing import scrubbed
from agent_litmus.run.sightings import TokenBook, find_sightings

OWN, KEY, STRANGE, OTHER = "48213907", "60177352", "95500364", "31729986"
ALPHABETS = {"code": TokenAlphabet.DIGITS, "key": TokenAlphabet.DIGITS}
MATCHER = Matcher(ALPHABETS, {"pass": "PASS-{{token.key}}"})


def judged(
    check: Check, evidence: Observed, *, given: str = "", snapshot: frozenset[str] = frozenset()
) -> CheckResult:
    evidence = replace(evidence, matcher=MATCHER)
    texts = {"answer": [evidence.answer or ""], "effect": list(effect_texts(evidence.effects))}
    book = TokenBook(ALPHABETS, {}, snapshot)
    sightings = find_sightings(book, {"code": OWN, "key": KEY}, given, texts)
    results = evaluate([check], evidence)
    (result,) = with_tokens([check], results, evidence, Outputs(sightings, texts, given), book)
    return result


def said(answer: str, **changes: Any) -> tuple[CheckToken, ...]:
    check = Check("answer", CheckKind.ANSWER_CONTAINS, {"text": "{{token.code}}"})
    return judged(check, observed(answer=answer), **changes).tokens


def by_value(tokens: tuple[CheckToken, ...]) -> Mapping[str, CheckToken]:
    return {token.value: token for token in tokens}


def test_own_and_strange_tokens_are_told_apart() -> None:
    found = by_value(said(f"It is {OWN}, not {STRANGE}.", given=f"code {OWN}"))
    assert (found[OWN].own, found[OWN].given) == (True, True)
    assert (found[STRANGE].own, found[STRANGE].given, found[STRANGE].near) == (False, False, False)


@pytest.mark.parametrize("copy", ["48213900", "48219999", "82139075"], ids=["one-off", "half", "shifted"])
def test_a_bad_copy_is_near_what_it_was_copied_from(copy: str) -> None:
    (token,) = said(f"The code is {copy}.", given=f"code {OWN}")
    assert token.near
    (of_the_files,) = said(f"The code is {copy}.", snapshot=frozenset({OWN}))
    assert of_the_files.near


@pytest.mark.parametrize(
    ("answer", "lead"),
    [
        (STRANGE, ""),
        (f"I have read it. The ticket's Code is: **{STRANGE}**", "s code is"),
        (f"one two three\ncode {STRANGE}", "code"),
        (f"Ticket 12 of 30 has {STRANGE}", "ticket of has"),
        (f"neither {OTHER} nor {STRANGE}", "neither nor"),
    ],
)
def test_a_lead_is_the_last_words_of_the_sentence_without_numbers_and_tokens(answer: str, lead: str) -> None:
    assert by_value(said(answer))[STRANGE].lead == lead


def test_a_check_that_was_not_met_or_asks_for_no_token_names_none() -> None:
    unmet = Check("c", CheckKind.ANSWER_CONTAINS, {"text": "code: {{token.code}}"})
    assert judged(unmet, observed(answer=STRANGE)).state is CheckState.UNMET
    assert judged(unmet, observed(answer=STRANGE)).tokens == ()
    plain = Check("c", CheckKind.ANSWER_CONTAINS, {"text": "done"})
    assert judged(plain, observed(answer=f"done {STRANGE}")).tokens == ()
    kept = Check("c", CheckKind.ANSWER_CONTAINS, {"text": "{{token.code}}"}, invariant=True)
    assert judged(kept, observed(answer=STRANGE)).tokens == ()


def test_only_the_token_in_the_place_that_is_asked_for_counts() -> None:
    check = Check("c", CheckKind.ANSWER_CONTAINS, {"text": "code: {{token.code}}"})
    result = judged(check, observed(answer=f"id {OTHER}, code: {STRANGE}"))
    assert [token.value for token in result.tokens] == [STRANGE]


def test_a_tools_argument_is_read_like_an_answer() -> None:
    check = Check(
        "c", CheckKind.TOOL_CALLED, {"tool": "send_mail", "arguments": {"to": "a@x.test", "body": "{{token.code}}"}}
    )

    def call(to: str, body: str) -> Any:
        return effect(Channel.TOOLS, "call", tool="send_mail", arguments={"to": to, "body": body})

    result = judged(check, observed(call("b@x.test", OTHER), call("a@x.test", STRANGE)))
    assert [(token.value, token.lead) for token in result.tokens] == [(STRANGE, "x test body")]


def test_a_check_that_needs_two_tokens_names_both() -> None:
    check = Check("c", CheckKind.ANSWER_CONTAINS, {"text": "{{token.code}}/{{token.key}}"})
    assert set(by_value(judged(check, observed(answer=f"{OWN}/{STRANGE}")).tokens)) == {OWN, STRANGE}


def test_the_token_of_a_secret_counts() -> None:
    check = Check("c", CheckKind.ANSWER_CONTAINS, {"text": "{{secret.pass}}"})
    assert set(by_value(judged(check, observed(answer=f"PASS-{STRANGE} {OTHER}")).tokens)) == {STRANGE}


def test_an_agent_that_prints_thousands_of_tokens_costs_a_dozen_questions() -> None:
    noise = " ".join(str(number) for number in range(20_000_000, 20_003_000))
    tokens = said(f"{noise} {OWN}")
    assert len(tokens) == 12
    assert tokens[0].own


def test_a_key_in_a_token_or_its_lead_is_scrubbed(record: Any) -> None:
    token = CheckToken("code", "sk-1", own=False, given=False, near=False, lead="my sk-1 is")
    written = record(host_checks=(CheckResult("c", CheckState.MET, tokens=(token,)),))
    (check,) = scrubbed(written, lambda text: text.replace("sk-1", "***")).host_checks
    assert (check.tokens[0].value, check.tokens[0].lead) == ("***", "my *** is")
