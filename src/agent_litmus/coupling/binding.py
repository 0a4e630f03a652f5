"""Binding: the build that was declared is the build that ran, and the build that is current now."""

from agent_litmus.coupling.endpoint import answered, different_endpoint, unobserved_endpoint
from agent_litmus.coupling.evidence import PINNED, REMOTE, RunEvidence
from agent_litmus.coupling.table import unable
from agent_litmus.records.digest import is_digest
from agent_litmus.records.finding import Finding, FindingState, Obligation, Strength
from agent_litmus.records.session import SessionRecord

SIGNAL = "binding"
_REMEDY = "run again from the current build under a provider with an exec witness: litmus run -c litmus.toml"
_UNTOLD = "the gate was not told which build is current"
_TELL = "give `litmus gate` the agent's configuration with -c, or its digest with --digest"
_REMOTE_REMEDY = (
    "let every replica of the endpoint run one build, made no other while the run lasts, and send its receipt with "
    "every response; then run again"
)


def binding(evidence: RunEvidence) -> Finding:
    """Declared and observed identity, per session.

    Observed means two things: the snapshot that was mounted hashes to the declared digest, and the exec witness
    saw a program of it run. A remote agent is observed by the digest that its endpoint gives with every response,
    and that every replica gives before and after the run. Anything that differs is an exact ALARM; anything not
    observed is MISSING; an empty or malformed digest never matches, not even another empty one.
    """
    remote = evidence.target == REMOTE
    remedy = _REMOTE_REMEDY if remote else _REMEDY
    different = _declared_otherwise(evidence) or (different_endpoint if remote else _ran_otherwise)(evidence)
    if different:
        return Finding(SIGNAL, FindingState.ALARM, different, Strength.EXACT, remedy=remedy)
    missing = _undeclared(evidence) or (unobserved_endpoint if remote else _unobserved)(evidence)
    if missing:
        return Finding(SIGNAL, FindingState.MISSING, missing, remedy=_TELL if missing == _UNTOLD else remedy)
    did = "were answered by an endpoint that reports" if remote else "ran a snapshot that hashes to"
    bound = answered(evidence) if remote else len(evidence.ran)
    of = "all" if bound == len(evidence.ran) else f"{bound} of"
    return Finding(
        SIGNAL,
        FindingState.CLEAR,
        f"{of} {len(evidence.ran)} sessions {did} {evidence.build.digest}",
        number=float(bound),
        limit=float(len(evidence.ran)),
        discharges=(Obligation.IDENTITY,),
    )


def _declared_otherwise(evidence: RunEvidence) -> str:
    declared = evidence.build.digest
    target = evidence.pin if evidence.mode == PINNED else evidence.expected_digest
    if target is not None and target != declared:
        what = "pin" if evidence.mode == PINNED else "current build"
        return f"the run declares build {declared or '(empty)'}, the {what} is {target or '(empty)'}"
    return ""


def _ran_otherwise(evidence: RunEvidence) -> str:
    declared = evidence.build.digest
    wrong = [s for s in evidence.sessions if _digest(s) and _digest(s) != declared]
    if wrong:
        return (
            f"{len(wrong)} of {len(evidence.sessions)} sessions mounted a snapshot other than the declared "
            f"{declared or '(empty)'}, first {wrong[0].key}: {_digest(wrong[0])}"
        )
    unseen = [s for s in evidence.ran if s.proof is not None and s.proof.exec_seen is False]
    if unseen:
        return f"in {len(unseen)} sessions the exec witness saw nothing of the snapshot run, first {unseen[0].key}"
    return ""


def _undeclared(evidence: RunEvidence) -> str:
    if not is_digest(evidence.build.digest):
        return "the run declares no well-formed build digest"
    if evidence.mode == PINNED and evidence.pin is None:
        return "the suite is pinned but names no pin"
    if evidence.mode != PINNED and evidence.expected_digest is None:
        return _UNTOLD
    return ""


def _unobserved(evidence: RunEvidence) -> str:
    if not evidence.ran:
        return "no session ran the agent"
    why = unable(evidence.provider, Obligation.IDENTITY)
    if why:
        return f"the {evidence.provider.name} provider cannot prove identity: {why}"
    dark = [s for s in evidence.ran if not _digest(s) or s.proof is None or s.proof.exec_seen is None]
    if dark:
        return f"{len(dark)} of {len(evidence.ran)} sessions have no observed identity, first {dark[0].key}"
    return ""


def _digest(session: SessionRecord) -> str:
    return session.proof.snapshot_digest if session.proof is not None else ""
