"""What the token sightings of a session say, once sorted: the raw material of every freshness finding.

A token is fresh text that only this session was given. Where one turns up says which part of the chain was live:

- an own token in a model *request*, an effect or the answer: the **agent** ran on this session's world. A cache
  behind the gateway leaves all of that intact, because it answers requests and does not write them.
- an own token in a model *response* (or, for an agent that calls no model, in effects and answer): the **far end**
  worked on this session. Nothing that was recorded earlier can contain it.
- a well-formed token that is neither own nor given: *stale*. Replays are full of them, and so, now and then, is a
  small model that copies badly.

A well-formed token that was given but is not own (an example in the agent's own prompt) says nothing either way.
"""

from dataclasses import dataclass

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.probe import EpisodeKey
from agent_litmus.records.session import SessionRecord, TokenSighting

_OUTPUTS = frozenset({"answer", "effect", "response"})
_AGENT_SIDE = frozenset({"answer", "effect", "request"})
_MODEL_END = frozenset({"response"})
_AGENT_END = frozenset({"answer", "effect"})

Token = tuple[str, str]
"""Slot and value."""


@dataclass(frozen=True, slots=True)
class TokenView:
    """One session's sightings, sorted."""

    key: EpisodeKey
    agent_side: bool
    """An own token stood in a request, an effect or the answer."""
    returned: bool
    """An own token came back from the far end."""
    in_receipts: bool
    """An own token stood in a model request or response."""
    stale: frozenset[Token]
    """Tokens in outputs that are neither own nor given."""
    displaced: bool
    """Answer, effects or responses hold a stale token and no own one. Where both stand together the text was made
    in this session, and the other may be a reference number that looks like a token."""
    foreign: frozenset[Token]
    """Those of ``stale`` that were minted for another session of this run."""

    @property
    def bearing(self) -> bool:
        """Whether the session says anything about the far end: it returned an own token or carried a stale one."""
        return self.returned or bool(self.stale)


def token_views(evidence: RunEvidence) -> tuple[TokenView, ...]:
    """Every session's view. The far end is the model as soon as one is declared or *any* session called one.

    One rule for the whole run, because a session whose model calls were swallowed, or went past the gateway, would
    otherwise be judged by its agent's own copying.
    """
    far_end = _MODEL_END if evidence.calls_model else _AGENT_END
    return tuple(_view(session, far_end) for session in evidence.sessions)


def _view(session: SessionRecord, far_end: frozenset[str]) -> TokenView:
    own = {s.where for s in session.sightings if s.own}
    stale = [s for s in session.sightings if _is_stale(s)]
    return TokenView(
        key=session.key,
        agent_side=bool(own & _AGENT_SIDE),
        returned=bool(own & far_end),
        in_receipts=bool(own & {"request", "response"}),
        stale=frozenset((s.slot, s.value) for s in stale),
        displaced=any(s.where not in own for s in stale),
        foreign=frozenset((s.slot, s.value) for s in stale if s.foreign_session),
    )


def _is_stale(sighting: TokenSighting) -> bool:
    return sighting.where in _OUTPUTS and not sighting.own and not sighting.given
