"""What a report holds of its score besides the estimates: counts, and digests over all results."""

from collections.abc import Iterable, Iterator

from agent_litmus.records.digest import digest_of
from agent_litmus.records.report import Counts, EpisodeSection
from agent_litmus.records.scorecard import Scorecard


def counts_of(card: Scorecard) -> Counts:
    """The counts of a scorecard, as a report holds them."""
    return Counts(
        episodes=card.episodes,
        unassessed=card.unassessed,
        cells=card.cells,
        tallies=card.tallies,
        by_category=card.by_category,
        overlays=card.overlays,
        ledger=card.ledger,
        quadrants=card.quadrants,
        validity=card.validity,
    )


def results_digest(sections: Iterable[EpisodeSection], *, normalised: bool) -> str:
    """Digest over every episode's key, outcome tuple and behaviour, unassessed included."""
    return digest_of(sorted(_rows(sections, normalised=normalised), key=lambda row: row[:4]))


def _rows(sections: Iterable[EpisodeSection], *, normalised: bool) -> Iterator[list[object]]:
    for section in sections:
        episode, record = section.episode, section.evidence
        yield [
            episode.key.probe,
            episode.condition,
            episode.key.seed,
            episode.key.repeat,
            [episode.condition, episode.delivery, episode.host, episode.injected],
            record.normalised_digest if normalised else record.response_digest,
        ]
