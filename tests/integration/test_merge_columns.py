"""What `merge_columns` means, over one small table: each strategy's whole rows, and the same said in plain Python.

That runs publish what it makes, commit after commit, is held by tests/scenarios/test_rounds.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from pyspark.sql import SparkSession

from freshet.plan.stages import MergeColumns
from freshet.project.model.pipeline import TableRef
from freshet.sinks.merge import merge_columns
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame
from tests.kit.lake import Lake

Row = tuple[Any, ...]
KINDS = {"id": "string", "ts": "bigint", "at": "bigint", "amount": "int", "note": "string", "day": "string"}
TABLE_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
BATCH_SCHEMA = "id string, ts bigint, at bigint, amount int, changed array<string>, gone boolean, day string"
#: One that is older and one that is newer than what comes, one whose part was never set, one that nothing comes for.
STANDS: tuple[Row, ...] = (
    ("old", 5, 5, 1, "kept", "mon"),
    ("newer", 50, 50, 2, "kept", "mon"),
    ("unset", 5, None, None, "kept", "mon"),
    ("else", 5, 5, 4, "kept", "tue"),
    ("gone", 5, 5, 5, "kept", "mon"),
)
BOTH = ["at", "amount"]
ROWS: tuple[Row, ...] = (
    ("old", 9, 9, 10, BOTH, False, "mon"),
    ("newer", 9, 9, 20, BOTH, False, "mon"),
    ("unset", 3, 3, 30, BOTH, None, "mon"),
    # Two of one key: the older carries an amount, the newer none; and the other way round, with a null that is a value.
    ("twice", 7, 7, 40, BOTH, False, "mon"),
    ("twice", 8, 8, None, ["at"], False, "mon"),
    ("null", 7, 7, 50, BOTH, False, "mon"),
    ("null", 8, 8, None, BOTH, False, "mon"),
    ("gone", 9, 9, None, [], True, "mon"),
    ("never", 9, 9, None, [], True, "mon"),
    # A row that came back after it was gone, and one that is gone after it came.
    ("back", 7, 7, None, [], True, "mon"),
    ("back", 8, 8, 60, BOTH, False, "mon"),
    ("left", 7, 7, 70, BOTH, False, "mon"),
    ("left", 8, 8, None, [], True, "mon"),
)


@dataclass(frozen=True)
class How:
    """One way of the strategies."""

    insert_missing: bool
    keep_others: bool
    carries: str
    partitioned: bool


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, TableRef]:
    """Return the table as it stands, with partitions and without."""
    lake = Lake(spark, tmp_path_factory.mktemp("merge"))
    for name, field in (("parts", "day"), ("whole", "")):
        lake.land(STANDS, table=f"raw.{name}", schema=TABLE_SCHEMA, **{"hoodie.datasource.write.partitionpath.field": field})
    return {part: TableRef(name, lake.path(f"raw.{name}")) for part, name in ((True, "parts"), (False, "whole"))}


def expected(how: How, stands: tuple[Row, ...]) -> list[Row]:
    """Return the rows that are written."""
    table = {row[0]: dict(zip(KINDS, row, strict=True)) for row in stands}
    before, touched = set(table), set()
    for key in dict.fromkeys(row[0] for row in ROWS):
        mine = sorted((row for row in ROWS if row[0] == key), key=lambda row: row[2])
        last = mine[-1]
        if key not in before and (last[5] or not how.insert_missing):
            continue
        if key not in before and all(row[5] for row in mine):
            continue
        # Without partitions the day is a column as any other, and not owned: of a new row it stays null.
        row = table.setdefault(key, {**dict.fromkeys(KINDS), "id": key, "day": last[6] if how.partitioned else None})
        touched.add(key)
        stood = row["at"]
        row["ts"] = max(one for one in (row["ts"], *(change[1] for change in mine)) if one is not None)
        for name, place in (("at", 2), ("amount", 3)):
            for change in mine:
                gone = bool(change[5])
                carried = gone or {"all": True, "not null": change[place] is not None, "named": name in change[4]}[how.carries]
                # Of a row that is gone, whatever is newer, nothing is left of the owned columns; an older change sets nothing.
                if carried and (last[5] or stood is None or last[2] >= stood):
                    row[name] = None if gone else change[place]
    kept = set(table) if how.keep_others else touched
    return sorted((tuple(row.values()) for key, row in table.items() if key in kept), key=str)


CELLS = [
    How(*cell)
    for cell in product((True, False), (False, True), ("all", "not null", "named"), (True, False))
    # A full outer join writes the whole of a table without partitions, and what is missing is inserted.
    if not cell[1] or (cell[0] and not cell[3])
]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("how", CELLS, ids=lambda how: "-".join(map(str, vars(how).values())))
def test_whole_rows(spark: SparkSession, tables: dict[bool, TableRef], how: How, exists: bool) -> None:
    stage = MergeColumns(
        table=tables[how.partitioned],
        columns=tuple(Column(name=name, type=parse_type(kind)) for name, kind in KINDS.items()),
        owned=("at", "amount"),
        record_key=("id",),
        partition_by=("day",) if how.partitioned else (),
        ordering="at",
        table_ordering="ts",
        global_index=False,
        insert_missing=how.insert_missing,
        keep_others=how.keep_others,
        null_is_unchanged=how.carries == "not null",
        changed_columns="changed" if how.carries == "named" else "",
        target_exists=exists,
    )
    batch = frame(spark, ROWS, BATCH_SCHEMA).withColumnRenamed("gone", "_hoodie_is_deleted")
    found = sorted((tuple(row) for row in merge_columns(spark, stage, batch, is_kept=False).collect()), key=str)
    assert found == expected(how, STANDS if exists else ())
