"""Latency: answers that come faster than the model can give them."""

import math
from collections.abc import Sequence

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.finding import Finding, FindingState
from agent_litmus.records.session import ModelCall

SIGNAL = "latency"
MARGIN = 5.0
"""How many times faster than the fastest direct call an answer must be to count as collapsed."""
CHANCE = 0.01
"""Chance of the precedence under exchangeability, below which it is remarked on."""
MIN_CALIBRATION = 3
"""Successful calibration calls below which nothing is said."""
MIN_CALLS = 8
"""Calls below which a constant duration is not remarkable."""
CONSTANT = 0.02
"""Relative spread (standard deviation of the log) of a duration that is nearly constant: a sleep."""
SPREAD_RATIO = 5.0
"""How many times wider the direct calls must spread than the nearly constant ones."""
_MOST = 1e9
"""Largest ratio that is told; a record may call next to nothing a duration, and a ratio to it is no number."""
_REMEDY = (
    "look for a cache or a mock between gateway and model; freshness decides whether the answers are this run's"
)


def latency(evidence: RunEvidence) -> Finding:
    """Model time against calibration calls that the harness made itself, interleaved, at the run's concurrency.

    *Collapse*: an answer counts as collapsed if it came five times faster than the *fastest* of m direct calls.
    Were the n answers as slow as direct calls, the k fastest of all would be answers with probability
    prod((n - i) / (m + n - i), i < k) (precedence test); below 0.01 it is remarked on. Direct calls are small, so
    an honest answer is rarely faster, let alone by the margin. *Constancy*: durations that hardly spread while
    direct calls do are a sleep. Where no call passed the gateway, the sessions' wall time stands in for it. WEAK at
    most: speed is no proof.
    """
    if not evidence.calls_model:
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "the agent declares no model, and none was called")
    made = evidence.proofs.calibration
    if made is None:
        return _dark("the run made no calibration calls")
    direct = [c.duration for c in made if not c.error and 200 <= c.status < 300 and _usable(c.duration)]
    if len(direct) < MIN_CALIBRATION:
        return _dark(f"{len(direct)} of {len(made)} calibration calls succeeded, {MIN_CALIBRATION} are needed")
    calls = [c.duration for s in evidence.sessions for c in s.model_calls if _answered(c) and _usable(c.duration)]
    if calls:
        return _judge(calls, direct, "model calls")
    walls = [s.duration for s in evidence.ran if s.finished and _usable(s.duration)]
    if walls:
        return _judge(walls, direct, "sessions without a model call")
    return _dark("no session has a duration to compare")


def precedence(collapsed: int, answers: int, direct: int) -> float:
    """Chance that the ``collapsed`` fastest of ``answers + direct`` exchangeable durations are all answers."""
    chance = 1.0
    for i in range(collapsed):
        chance *= (answers - i) / (direct + answers - i)
    return chance


def _judge(durations: Sequence[float], direct: Sequence[float], what: str) -> Finding:
    fastest = min(direct)
    collapsed = sum(duration * MARGIN < fastest for duration in durations)
    ratio = min(_MOST, fastest / sorted(durations)[len(durations) // 2])
    if collapsed and precedence(collapsed, len(durations), len(direct)) <= CHANCE:
        seen = (
            f"{collapsed} of {len(durations)} {what} were over {MARGIN:.0f} times faster than the fastest of "
            f"{len(direct)} direct calls ({fastest * 1000:.1f} ms)"
        )
        return Finding(SIGNAL, FindingState.WEAK, seen, number=ratio, limit=MARGIN, remedy=_REMEDY)
    spread, natural = _spread(durations), _spread(direct)
    if len(durations) >= MIN_CALLS and spread <= CONSTANT and natural >= SPREAD_RATIO * max(spread, 1e-6):
        seen = (
            f"{len(durations)} {what} took nearly the same time (spread {spread:.1%}, direct calls {natural:.1%})"
        )
        return Finding(SIGNAL, FindingState.WEAK, seen, number=spread, limit=CONSTANT, remedy=_REMEDY)
    seen = f"{len(durations)} {what} are as slow as {len(direct)} direct calls, within a factor of {MARGIN:.0f}"
    return Finding(SIGNAL, FindingState.CLEAR, seen, number=ratio, limit=MARGIN)


def _spread(durations: Sequence[float]) -> float:
    """Standard deviation of the logarithms."""
    logs = [math.log(duration) for duration in durations]
    mean = sum(logs) / len(logs)
    return math.sqrt(sum((value - mean) ** 2 for value in logs) / len(logs))


def _answered(call: ModelCall) -> bool:
    return 200 <= call.status < 300 and not call.error


def _usable(duration: float) -> bool:
    return math.isfinite(duration) and duration > 0


def _dark(seen: str) -> Finding:
    return Finding(SIGNAL, FindingState.MISSING, seen, remedy="set run.calibration to 8 calls or more")
