"""Cohen's kappa: agreement of two raters beyond what their habits alone would give."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agent_litmus.errors import LitmusScoringError
from agent_litmus.scoring.stats.binomial import clopper_pearson_real
from agent_litmus.scoring.stats.interval import Interval, check_level

METHOD = "bootstrap over groups + Clopper-Pearson agreement"
_REPLICATIONS = 2000


def cohen_kappa(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kappa of square tables, shape (..., K, K): (observed - chance) / (1 - chance) agreement.

    NaN where chance agreement is 1 or the table is empty.
    """
    total = table.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(table, axis1=-2, axis2=-1) / total
        chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
        return np.asarray((observed - chance) / np.where(chance < 1.0, 1.0 - chance, np.nan))


def kappa_interval(
    one: Sequence[bool], other: Sequence[bool], groups: Sequence[str], *, level: float = 0.95, seed: int = 0
) -> Interval:
    """Kappa of two raters' yes or no, with its interval.

    Items of one group (a scenario) are alike, so groups are resampled, not items. Where nearly all agree that
    collapses to a point; the bounds are therefore the outer of it and of kappa at the exact bounds of agreement.

    Args:
        one: A rater's verdicts.
        other: The other's, on the same items.
        groups: Group of each item.
        level: Two-sided confidence, in (0, 1).
        seed: Seed of the resampling.

    Raises:
        LitmusScoringError: The columns differ in length, or the level is out of range.
    """
    check_level(level)
    if not len(one) == len(other) == len(groups):
        raise LitmusScoringError(
            f"columns differ in length: {len(one)}, {len(other)} and {len(groups)}",
            hint="give both verdicts and the group of every item",
            slug="ragged-columns",
        )
    tables = _tables(one, other, groups)
    whole = tables.sum(axis=0)
    value = float(cohen_kappa(whole))
    if np.isnan(value):
        return Interval(None, None, None, len(one), METHOD)
    draws = np.random.default_rng(seed).multinomial(
        len(tables), np.full(len(tables), 1 / len(tables)), _REPLICATIONS
    )
    resampled = cohen_kappa(np.einsum("rg,gij->rij", draws, tables))
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(resampled, [tail, 1.0 - tail])
    exact_low, exact_high = _exact(whole, level)
    return Interval(value, float(min(low, exact_low, value)), float(max(high, exact_high, value)), len(one), METHOD)


def _tables(one: Sequence[bool], other: Sequence[bool], groups: Sequence[str]) -> NDArray[np.float64]:
    number = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    tables = np.zeros((max(len(number), 1), 2, 2))
    for mine, theirs, group in zip(one, other, groups, strict=True):
        tables[number[group], int(mine), int(theirs)] += 1
    return tables


def _exact(table: NDArray[np.float64], level: float) -> tuple[float, float]:
    total = float(table.sum())
    low, high = clopper_pearson_real(float(np.trace(table)) / total, total, level=level)
    chance = float((table.sum(axis=1) * table.sum(axis=0)).sum()) / total**2
    return (float(low) - chance) / (1.0 - chance), (float(high) - chance) / (1.0 - chance)
