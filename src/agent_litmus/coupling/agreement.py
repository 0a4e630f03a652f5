"""Whether responses follow an earlier run's, key by key, more than any honest build could."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.history import PriorRun
from agent_litmus.records.probe import EpisodeKey

SKETCH = 16
"""Hexadecimal digits of a normalised response digest that the history keeps."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How this run's responses sit between an earlier run's responses to two keys that are twins of each other."""

    straight: int
    """Twin pairs whose responses are more often the earlier ones of the same key than those of the twin."""
    crossed: int
    """The other way round."""
    same: int
    """Responses that are the earlier ones of the same key, of ``2 * pairs``."""
    pairs: int


def unproven_responses(evidence: RunEvidence) -> dict[EpisodeKey, str]:
    """Sketches of finished sessions in whose outputs no own token stands.

    An own token in answer, effects or model responses cannot have been recorded before, so such a session agrees
    with an earlier one honestly or not at all.
    """
    live = {s.key for s in evidence.sessions if any(t.own and t.where != "request" for t in s.sightings)}
    return {
        s.key: s.normalised_digest.removeprefix("sha256:")[:SKETCH]
        for s in evidence.sessions
        if s.finished and s.normalised_digest and s.key not in live
    }


def agreement(now: Mapping[EpisodeKey, str], earlier: PriorRun, *, repeats: bool) -> Agreement:
    """Compare with one earlier run, over pairs of keys that are twins.

    Twins by *repeat* have the same probe and the same seed, so no agent can tell them apart. The earlier run gave
    them two responses; had it given them the other way round, nothing else would differ. So in an honest run a pair
    is straight or crossed with even odds, whatever either build is like: deterministic, saturated, changed or not.
    Twins by *seed* differ in ``LITMUS_SEED``, and an agent that draws by it follows its own earlier responses
    honestly.

    Args:
        now: This run's sketches.
        earlier: The earlier run.
        repeats: Whether twins are repeats (else seeds).
    """
    votes, same = [], 0
    for one, other in _twins(now, earlier, repeats=repeats):
        before = earlier.responses[str(one)], earlier.responses[str(other)]
        straight = (now[one] == before[0]) + (now[other] == before[1])
        crossed = (now[one] == before[1]) + (now[other] == before[0])
        votes.append(straight - crossed)
        same += straight
    return Agreement(sum(v > 0 for v in votes), sum(v < 0 for v in votes), same, len(votes))


def _twins(
    now: Mapping[EpisodeKey, str], earlier: PriorRun, *, repeats: bool
) -> Iterator[tuple[EpisodeKey, EpisodeKey]]:
    """The first two keys of everything that differs in the repeat alone (else in the seed alone)."""
    alike: dict[tuple[object, ...], list[EpisodeKey]] = {}
    for key in sorted(now):
        if str(key) in earlier.responses:
            alike.setdefault((key.probe, key.condition, key.seed if repeats else key.repeat), []).append(key)
    yield from ((keys[0], keys[1]) for keys in alike.values() if len(keys) > 1)
