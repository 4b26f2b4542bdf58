"""Rows of a table of factors in which every two values of two factors meet: a covering array of strength two."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

Row = dict[str, Any]
#: What was chosen in this process, in words; printed behind the tests' results.
CHOSEN: list[str] = []


def product_of(factors: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Return every row."""
    return [dict(zip(factors, values, strict=True)) for values in product(*factors.values())]


def pairwise(
    name: str,
    factors: Mapping[str, Sequence[Any]],
    seed: int,
    allowed: Callable[[Row], bool] = lambda row: True,
    table: Callable[[Row], str] = lambda row: "",
) -> list[Row]:
    """Return rows of the full product, chosen greedily, that hold every pair which any allowed row holds.

    Args:
        name: What the rows are of.
        factors: Values by factor; values are told apart by their text.
        seed: Of the choice among rows that add as many pairs; the same seed gives the same rows.
        allowed: False for a row that cannot be.
        table: What rows may share, and is dear to make: of rows that add as many pairs one is chosen whose table is there.
    """
    every = [row for row in product_of(factors) if allowed(row)]
    random.Random(seed).shuffle(every)
    pairs = [set(combinations(((factor, str(value)) for factor, value in row.items()), 2)) for row in every]
    missing = set().union(*pairs)
    found, made = [], set[str]()
    while missing:
        best = max(range(len(every)), key=lambda number: (len(pairs[number] & missing), table(every[number]) in made))
        missing -= pairs[best]
        made.add(table(every[best]))
        found.append(every[best])
    rows = ", ".join("-".join(map(str, row.values())) for row in found)
    CHOSEN.append(f"{name}: {len(found)} of {len(every)} rows hold every pair (seed {seed}): {rows}")
    return found
