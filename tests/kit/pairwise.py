"""Rows of a table of factors in which every two values of two factors meet: a covering array of strength two."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

Row = dict[str, Any]
Pair = tuple[tuple[str, int], tuple[str, int]]


def pairwise(factors: Mapping[str, Sequence[Any]], seed: int, allowed: Callable[[Row], bool] = lambda row: True) -> list[Row]:
    """Return rows of the full product, chosen greedily, that hold every pair which any allowed row holds.

    Args:
        factors: Values by factor.
        seed: Of the choice among rows that add as many pairs; the same seed gives the same rows.
        allowed: False for a row that cannot be.
    """
    names = list(factors)
    every = [indexes for indexes in product(*(range(len(factors[name])) for name in names))
             if allowed(_row(factors, names, indexes))]
    random.Random(seed).shuffle(every)
    pairs = {indexes: _pairs(names, indexes) for indexes in every}
    missing = set().union(*pairs.values()) if pairs else set()
    found = []
    while missing:
        best = max(every, key=lambda indexes: len(pairs[indexes] & missing))
        missing -= pairs[best]
        found.append(_row(factors, names, best))
    return found


def _row(factors: Mapping[str, Sequence[Any]], names: Sequence[str], indexes: Sequence[int]) -> Row:
    return {name: factors[name][index] for name, index in zip(names, indexes, strict=True)}


def _pairs(names: Sequence[str], indexes: Sequence[int]) -> set[Pair]:
    return set(combinations(zip(names, indexes, strict=True), 2))
