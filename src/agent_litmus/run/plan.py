"""The deterministic plan of a run: which episodes, in which order, with which tokens."""

import random
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.digest import digest_of
from agent_litmus.records.probe import (
    Condition,
    EpisodeKey,
    Plan,
    PlannedEpisode,
    Probe,
    Suite,
    TokenAlphabet,
)
from agent_litmus.suite.tokens import Minter


def make_plan(
    suite: Suite,
    *,
    seeds: int,
    repeats: int = 1,
    run_seed: int = 0,
    token_seed: int = 0,
    only: Sequence[str] = (),
    limit: int | None = None,
) -> Plan:
    """Plan a run of ``suite``.

    Order is a shuffle by ``run_seed`` alone; tokens are drawn by ``token_seed``, which a run draws afresh, so
    that two runs with one run seed never share tokens. ``only`` are glob patterns of probe ids; the controls of
    the probes they select come along. ``limit`` keeps the first episodes of the shuffled order.

    Raises:
        LitmusConfigError: A pattern selects nothing, or nothing is left to run.
    """
    everything = _keys(suite.probes, seeds, repeats)
    kept = _select(suite, only)
    ordered = [key for key in _shuffled(everything, run_seed) if key.probe in kept]
    if limit is not None:
        ordered = ordered[:limit]
    if not ordered:
        raise LitmusConfigError(
            f"{suite.source or suite.id}: zero probes selected",
            hint="give a positive --limit and a --probe pattern that `litmus suite show` lists",
            slug="empty-plan",
        )
    tokens = _tokens(suite, len(ordered), token_seed)
    episodes = tuple(
        PlannedEpisode(key, order, {slot: column[order] for slot, column in tokens.items()})
        for order, key in enumerate(ordered)
    )
    digest = digest_of([[str(e.key), e.order, dict(e.tokens)] for e in episodes])
    return Plan(episodes, run_seed, len(everything), digest)


def _keys(probes: Iterable[Probe], seeds: int, repeats: int) -> list[EpisodeKey]:
    return [
        EpisodeKey(probe.id, probe.condition, seed, repeat)
        for probe in probes
        for seed in range(seeds)
        for repeat in range(repeats)
    ]


def _shuffled(keys: Sequence[EpisodeKey], run_seed: int) -> list[EpisodeKey]:
    ordered = sorted(keys)
    random.Random(run_seed).shuffle(ordered)  # noqa: S311 - an order to reproduce, not a secret
    return ordered


def _select(suite: Suite, patterns: Sequence[str]) -> frozenset[str]:
    if not patterns:
        return frozenset(probe.id for probe in suite.probes)
    chosen: set[str] = set()
    for pattern in patterns:
        matched = [probe for probe in suite.probes if fnmatchcase(probe.id, pattern)]
        if not matched:
            raise LitmusConfigError(
                f"--probe {pattern!r} selects zero probes of {suite.source or suite.id}",
                hint="list the probe ids with `litmus suite show`; patterns are shell globs over whole ids",
                slug="empty-plan",
            )
        chosen.update(probe.id for probe in matched)
        chosen.update(probe.host.id for probe in matched if probe.condition is Condition.INJECTED)
    return frozenset(chosen)


def more_tokens(suite: Suite, episodes: int, more: int, token_seed: int) -> tuple[dict[str, str], ...]:
    """Tokens of ``more`` sessions beside a plan of ``episodes``, none of which the plan has.

    Raises:
        LitmusConfigError: An alphabet has too few tokens.
    """
    minter = Minter(token_seed)
    found: tuple[dict[str, str], ...] = tuple({} for _ in range(more))
    for alphabet in TokenAlphabet:
        slots = sorted(slot for slot, kind in suite.tokens.items() if kind is alphabet)
        drawn = iter(minter.mint(alphabet.value, alphabet, (episodes + more) * len(slots))[episodes * len(slots) :])
        for own in found:
            own.update((slot, next(drawn)) for slot in slots)
    return found


def _tokens(suite: Suite, episodes: int, token_seed: int) -> dict[str, tuple[str, ...]]:
    """One column of tokens per slot; slots of one alphabet share a draw, so no two tokens of a run are equal."""
    minter = Minter(token_seed)
    columns: dict[str, tuple[str, ...]] = {}
    for alphabet in TokenAlphabet:
        slots = sorted(slot for slot, kind in suite.tokens.items() if kind is alphabet)
        drawn = minter.mint(alphabet.value, alphabet, episodes * len(slots)) if slots else ()
        for index, slot in enumerate(slots):
            columns[slot] = tuple(drawn[index * episodes : (index + 1) * episodes])
    return columns
