"""Which tokens met a host task's checks, since any well-formed one does.

Found by asking again: a token met a check if the check is met by it alone, or no longer met without it. That needs
to know nothing of how each kind of check reads the evidence.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from agent_litmus.records.probe import Check, CheckKind, TokenAlphabet
from agent_litmus.records.session import CheckResult, CheckState, CheckToken, TokenSighting
from agent_litmus.run.evaluate import evaluate
from agent_litmus.run.observed import Observed
from agent_litmus.run.sightings import TokenBook, well_formed
from agent_litmus.suite.render import placeholders
from agent_litmus.suite.tokens import pattern

_CANDIDATES = 12
"""Most tokens a session is asked about, its own first: an agent may print thousands."""
_GIVEN = 2000
"""Most given tokens that one is compared with."""
_BEFORE = 120
_LEAD_WORDS = 3
_LEAD_LIMIT = 60
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_RUN = 4


@dataclass(frozen=True, slots=True)
class Outputs:
    """What came from the agent in one session, and what had been given to it."""

    sightings: tuple[TokenSighting, ...]
    texts: Mapping[str, Iterable[str]]
    """``answer`` and ``effect`` to the texts found there."""
    given: str
    """Everything that was given to the session, joined."""


def with_tokens(
    checks: Iterable[Check], results: Iterable[CheckResult], observed: Observed, outputs: Outputs, book: TokenBook
) -> tuple[CheckResult, ...]:
    """The results, each check that was met by tokens with these tokens."""
    pairs = list(zip(checks, results, strict=True))
    if not any(_asks(check, result) for check, result in pairs):
        return tuple(result for _, result in pairs)
    candidates = _candidates(outputs)
    known = _given_tokens(outputs, book)
    return tuple(
        replace(result, tokens=_tokens(check, observed, candidates, outputs, book, known))
        if _asks(check, result)
        else result
        for check, result in pairs
    )


def _asks(check: Check, result: CheckResult) -> bool:
    kinds = {kind for kind, _ in placeholders(check.params)}
    return result.state is CheckState.MET and not result.invariant and bool(kinds & {"token", "secret"})


def _candidates(outputs: Outputs) -> tuple[TokenSighting, ...]:
    """Sightings in what the agent did or answered, one per value, own and given ones first."""
    found = {s.value: s for s in outputs.sightings if s.where in {"answer", "effect"}}
    return tuple(sorted(found.values(), key=lambda s: (not s.own, not s.given, s.value))[:_CANDIDATES])


def _tokens(
    check: Check,
    observed: Observed,
    candidates: tuple[TokenSighting, ...],
    outputs: Outputs,
    book: TokenBook,
    known: Mapping[TokenAlphabet, frozenset[str]],
) -> tuple[CheckToken, ...]:
    everything = frozenset(s.value for s in candidates)
    together = _met(check, observed, everything)

    def counts(value: str) -> bool:
        alone = _met(check, observed, frozenset({value}))
        return alone or (together and not _met(check, observed, everything - {value}))

    return tuple(
        CheckToken(
            slot=seen.slot,
            value=seen.value,
            own=seen.own,
            given=seen.given,
            near=resembles(seen.value, known.get(book.alphabets[seen.slot], frozenset())),
            lead=_lead(check, seen.value, outputs, book),
        )
        for seen in candidates
        if counts(seen.value)
    )


def _met(check: Check, observed: Observed, only: frozenset[str]) -> bool:
    asked = replace(observed, matcher=replace(observed.matcher, only=only))
    return evaluate((check,), asked)[0].state is CheckState.MET


def _given_tokens(outputs: Outputs, book: TokenBook) -> dict[TokenAlphabet, frozenset[str]]:
    texts = (outputs.given, *(s.value for s in outputs.sightings if s.own), *sorted(book.in_snapshot)[:_GIVEN])
    given = "\n".join(texts)
    return {
        alphabet: frozenset(sorted(well_formed(given, alphabet))[:_GIVEN])
        for alphabet in set(book.alphabets.values())
    }


def resembles(value: str, others: Iterable[str]) -> bool:
    """Whether a token may be a bad copy of one of ``others``, all of one alphabet.

    So it is if half of its characters stand where they do in the other one, or if the two share a run of a sixth of
    their length, four characters at least (a copy that lost a digit is shifted). Two random tokens do so with
    probability 0.8 % (``digits``) or 0.1 % (``hex``).
    """
    run = max(_LEAST_RUN, len(value) // 6)
    pieces = {value[start : start + run] for start in range(len(value) - run + 1)}
    return any(
        2 * sum(one == two for one, two in zip(value, other, strict=False)) >= len(value)
        or any(piece in other for piece in pieces)
        for other in others
    )


def _lead(check: Check, value: str, outputs: Outputs, book: TokenBook) -> str:
    """The last words before the token's first occurrence in its sentence: where a token stands, not which one."""
    place = "answer" if check.kind is CheckKind.ANSWER_CONTAINS else "effect"
    for text in outputs.texts[place]:
        at = text.find(value)
        if at >= 0:
            return _words(text[max(0, at - _BEFORE) : at], book)
    return ""


def _words(before: str, book: TokenBook) -> str:
    for alphabet in sorted(set(book.alphabets.values())):
        before = pattern(alphabet).sub(" ", before)
    words = _WORD.findall(_SENTENCE.split(before)[-1].casefold())
    return " ".join(words[-_LEAD_WORDS:])[-_LEAD_LIMIT:]
