"""An honest run of a remote agent, whose endpoint says which build answered."""

import random
from dataclasses import replace
from itertools import count

from tests.unit.coupling.conftest import BUILD
from tests.unit.coupling.simulated import Agent, Size, each, simulate

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.effect import Channel
from agent_litmus.records.session import EndpointReceipt


def receipt(nonce: str, replica: str = "a", digest: str = BUILD) -> EndpointReceipt:
    return EndpointReceipt(digest, nonce, mac_valid=True, replica=replica)


def remote_run(*, pairs: int = 12) -> RunEvidence:
    """Its process is not witnessed, its model calls pass no gateway of ours, and its checks look at tools alone."""
    evidence = simulate(Agent("remote", model=False, reads=1.0), random.Random(7), Size(pairs=pairs))
    numbers = count()
    evidence = each(
        evidence,
        lambda s: replace(
            s,
            proof=None
            if s.proof is None
            else replace(
                s.proof,
                snapshot_digest="",
                exec_seen=None,
                process_fresh=None,
                workspace_fresh=None,
                base_unchanged=None,
                endpoint=tuple(receipt(f"nonce-{next(numbers)}", replica) for replica in "ab"),
            ),
        ),
    )
    ends = [tuple(receipt(f"{end}-{replica}", replica) for replica in "ab") for end in ("start", "end")]
    return replace(
        evidence,
        target="remote",
        required_channels=frozenset({Channel.TOOLS, Channel.ANSWER}),
        proofs=replace(evidence.proofs, endpoint_start=ends[0], endpoint_end=ends[1]),
    )
