"""What the receipts of a remote agent's endpoint say about the build behind it."""

from collections import Counter
from collections.abc import Iterator

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.digest import is_digest
from agent_litmus.records.session import EndpointReceipt, SessionRecord


def different_endpoint(evidence: RunEvidence) -> str:
    """Why the endpoint cannot have been the declared build all the time; empty if nothing says so.

    A digest that differs, an HMAC that is wrong, a nonce that stands in two receipts.
    """
    declared = evidence.build.digest
    receipts = list(_all_receipts(evidence))
    other = [(where, r) for where, r in receipts if r.digest and r.digest != declared]
    if other:
        where, receipt = other[0]
        named = f", replica {receipt.replica!a}" if receipt.replica else ""
        return (
            f"{len(other)} of {len(receipts)} responses report another build than the declared "
            f"{declared or '(empty)'}, first {where}{named}: {receipt.digest!a}"
        )
    forged = [where for where, r in receipts if r.mac_valid is False]
    if forged:
        return f"{len(forged)} of {len(receipts)} receipts have a wrong HMAC, first {forged[0]}"
    nonces = Counter(r.nonce for _, r in receipts if r.nonce)
    reused = sum(count > 1 for count in nonces.values())
    return f"{reused} nonces stand in several receipts" if reused else ""


def unobserved_endpoint(evidence: RunEvidence) -> str:
    """Why the endpoint's identity was not observed throughout; empty if it was.

    A session that ended without an answer claims nothing, and what did not answer gave no receipt: it is unassessed
    in the score, and counted there.
    """
    if not evidence.ran:
        return "no session ran the agent"
    dark = [s.key for s in evidence.ran if s.finished and not _given(s)]
    if dark:
        return f"{len(dark)} of {len(evidence.ran)} sessions have no receipt of the endpoint, first {dark[0]}"
    if not answered(evidence):
        return f"none of {len(evidence.ran)} sessions was answered by the endpoint"
    for when, asked in (("before", evidence.proofs.endpoint_start), ("after", evidence.proofs.endpoint_end)):
        if not asked:
            return f"the endpoint was not asked for its build {when} the run"
    bad = [(where, _flaw(receipt)) for where, receipt in _all_receipts(evidence) if _flaw(receipt)]
    if bad:
        return f"{len(bad)} receipts of the endpoint prove nothing, first {bad[0][0]}: {bad[0][1]}"
    strange = _replicas(evidence)
    return f"replica {strange} answered in the run and was not asked before and after it" if strange else ""


def answered(evidence: RunEvidence) -> int:
    """Sessions that the endpoint gave a receipt for."""
    return sum(bool(_given(session)) for session in evidence.ran)


def _given(session: SessionRecord) -> tuple[EndpointReceipt, ...]:
    return session.proof.endpoint if session.proof is not None else ()


def _all_receipts(evidence: RunEvidence) -> Iterator[tuple[str, EndpointReceipt]]:
    yield from (("before the run", receipt) for receipt in evidence.proofs.endpoint_start or ())
    for session in evidence.sessions:
        if session.proof is not None:
            yield from ((str(session.key), receipt) for receipt in session.proof.endpoint)
    for pair in evidence.proofs.leak_pairs or ():
        yield from ((f"{pair.planted} (leak pair)", receipt) for receipt in pair.endpoint)
    yield from (("after the run", receipt) for receipt in evidence.proofs.endpoint_end or ())


def _flaw(receipt: EndpointReceipt) -> str:
    if receipt.why:
        return receipt.why
    if not is_digest(receipt.digest):
        return "no well-formed build digest"
    return "" if receipt.nonce else "the nonce did not come back"


def _replicas(evidence: RunEvidence) -> str:
    """The first replica, by name and quoted, that answered in a session without having been asked at both ends."""
    start, end = evidence.proofs.endpoint_start or (), evidence.proofs.endpoint_end or ()
    asked = {r.replica for r in start} & {r.replica for r in end}
    seen = {r.replica for s in evidence.sessions if s.proof is not None for r in s.proof.endpoint}
    return min((ascii(replica) for replica in seen - asked), default="")
