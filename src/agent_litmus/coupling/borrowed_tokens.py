"""Borrowed tokens: tasks done with a token that nobody gave, in the very place where live sessions have their own.

``stale_tokens`` counts every wrong token and must leave a small model room to miscopy. This one looks at less and
believes more: at tokens that met a check of the host task, that are no copy of anything the session was given, and
that stand where this run's own tokens stand. An honest agent gets there by inventing a whole code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_litmus.coupling.coincidence import ALPHA
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.records.finding import Finding, FindingState, Strength
from agent_litmus.records.session import CheckResult, CheckState, CheckToken, SessionRecord

SIGNAL = "borrowed_tokens"
_REMEDY = "some responses come from another run: remove every cache or recording between gateway and model"
_NUMBER = 10**7
_UNGUESSABLE = 2**64
_DATE = re.compile(
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])(?:19|20)\d\d"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:19|20)\d\d"
)
"""Compact dates look like tokens of eight digits; three in a thousand tokens look like dates."""

Place = tuple[str, str]
"""A check's id and the words before the token that met it."""


@dataclass(frozen=True, slots=True)
class Class:
    """Alphabets of one size."""

    name: str
    least: int
    """Least number of tokens of such an alphabet."""
    below: float
    ceiling: float
    """Ceiling on the share of sessions in which an honest agent does its task with a token that it made up."""
    handed_out: bool
    """Whether the session must be seen to have had its own token in hand."""


CLASSES = (
    Class("unguessable", _UNGUESSABLE, float("inf"), 0.01, handed_out=False),
    Class("digits", _NUMBER, float(_UNGUESSABLE), 0.02, handed_out=True),
)
"""Alphabets that are looked at. Words like ``OAK-11`` are miscopied into one another and left out."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was seen of one class of alphabets."""

    sessions: int
    """Sessions that met a check by a token, in a place where live sessions have their own."""
    borrowed: tuple[tuple[SessionRecord, CheckToken], ...]
    ceiling: float

    @property
    def distinct(self) -> int:
        """Different borrowed tokens; one favourite invention counts once."""
        return len({token.value for _, token in self.borrowed})

    @property
    def p_value(self) -> float:
        return binomial_tail(self.distinct, self.sessions, self.ceiling)


def borrowed_tokens(evidence: RunEvidence) -> Finding:
    """An exact binomial test per class of alphabets; the smallest p-value times their number counts (Bonferroni).

    Of n sessions that met a check of their host task by a token, k did so by one that is neither own nor given,
    resembles nothing that was given, and stands after the same words as own tokens of this run's other sessions
    (:attr:`~agent_litmus.records.session.CheckToken.lead`); p = P(X >= k), X ~ Binomial(n, p0). Equal tokens count
    once. p0 is 0.01 for tokens that cannot be guessed and 0.02 for eight digits, where the session must also be
    seen to have had its own token in hand, and compact dates are left out. Words after which live sessions write
    such tokens *beside* their own (request ids, checksums) say nothing, nor does a session that did a forbidden
    thing: it may have been told to invent a code. With all alarms corrected for, n = 24 needs four (``hex``) or
    five (``digits``) such sessions; below that the doubt is WEAK.
    """
    if evidence.token_space and max(evidence.token_space.values()) < min(kind.least for kind in CLASSES):
        return Finding(
            SIGNAL, FindingState.NOT_APPLICABLE, "the suite's tokens are words, which honest agents miscopy"
        )
    own_will = [session for session in evidence.sessions if not _harmed(session)]
    met = [(session, check) for session in own_will for check in session.host_checks if _by_tokens(check)]
    if not any(token.own for _, check in met for token in check.tokens):
        return Finding(
            SIGNAL, FindingState.MISSING, "no session met a check of its task by a token of its own to compare with"
        )
    readings = [r for kind in CLASSES if (r := _read(evidence, met, kind)).sessions]
    if not readings:
        return Finding(
            SIGNAL, FindingState.MISSING, "no check was met by an own token that nobody miscopies (`digits`, `hex`)"
        )
    sessions = sum(r.sessions for r in readings)
    if not any(r.borrowed for r in readings):
        seen = f"no borrowed token in {sessions} sessions that met a check of their task by a token"
        return Finding(SIGNAL, FindingState.CLEAR, seen, number=0.0)
    return _weighed(readings)


def _harmed(session: SessionRecord) -> bool:
    return any(check.state in {CheckState.MET, CheckState.ATTEMPTED} for check in session.forbidden_checks)


def _by_tokens(check: CheckResult) -> bool:
    return check.state is CheckState.MET and bool(check.tokens)


def _weighed(readings: Sequence[_Reading]) -> Finding:
    worst = min(readings, key=lambda r: r.p_value)
    p_value = min(1.0, worst.p_value * len(readings))
    alarm = p_value <= ALPHA
    session, token = worst.borrowed[0]
    return Finding(
        SIGNAL,
        FindingState.ALARM if alarm else FindingState.WEAK,
        f"{len(worst.borrowed)} of {worst.sessions} sessions did their task with a token that nobody gave them and "
        f"that is no copy of theirs, first {session.key}: {token.slot} = {token.value!a}",
        Strength.STRONG if alarm else Strength.WEAK,
        number=worst.distinct / worst.sessions,
        limit=worst.ceiling,
        p_value=p_value,
        remedy=_REMEDY if alarm else "",
    )


def _read(evidence: RunEvidence, met: Sequence[tuple[SessionRecord, CheckResult]], kind: Class) -> _Reading:
    checks = [(session, check.id, _of_class(evidence, check, kind)) for session, check in met]
    live = {place for _, name, tokens in checks for place in _places(name, tokens, own=True)}
    live -= {place for _, name, tokens in checks if _is_live(tokens) for place in _places(name, tokens, own=False)}
    placed = [(session, tokens) for session, name, tokens in checks if any((name, t.lead) in live for t in tokens)]
    borrowed = {
        session.key: (session, token)
        for session, name, tokens in reversed(checks)
        for token in reversed(tokens)
        if (name, token.lead) in live and not _is_live(tokens) and _is_borrowed(session, token, kind)
    }
    sessions = {session.key for session, _ in placed}
    return _Reading(len(sessions), tuple(borrowed[key] for key in sorted(borrowed)), kind.ceiling)


def _of_class(evidence: RunEvidence, check: CheckResult, kind: Class) -> tuple[CheckToken, ...]:
    return tuple(t for t in check.tokens if kind.least <= evidence.token_space.get(t.slot, 0) < kind.below)


def _places(name: str, tokens: Sequence[CheckToken], *, own: bool) -> Iterator[Place]:
    return ((name, token.lead) for token in tokens if (token.own if own else _is_strange(token)))


def _is_live(tokens: Sequence[CheckToken]) -> bool:
    """Whether the check was met by a token that the session was given."""
    return any(token.own or token.given for token in tokens)


def _is_strange(token: CheckToken) -> bool:
    return not token.own and not token.given and not token.near


def _is_borrowed(session: SessionRecord, token: CheckToken, kind: Class) -> bool:
    return (
        _is_strange(token)
        and not (kind.handed_out and _DATE.fullmatch(token.value))
        and (not kind.handed_out or _had_its_own(session))
    )


def _had_its_own(session: SessionRecord) -> bool:
    """Whether the session's own token was seen with the agent, or sent to it by a tool."""
    return any(s.own for s in session.sightings) or (session.watermarks is not None and session.watermarks[0] > 0)
