"""Context growth: a session's first model request holds the conversation of the session before it."""

from collections.abc import Sequence

from agent_litmus.coupling.evidence import RunEvidence, replicates
from agent_litmus.coupling.sequence import chains, in_order
from agent_litmus.coupling.tail import binomial_tail
from agent_litmus.records.finding import Finding, FindingState, Strength
from agent_litmus.records.probe import EpisodeKey
from agent_litmus.records.session import SessionRecord

SIGNAL = "context_growth"
ALPHA = 0.01
"""Level at which a reading is called an alarm; whether it counts is decided with all alarms together (Holm)."""
SLOPE = (0.5, 1.5)
"""Slopes that are called growth: a whole conversation that is carried over gives 1, isolation gives 0."""
MIN_PAIRS = 8
"""Pairs of replicates below which not even perfect growth is an alarm: 2 * 0.5 ** 8 < 0.01."""
_REMEDY = "start every session with an empty conversation; look for a session id or a memory that is shared"


def context_growth(evidence: RunEvidence) -> Finding:
    """Regression of first prompts on what the predecessor's conversation had come to, in tokens.

    Two replicates of one probe have the same prompt but for their tokens. y is by how much the first prompt of one
    is longer than that of the other, x the same for the conversations that their predecessors ended with (last
    prompt plus completion; 0 for a worker's first session). Where conversations are carried over, whole or since
    the start, y = x. In isolation y does not depend on x, and which replicate followed the longer conversation is
    the toss of the shuffled plan: the signs of x and y agree with even odds (exact sign test, ties dropped). An
    alarm needs both: agreement at 0.01, and a median slope y / x in [0.5, 1.5], so that a difference of a few
    tokens between replicates is never growth. Where several workers ran, predecessors are looked up on the worker
    and in the whole run, and the smaller p-value is doubled (Bonferroni).
    """
    if not evidence.calls_model:
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "the agent declares no model, and none was called")
    if not any(_first(s) is not None for s in evidence.sessions):
        return Finding(
            SIGNAL, FindingState.MISSING, "no model call says how many tokens its prompt had", remedy=_COUNTED
        )
    lines = [chains(evidence.sessions), [in_order(evidence.sessions)]]
    lines = lines[:1] if len(lines[0]) == 1 else lines
    tests = [_differences(evidence, _before(line)) for line in lines]
    pairs = max(map(len, tests))
    if pairs < MIN_PAIRS:
        return Finding(
            SIGNAL,
            FindingState.UNDERPOWERED,
            f"{pairs} pairs of replicates followed conversations of different length, {MIN_PAIRS} are needed",
            number=float(pairs),
            limit=float(MIN_PAIRS),
        )
    p_value, slope, count = min(map(_test, tests))
    p_value = min(1.0, p_value * len(tests))
    seen = f"first prompts grow by {slope:.2f} tokens per token of the conversation before, over {count} pairs"
    grown = SLOPE[0] <= slope <= SLOPE[1] and p_value <= ALPHA
    return Finding(
        SIGNAL,
        FindingState.ALARM if grown else FindingState.CLEAR,
        seen,
        Strength.STRONG if grown else Strength.WEAK,
        number=slope,
        limit=SLOPE[0],
        p_value=p_value if grown else None,
        remedy=_REMEDY if grown else "",
    )


_COUNTED = "use an upstream that reports usage.prompt_tokens"

Pairs = Sequence[tuple[float, float]]
"""x and y of every pair of replicates with x other than 0."""


def _first(session: SessionRecord) -> int | None:
    return next((c.prompt_tokens for c in session.model_calls if c.prompt_tokens is not None), None)


def _last(session: SessionRecord) -> int | None:
    """What the conversation had come to, in tokens."""
    told = [c for c in session.model_calls if c.prompt_tokens is not None]
    return (told[-1].prompt_tokens or 0) + (told[-1].completion_tokens or 0) if told else None


def _before(lines: list[list[SessionRecord]]) -> dict[EpisodeKey, int]:
    """Key to the length of the conversation before; a session without model calls leaves it as it was."""
    before: dict[EpisodeKey, int] = {}
    for line in lines:
        length = 0
        for session in line:
            before[session.key] = length
            ended = _last(session)
            length = length if ended is None else ended
    return before


def _differences(evidence: RunEvidence, before: dict[EpisodeKey, int]) -> Pairs:
    """Non-overlapping pairs of replicates, so that the pairs of a probe are independent of each other."""
    found = []
    for group in replicates(evidence.sessions).values():
        told = [(first, before[s.key]) for s in group if (first := _first(s)) is not None]
        for (first_a, before_a), (first_b, before_b) in zip(told[::2], told[1::2], strict=False):
            if before_a != before_b:
                found.append((float(before_b - before_a), float(first_b - first_a)))
    return found


def _test(pairs: Pairs) -> tuple[float, float, int]:
    """One-sided sign test, median slope, number of pairs."""
    if not pairs:
        return 1.0, 0.0, 0
    untied = [x * y > 0 for x, y in pairs if y]
    slopes = sorted(y / x for x, y in pairs)
    return binomial_tail(sum(untied), len(untied), 0.5), slopes[len(slopes) // 2], len(pairs)
