"""Rows that move to another partition under a record index: one row a key, the newer one, and an index that names its place."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from tests.kit.lake import RECORD_INDEX, Lake, Row, rows

DAYS = ("2026-01-05", "2026-01-06", "a b/c=d%25")


def pipeline(lake: Lake, table_type: str, **more: object) -> None:
    lake.pipeline(table_type=table_type, hoodie=RECORD_INDEX, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("table_type", ["cow", "mor"])
@pytest.mark.parametrize("days", [DAYS[:2], DAYS], ids=["plain paths", "an escaped path"])
def test_the_newest_row_of_each_key_stands_once_wherever_it_came_from(
    lake: Lake,
    table_type: str,
    days: tuple[str, ...],
) -> None:
    drawn = random.Random(f"{table_type} {len(days)}")
    pipeline(lake, table_type)
    newest: dict[str, Row] = {}
    landed: dict[tuple[str, str], int] = {}
    for number in range(7):
        batch = []
        for key in drawn.sample("abcdef", 3):
            row = (key, drawn.randint(1, 12), Decimal(number), drawn.choice(days))
            # What the source itself takes for older it does not give on.
            if row[1] >= landed.get((key, row[3]), 0):
                landed[key, row[3]] = row[1]
                if key not in newest or row[1] >= newest[key][1]:
                    newest[key] = row
            batch.append(row)
        lake.land(batch)
        lake.run_ok()
        assert lake.rows() == sorted(newest.values(), key=str), f"after commit {number}"
    assert lake.index_agrees()


def test_what_stands_in_a_log_is_what_a_row_that_moves_is_held_against(lake: Lake) -> None:
    pipeline(lake, "mor")
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 5, "5"), ("b", 5, "5")))
    lake.run_ok()
    assert list((lake.root / "derived" / "copy" / DAYS[0]).glob(".*.log.*")), "the updates are to stand in a log"
    # Newer than the base file's row, and older than the log's; and newer than both.
    lake.land(rows(("a", 3, "3"), ("b", 7, "7"), day=DAYS[1]))
    lake.run_ok()
    assert lake.rows() == [("a", 5, Decimal(5), DAYS[0]), ("b", 7, Decimal(7), DAYS[1])]
    # Back to the file group that holds it, deleted.
    lake.land(rows(("b", 8, "8")))
    lake.run_ok()
    assert lake.rows() == [("a", 5, Decimal(5), DAYS[0]), ("b", 8, Decimal(8), DAYS[0])]
    assert lake.index_agrees()


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_row_that_moves_after_the_table_got_a_column(lake: Lake, table_type: str) -> None:
    pipeline(lake, table_type)
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    pipeline(lake, table_type, columns=",\n  note STRING", sql="SELECT id, ts, amount, day, concat('n', ts) AS note FROM <SRC>")
    lake.land(rows(("a", 2, "2"), day="2026-01-06"))
    # Older than what stands: that has to stay, without a note.
    lake.land(rows(("b", 0, "9"), day="2026-01-06"))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "ts", "day", "note") == [("a", 2, "2026-01-06", "n2"), ("b", 1, "2026-01-05", None)]
    assert lake.index_agrees()


def test_a_delete_that_names_another_partition_takes_the_row(lake: Lake) -> None:
    deleted = "SELECT id, ts, amount, day, amount < 0 AS _hoodie_is_deleted FROM <SRC>"
    pipeline(lake, "mor", columns=",\n  _hoodie_is_deleted BOOLEAN", sql=deleted)
    lake.land(rows(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "-1"), ("b", 2, "2"), day="2026-01-06"))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "day") == [("b", "2026-01-06"), ("c", "2026-01-05")]
    assert lake.index_agrees()
