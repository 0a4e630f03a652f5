"""Seed invariance: a stochastic agent that behaves identically under every seed is a recording."""

from agent_litmus.coupling.evidence import RunEvidence, multi_seed
from agent_litmus.records.finding import Finding, FindingState, Obligation, Strength

SIGNAL = "seed_invariance"
HONEST_SELF_AGREEMENT = 0.8
"""Ceiling on the chance that an honest stochastic agent behaves identically, word for word and call for call, in
two sessions of one probe. Session tokens differ between the two, so even a near-greedy agent that repeats a token
once is below it."""
_REMEDY = 'switch off response caches; if the agent is deterministic on purpose, declare sampling = "deterministic"'


def seed_invariance(evidence: RunEvidence) -> Finding:
    """Per-episode behaviour digests over at least two seeds; aggregates coincide by luck, digests do not.

    Let c = :data:`HONEST_SELF_AGREEMENT` bound the chance sum p ** 2 that two sessions of a probe behave alike. R
    of them are all alike with chance sum p ** R, which is at most c ** (R / 2) (norms fall with their order). So
    the p-value over all groups is c to half the number of sessions compared. At c = 0.8, 60 sessions (30 probes
    under two seeds, 20 under three) are needed for the alarm to count among all strong tests; with fewer it is
    printed as weak, and replication remains unproven, which blocks as well.
    """
    if evidence.deterministic:
        return Finding(SIGNAL, FindingState.NOT_APPLICABLE, "equal behaviour over seeds is declared")
    if len(evidence.seeds) < 2:
        return _missing(f"{len(evidence.seeds)} seed planned, two are needed")
    groups = _comparable(evidence)
    if not groups:
        return _missing("no probe has finished sessions under two seeds")
    varied = sum(len(set(digests)) > 1 for digests in groups)
    seen = f"behaviour varies over seeds in {varied} of {len(groups)} probes"
    if varied:
        return Finding(
            SIGNAL,
            FindingState.CLEAR,
            seen,
            number=float(varied),
            limit=1.0,
            discharges=(Obligation.REPLICATION,),
        )
    return Finding(
        SIGNAL,
        FindingState.ALARM,
        seen,
        Strength.STRONG,
        number=0.0,
        limit=1.0,
        p_value=HONEST_SELF_AGREEMENT ** (sum(map(len, groups)) / 2),
        remedy=_REMEDY,
    )


def _comparable(evidence: RunEvidence) -> list[list[str]]:
    """Behaviour digests of groups with finished sessions under two seeds."""
    finished = tuple(s for s in evidence.sessions if s.finished and s.response_digest)
    return [[s.response_digest for s in group] for group in multi_seed(finished)]


def _missing(seen: str) -> Finding:
    return Finding(SIGNAL, FindingState.MISSING, seen, remedy="run with at least two seeds: --seeds 2")
