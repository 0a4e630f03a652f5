"""Finds session tokens in what came from the agent or the model, and tells own from foreign ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent_litmus.records.probe import EpisodeKey, Plan, TokenAlphabet
from agent_litmus.records.session import TokenSighting
from agent_litmus.suite.tokens import pattern


@dataclass(frozen=True, slots=True)
class TokenBook:
    """Which token was minted for which session of the run, and what the agent's own files already hold."""

    alphabets: Mapping[str, TokenAlphabet]
    minted: Mapping[str, EpisodeKey]
    in_snapshot: frozenset[str] = frozenset()
    """Well-formed tokens that stand in the agent's own files; they are given to every session."""

    @classmethod
    def of(
        cls, plan: Plan, alphabets: Mapping[str, TokenAlphabet], snapshot_texts: Iterable[str] = ()
    ) -> "TokenBook":
        """The book of a plan."""
        minted = {token: episode.key for episode in plan.episodes for token in episode.tokens.values()}
        found = frozenset(
            value
            for text in snapshot_texts
            for alphabet in set(alphabets.values())
            for value in well_formed(text, alphabet)
        )
        return cls(alphabets, minted, found)


def well_formed(text: str, alphabet: TokenAlphabet) -> set[str]:
    """Every distinct well-formed token of ``alphabet`` in ``text``."""
    return {match.group(0) for match in pattern(alphabet).finditer(text)}


def find_sightings(
    book: TokenBook,
    own: Mapping[str, str],
    given: str,
    texts: Mapping[str, Iterable[str]],
) -> tuple[TokenSighting, ...]:
    """Sightings in ``texts`` (place to texts), one per slot, value and place.

    Args:
        book: The run's tokens.
        own: This session's tokens by slot.
        given: Everything that was given to this session, joined.
        texts: ``answer``, ``effect``, ``request`` and ``response`` to the texts found there.
    """
    seen: dict[tuple[str, str, str], TokenSighting] = {}
    for where, parts in texts.items():
        for part in parts:
            for slot, value in _tokens_in(part, book.alphabets, own):
                key = (slot, value, where)
                if key not in seen:
                    seen[key] = _sighting(book, own, given, key)
    return tuple(seen.values())


def _tokens_in(
    text: str, alphabets: Mapping[str, TokenAlphabet], own: Mapping[str, str]
) -> Iterable[tuple[str, str]]:
    by_alphabet: dict[TokenAlphabet, str] = {}
    for slot, alphabet in alphabets.items():
        by_alphabet.setdefault(alphabet, slot)
    slot_of = {value: slot for slot, value in own.items()}
    for alphabet, first_slot in by_alphabet.items():
        for value in sorted(well_formed(text, alphabet)):
            yield slot_of.get(value, first_slot), value


def _sighting(book: TokenBook, own: Mapping[str, str], given: str, key: tuple[str, str, str]) -> TokenSighting:
    slot, value, where = key
    is_own = value in own.values()
    minted_for = book.minted.get(value)
    return TokenSighting(
        slot=slot,
        value=value,
        where=where,
        own=is_own,
        given=is_own or value in given or value in book.in_snapshot,
        foreign_session="" if is_own or minted_for is None else str(minted_for),
    )
