"""How often nominal 95 % intervals hold on suites that cross host tasks with injections.

    python benchmarks/coverage.py [--reps 2000] [--quick] [--seed 1] [--json FILE]

Each replication draws a new suite: every host, every injection and every cell gets a normal effect on the logit
scale, and every cell some 0/1 episodes. The target is the success probability over all hosts and injections there
could be. Printed per method: coverage, the shares of intervals wholly above the truth (for a safety figure the
dangerous error) and wholly below it, and the mean width. The two-way intervals are computed by the shipped code.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from agent_litmus.scoring.stats.bootstrap import CrossedWeights, crossed_weights, resampled_shares
from agent_litmus.scoring.stats.difference import difference_bounds
from agent_litmus.scoring.stats.twoway import share_bounds

Array: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Array, Array]


@dataclass(frozen=True)
class Effects:
    """Standard deviations of the effects, on the logit scale."""

    name: str
    host: float
    injection: float
    cell: float

    @property
    def total(self) -> float:
        """Standard deviation of their sum."""
        return float(np.sqrt(self.host**2 + self.injection**2 + self.cell**2))


@dataclass(frozen=True)
class Row:
    """One method on one design."""

    effects: str
    hosts: int
    injections: int
    each: int
    p: str
    method: str
    coverage: float
    too_high: float
    too_low: float
    width: float


EFFECTS = (
    Effects("clustered", 1.0, 1.0, 0.5),
    Effects("strong", 2.0, 1.5, 0.5),
    Effects("lopsided", 0.3, 1.5, 0.5),
    Effects("none", 0.0, 0.0, 0.0),
)
DESIGNS = ((6, 4, 2), (20, 10, 2), (100, 30, 1))
SHARES = (0.5, 0.9, 0.97, 0.99)
PAIRS = ((0.5, 0.5), (0.9, 0.8), (0.97, 0.97), (0.99, 0.97))
BLOCK = 250  # replications held at once
BOOTSTRAP = 399
Z = float(special.ndtri(0.975))


@cache
def intercept(p: float, deviation: float) -> float:
    """Logit intercept at which the success probability, averaged over the effects, is ``p``."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()

    def excess(centre: float) -> float:
        return float((weights * special.expit(centre + deviation * nodes)).sum()) - p

    return float(optimize.brentq(excess, -60.0, 60.0))


def suites(rng: np.random.Generator, reps: int, design: tuple[int, int, int], effects: Effects) -> Array:
    """Sums of host, injection and cell effects of so many suites, shape (reps, H, J)."""
    hosts, injections, _ = design
    return np.asarray(
        effects.host * rng.standard_normal((reps, hosts, 1))
        + effects.injection * rng.standard_normal((reps, 1, injections))
        + effects.cell * rng.standard_normal((reps, hosts, injections))
    )


def episodes(rng: np.random.Generator, suite: Array, each: int, p: float, effects: Effects) -> Array:
    """Good episodes per cell of every suite."""
    chance = special.expit(intercept(p, effects.total) + suite)
    return np.asarray(rng.binomial(each, chance), dtype=np.float64)


def wilson_bounds(good: Array, n: Array) -> Bounds:
    """Wilson's closed form, vectorised here as a baseline; the package takes it from scipy."""
    total = n.sum(axis=(1, 2))
    share = good.sum(axis=(1, 2)) / total
    centre = (share + Z**2 / (2 * total)) / (1 + Z**2 / total)
    half = Z * np.sqrt(share * (1 - share) / total + Z**2 / (4 * total**2)) / (1 + Z**2 / total)
    return centre - half, centre + half


def one_way_bounds(good: Array, n: Array) -> Bounds:
    """The t interval clustered by host alone, as a careful reader of a textbook would do it."""
    hosts, total = good.shape[1], n.sum(axis=(1, 2))
    share = good.sum(axis=(1, 2)) / total
    pull = good.sum(axis=2) - share[:, None] * n.sum(axis=2)
    variance = (pull**2).sum(axis=1) / total**2 * hosts / (hosts - 1)
    half = float(special.stdtrit(hosts - 1, 0.975)) * np.sqrt(variance)
    return share - half, share + half


def bootstrap_bounds(good: Array, n: Array, weights: CrossedWeights) -> Bounds:
    low, high = np.quantile(resampled_shares(good, n, weights), [0.025, 0.975], axis=-1)
    return low, high


class Score:
    """Running tally of one method."""

    def __init__(self, least: float = 0.0) -> None:
        self.least = least
        self.reps, self.above, self.below, self.width = 0, 0, 0, 0.0

    def add(self, bounds: Bounds, truth: float) -> None:
        """Count the intervals of one block."""
        low, high = bounds
        self.reps += len(low)
        self.above += int((low > truth + 1e-12).sum())
        self.below += int((high < truth - 1e-12).sum())
        self.width += float((np.minimum(high, 1.0) - np.maximum(low, self.least)).sum())

    def shares(self) -> tuple[float, float, float, float]:
        """Coverage, share wholly above, share wholly below, mean width inside the possible range."""
        above, below = self.above / self.reps, self.below / self.reps
        return 1 - above - below, above, below, self.width / self.reps


