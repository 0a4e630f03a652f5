"""Isolation: a fresh process and workspace for every session, and a base that stayed as it was."""

from agent_litmus.coupling.evidence import REMOTE, RunEvidence
from agent_litmus.coupling.table import unable
from agent_litmus.records.finding import Finding, FindingState, Obligation, Strength
from agent_litmus.records.proofs import LeakPair
from agent_litmus.records.session import SessionProof

SIGNAL = "isolation"
_REMEDY = "run under the bubblewrap provider, one new session per episode: litmus run --provider bubblewrap"
_REMOTE_REMEDY = (
    "let ten leak pairs or more be asked (a larger run.leak_pairs, or more seeds), and put {{token.x}} into the "
    "world of every probe"
)
_FACTS = ("process_fresh", "workspace_fresh", "base_unchanged")


def isolation(evidence: RunEvidence) -> Finding:
    """Witnessed isolation of every session; a fact seen false is an exact ALARM, a fact not witnessed MISSING.

    A fact seen false of a session that was asked in a leak pair counts too.
    """
    proofs = [s.proof for s in evidence.sessions if s.proof is not None]
    broken = _broken(proofs) or _broken_when_asked(evidence.proofs.leak_pairs or ())
    if broken:
        return Finding(SIGNAL, FindingState.ALARM, broken, Strength.EXACT, remedy=_REMEDY)
    missing = _missing(evidence)
    if missing:
        remedy = _REMOTE_REMEDY if evidence.target == REMOTE else _REMEDY
        return Finding(SIGNAL, FindingState.MISSING, missing, remedy=remedy)
    return Finding(
        SIGNAL,
        FindingState.CLEAR,
        f"{len(evidence.ran)} sessions, each with a fresh process and workspace, base unchanged",
        number=float(len(evidence.ran)),
        limit=float(len(evidence.ran)),
        discharges=(Obligation.ISOLATION,),
    )


def _broken(proofs: list[SessionProof]) -> str:
    for fact in _FACTS:
        seen_false = [p for p in proofs if getattr(p, fact) is False]
        if seen_false:
            return f"{fact} is false in {len(seen_false)} of {len(proofs)} sessions"
    ids = [p.session_id for p in proofs if p.session_id]
    if len(set(ids)) != len(ids):
        return f"{len(ids)} sessions share {len(set(ids))} session ids"
    return ""


def _broken_when_asked(pairs: tuple[LeakPair, ...]) -> str:
    """Sessions asked in leak pairs share the agent's base with all the others."""
    for fact in _FACTS:
        seen_false = [pair for pair in pairs if getattr(pair, fact) is False]
        if seen_false:
            first = seen_false[0].planted
            return f"{fact} is false in {len(seen_false)} of {len(pairs)} asked sessions, first after {first}"
    return ""


def _missing(evidence: RunEvidence) -> str:
    if not evidence.ran:
        return "no session ran the agent"
    if evidence.target == REMOTE:
        return "no process of a remote agent can be witnessed; clean leak pairs stand for it"
    why = unable(evidence.provider, Obligation.ISOLATION)
    if why:
        return f"the {evidence.provider.name} provider cannot prove isolation: {why}"
    dark = [s for s in evidence.ran if not witnessed(s.proof)]
    if dark:
        return f"isolation was not witnessed in {len(dark)} of {len(evidence.ran)} sessions, first {dark[0].key}"
    return ""


def witnessed(proof: SessionProof | None) -> bool:
    """Whether one session's isolation is proven."""
    return proof is not None and bool(proof.session_id) and all(getattr(proof, fact) is True for fact in _FACTS)
