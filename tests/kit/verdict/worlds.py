"""Real tables with many histories side by side, each with keys and groups of its own, and commits that complete late."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tests.kit.lake import Lake
from tests.kit.verdict.model import SRC
from tests.kit.verdict.sqlite import Row
from tests.kit.verdict.table import Table

Rows = dict[Any, Row]
#: Numbers that a history has for its keys and groups.
WORLD = 8
#: The main source of pipelines that read it by partitions, and of those that do not.
SOURCES = {True: "raw.rows", False: "raw.flat"}


def land(lake: Lake, table: str, shape: Table, rows: Sequence[Row], operation: str = "upsert") -> None:
    """Write a commit of rows to a table of this shape, which records its changes; none where there are no rows."""
    if not rows:
        return
    keys = "Nonpartitioned" if not shape.partition else "Complex" if len(shape.key) > 1 else "Simple"
    lake.land(
        [tuple(row[column] for column in shape.columns) for row in rows],
        operation,
        table,
        ", ".join(f"{column} bigint" for column in shape.columns),
        **{
            "hoodie.table.cdc.enabled": "true",
            "hoodie.datasource.write.recordkey.field": ",".join(shape.key),
            "hoodie.datasource.write.precombine.field": shape.ordering,
            "hoodie.datasource.write.partitionpath.field": ",".join(shape.partition),
            "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{keys}KeyGenerator",
        },
    )


def become(lake: Lake, table: str, shape: Table, before: Rows, after: Rows) -> None:
    """Land what makes of a table's rows other ones: a commit of deletes, and one of the rest."""

    def place(row: Row) -> list[Any]:
        return [row[column] for column in shape.partition]

    gone = [row for key, row in before.items() if key not in after or place(after[key]) != place(row)]
    land(lake, table, shape, gone, "delete")
    land(lake, table, shape, [row for key, row in after.items() if before.get(key) != row])


class Worlds:
    """Tables that many pipelines share, with a history in each range of eight numbers.

    Args:
        lake: The lake.
        shapes: The tables by their names in the pipelines.
        chance: Draws what happens.
        count: How many histories there are.
        sources: Which of ``SOURCES`` hold the main source's rows.
    """

    def __init__(self, lake: Lake, shapes: Mapping[str, Table], chance: random.Random, count: int, sources: set[str]) -> None:
        self.lake, self.shapes, self.chance, self.count, self.clock = lake, shapes, chance, count, 0
        self.rows: dict[str, Rows] = {name: {} for name in shapes}
        flat = Table.of("id* g a v day updated_at^")
        own = [(table, shapes[SRC] if table == SOURCES[True] else flat) for table in sorted(sources)]
        self.tables = {name: own if name == SRC else [(f"raw.{name}", shape)] for name, shape in shapes.items()}

    def begin(self) -> None:
        """Write what every history begins with."""
        new = {name: dict(rows) for name, rows in self.rows.items()}
        for name in new:
            for world in range(self.count):
                for key in (1, 2, 3):
                    self._put(new, name, world, key)
        self._go(new)

    def change(self, tables: Sequence[str]) -> None:
        """Change a few rows of some of these tables in every history."""
        new = {name: dict(rows) for name, rows in self.rows.items()}
        for world in range(self.count):
            for name in self.chance.sample(list(tables), self.chance.choice((1, 1, min(2, len(tables))))):
                for key in self.chance.sample((1, 2, 3, 4), self.chance.choice((1, 2))):
                    kept = new[name].get(world * WORLD + key)
                    if kept is not None and self.chance.random() < 0.3:
                        del new[name][world * WORLD + key]
                    elif kept is not None and self.chance.random() < 0.1:
                        # Written again as it was.
                        new[name][world * WORLD + key] = {**kept, "updated_at": self._tick()}
                    else:
                        self._put(new, name, world, key)
        self._go(new)

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _put(self, new: dict[str, Rows], name: str, world: int, key: int) -> None:
        shape, base, of = self.shapes[name], world * WORLD, self.chance
        values = {"g": base + of.choice((1, 2)), "a": of.choice((base + 1, base + 2, base + 3, None)), "day": of.choice((1, 2))}
        small = of.choice((0, 1, 2, 5, None))
        row = {column: values.get(column, small) for column in shape.columns}
        new[name][base + key] = {**row, shape.key[0]: base + key, shape.ordering: self._tick()}

    def _go(self, new: dict[str, Rows]) -> None:
        for name, tables in self.tables.items():
            for table, shape in tables:
                become(self.lake, table, shape, self.rows[name], new[name])
        self.rows = new


def hidden(lake: Lake, table: str) -> tuple[Path, Path]:
    """Take away that a table's newest commit has completed; ``complete`` takes what is returned."""
    last = lake.state(table).commits[-1]
    place = Path(lake.path(table)) / f".hoodie/timeline/{last.requested}_{last.completed}.{last.action}"
    return place.rename(lake.root / place.name), place


def complete(held: tuple[Path, Path]) -> None:
    """Let a commit complete now."""
    where, place = held
    began, _, action = place.name.replace("_", ".").split(".")
    now = datetime.now(timezone.utc).strftime("%Y%m%d%H%M%S%f")[:17]
    where.rename(place.with_name(f"{began}_{now}.{action}"))
