"""Every increment equals the difference of two snapshots: over kinds of tables, pairwise, each through several operations.

The whole product runs where FRESHET_FULL=1 is set. `tests/kit/history.py` has the operations, and what Hudi cannot do.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from freshet.errors import foreign_text
from tests.kit.history import INDEXES, KINDS, LAYOUTS, OPERATIONS, History, begin, impossible
from tests.kit.pairwise import CHOSEN, pairwise
from tests.kit.whole import WHOLE

PARTIAL = "org.apache.hudi.common.model.PartialUpdateAvroPayload"
FACTORS: dict[str, tuple[Any, ...]] = {"kind": KINDS, "index": INDEXES, "layout": LAYOUTS, "cdc": (True, False)}
Table = tuple[str, str, str, bool]
Cell = tuple[Table, str]


def _cells() -> list[Cell]:
    if WHOLE:
        return list(product(product(*FACTORS.values()), OPERATIONS))  # type: ignore[arg-type]
    tables = [tuple(row.values()) for row in pairwise("increments: tables", FACTORS, seed=29)]
    # Of a layout and of change data, which values mean what is held by test_increment_truth.py.
    missing = {
        (value, operation)
        for operation in OPERATIONS
        for table in tables
        for value in table[:2]
        if not impossible(*table[:3], operation)
    }
    found: list[Cell] = []
    every = [(table, operation) for table in tables for operation in OPERATIONS if not impossible(*table[:3], operation)]
    while missing:
        table, operation = max(every, key=lambda cell: sum((value, cell[1]) in missing for value in cell[0]))
        missing -= {(value, operation) for value in table}
        found.append((table, operation))  # type: ignore[arg-type]
    CHOSEN.append(
        f"increments: {len(found)} operations on these tables hold every kind and every index with every operation: "
        + ", ".join("-".join(map(str, (*table, operation))) for table, operation in found)
    )
    return found


def _by_table() -> dict[tuple[Table, bool], list[str]]:
    found: dict[tuple[Table, bool], list[str]] = {}
    for table, operation in _cells():
        found.setdefault((table, operation == "partial_update"), []).append(operation)
    return dict(sorted(found.items(), key=str))


TABLES = _by_table()


def _name(value: object) -> str:
    return "-".join(map(str, value)) if isinstance(value, tuple) else "partial" * bool(value)


def _is_readable(spark: SparkSession, history: History) -> bool:
    try:
        spark.read.format("hudi").load(str(history.path)).collect()
    except (Py4JJavaError, PySparkException):
        return False
    return True


@pytest.mark.parametrize(("table", "partial"), TABLES, ids=_name)
def test_increments_are_differences(spark: SparkSession, tmp_path: Path, table: Table, partial: bool) -> None:
    """Kind: every operation on every kind of table. A cell that Hudi cannot do says why."""
    history = History(spark, tmp_path / "history", *table, payload=PARTIAL if partial else "")
    begin(history)
    faults = []
    for operation in OPERATIONS:
        if operation not in TABLES[table, partial]:
            continue
        reason = impossible(*table[:3], operation)
        print(*table, operation, f"cannot be: {reason}" if reason else "")
        if reason:
            continue
        try:
            faults += [f"{operation}: {fault}" for fault in OPERATIONS[operation](history)]
            history.settle()
        except (Py4JJavaError, PySparkException) as error:
            if _is_readable(spark, history):
                raise
            # There is nothing that an increment could be held against.
            print("Hudi's own snapshot cannot be read any more:", foreign_text(error))
            break
    assert not faults, "\n".join(faults)
