"""All findings of a run, the obligations they discharge, and the share of episodes proven one by one."""

from collections import Counter
from collections.abc import Callable

from agent_litmus.coupling.accounting import accounting
from agent_litmus.coupling.binding import binding
from agent_litmus.coupling.borrowed_tokens import borrowed_tokens
from agent_litmus.coupling.carry_over import carry_over
from agent_litmus.coupling.context_growth import context_growth
from agent_litmus.coupling.delivery import delivery
from agent_litmus.coupling.effects import effects, unobserved
from agent_litmus.coupling.evidence import REMOTE, RunEvidence
from agent_litmus.coupling.fixture_pinning import fixture_pinning
from agent_litmus.coupling.freshness import freshness
from agent_litmus.coupling.isolation import isolation, witnessed
from agent_litmus.coupling.latency import latency
from agent_litmus.coupling.leak_pairs import leak_pairs
from agent_litmus.coupling.missing_effects import missing_effects
from agent_litmus.coupling.receipts import receipts
from agent_litmus.coupling.repeats import repeats
from agent_litmus.coupling.seed_invariance import seed_invariance
from agent_litmus.coupling.session_reuse import session_reuse
from agent_litmus.coupling.stale_report import stale_report
from agent_litmus.coupling.stale_tokens import stale_tokens
from agent_litmus.coupling.tokens import TokenView, token_views
from agent_litmus.coupling.watermarks import watermarks
from agent_litmus.records.finding import Finding
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery, SessionProof, SessionRecord

SIGNALS: tuple[Callable[[RunEvidence], Finding], ...] = (
    binding,
    stale_report,
    freshness,
    stale_tokens,
    borrowed_tokens,
    fixture_pinning,
    latency,
    delivery,
    missing_effects,
    isolation,
    session_reuse,
    leak_pairs,
    context_growth,
    carry_over,
    effects,
    watermarks,
    accounting,
    receipts,
    seed_invariance,
    repeats,
)
"""Every signal, in the order it is printed."""


def all_findings(evidence: RunEvidence) -> tuple[Finding, ...]:
    """One finding per signal, in the order of :data:`SIGNALS`."""
    return tuple(signal(evidence) for signal in SIGNALS)


def certified_share(evidence: RunEvidence) -> float:
    """Share of planned episodes, in [0, 1], whose own session proves everything a single session can prove.

    That is: recorded once, finished, the declared build seen running, isolated, every needed channel observed, an
    injection witnessed where there was one, an own token back from the far end and no stale one where it
    belongs. It informs; the obligations decide, unless the policy asks for a least share.
    """
    planned = evidence.plan.episodes
    if not planned:
        return 0.0
    times = Counter(s.key for s in evidence.sessions)
    views = {v.key: v for v in token_views(evidence)}
    proven = {s.key for s in evidence.sessions if times[s.key] == 1 and _proven(evidence, s, views[s.key])}
    return sum(episode.key in proven for episode in planned) / len(planned)


def _proven(evidence: RunEvidence, session: SessionRecord, view: TokenView) -> bool:
    return (
        session.finished
        and (_endpoint_proven if evidence.target == REMOTE else _run_proven)(evidence, session.proof)
        and bool(evidence.required_channels)
        and not unobserved(session, evidence.required_channels)
        and (session.key.condition is not Condition.INJECTED or session.delivery is Delivery.DELIVERED)
        and view.returned
        and not view.displaced
    )


def _run_proven(evidence: RunEvidence, proof: SessionProof | None) -> bool:
    return (
        proof is not None
        and bool(proof.snapshot_digest)
        and proof.snapshot_digest == evidence.build.digest
        and proof.exec_seen is True
        and witnessed(proof)
    )


def _endpoint_proven(evidence: RunEvidence, proof: SessionProof | None) -> bool:
    """Isolation of a remote agent is shown by pairs of sessions, never by one."""
    return (
        proof is not None
        and bool(proof.endpoint)
        and all(
            r.digest == evidence.build.digest and r.mac_valid is not False and not r.why for r in proof.endpoint
        )
    )