def blocks(reps: int) -> Iterator[int]:
    """Sizes of blocks that add up to ``reps``."""
    while reps > 0:
        yield min(BLOCK, reps)
        reps -= BLOCK


def share_rows(effects: Effects, design: tuple[int, int, int], p: float, reps: int, seed: int) -> list[Row]:
    """Every method on shares of one design."""
    rng = np.random.default_rng([seed, *design, int(p * 1000)])
    scores = {name: Score() for name in ("wilson", "one-way", "two-way", "bootstrap")}
    for block, size in enumerate(blocks(reps)):
        good = episodes(rng, suites(rng, size, design, effects), design[2], p, effects)
        n = np.full_like(good, float(design[2]))
        weights = crossed_weights(design[0], design[1], replicates=BOOTSTRAP, seed=seed + block)
        scores["wilson"].add(wilson_bounds(good, n), p)
        scores["one-way"].add(one_way_bounds(good, n), p)
        scores["two-way"].add(share_bounds(good, n), p)
        scores["bootstrap"].add(bootstrap_bounds(good, n, weights), p)
    return [Row(effects.name, *design, f"{p}", name, *score.shares()) for name, score in scores.items()]


def difference_rows(
    effects: Effects, design: tuple[int, int, int], pair: tuple[float, float], reps: int, seed: int
) -> list[Row]:
    """Paired differences of two agents that find the same hosts and injections hard."""
    rng = np.random.default_rng([seed, *design, *(int(p * 1000) for p in pair)])
    own = Effects("own", effects.host / 2, effects.injection / 2, effects.cell)
    whole = Effects(
        "whole", *(float(np.hypot(getattr(effects, k), getattr(own, k))) for k in ("host", "injection", "cell"))
    )
    score = Score(least=-1.0)
    for size in blocks(reps):
        shared = suites(rng, size, design, effects)
        x, y = (episodes(rng, shared + suites(rng, size, design, own), design[2], p, whole) for p in pair)
        n = np.full_like(x, float(design[2]))
        score.add(difference_bounds((x, n), (y, n)), pair[0] - pair[1])
    return [Row(effects.name, *design, f"{pair[0]}-{pair[1]}", "difference", *score.shares())]


def run(reps: int, seed: int) -> Iterator[Row]:
    """Rows in the order they are printed."""
    for effects in EFFECTS:
        for design in DESIGNS:
            for p in SHARES:
                yield from share_rows(effects, design, p, reps, seed)
    for effects in EFFECTS:
        for design in DESIGNS:
            for pair in PAIRS:
                yield from difference_rows(effects, design, pair, reps, seed)


def describe(effects: Effects) -> str:
    return f"{effects.name}: logit SD {effects.host} host, {effects.injection} injection, {effects.cell} cell"


def print_shares(rows: list[Row]) -> None:
    names = ("wilson", "one-way", "two-way", "bootstrap")
    for effects in EFFECTS:
        mine = [row for row in rows if row.effects == effects.name and row.method in names]
        print(f"\n{describe(effects)}\n")
        print(
            "| H x J x each | p |" + "".join(f" {name} |" for name in names) + "\n|---|---|" + "---|" * len(names)
        )
        for start in range(0, len(mine), len(names)):
            group = mine[start : start + len(names)]
            head = f"| {group[0].hosts} x {group[0].injections} x {group[0].each} | {group[0].p} |"
            print(head + "".join(f" {cell(row)} |" for row in group))


def print_differences(rows: list[Row]) -> None:
    print("\npaired differences, two-way\n\n| effects | H x J x each | p of each | two-way |\n|---|---|---|---|")
    for row in (row for row in rows if row.method == "difference"):
        print(f"| {row.effects} | {row.hosts} x {row.injections} x {row.each} | {row.p} | {cell(row)} |")


def cell(row: Row) -> str:
    return f"{100 * row.coverage:.1f} ({100 * row.too_high:.1f} / {100 * row.too_low:.1f}) {row.width:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Actual coverage of nominal 95 %% intervals on crossed suites.")
    parser.add_argument("--reps", type=int, default=2000, help="replications per design (default 2000)")
    parser.add_argument("--quick", action="store_true", help="200 replications")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    options = parser.parse_args()
    reps, start = 200 if options.quick else options.reps, time.perf_counter()
    rows = list(run(reps, options.seed))
    print(
        f"{reps} replications: coverage % (wholly above the truth % / wholly below it %) mean width; "
        "nominal 95.0 (2.5 / 2.5)"
    )
    print_shares(rows)
    print_differences(rows)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
