"""What `freshet show` finds: rows now, at a time, changed since; and how it prints them."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.errors import DataError, StateError
from freshet.hudi.instants import instant_of
from freshet.run.show import Wanted, show_rows
from freshet.sources.hudi.history import before_the_newest
from tests.kit.lake import Lake, rows


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("20261125235437123", "20261125235437123"),
        ("20261125235437", "20261125235437000"),
        ("2026-11-25", "20261125000000000"),
        ("2026-11-25 23:54", "20261125235400000"),
        ("2026-11-25T23:54:37.123Z", "20261125235437123"),
        ("yesterday", ""),
        ("", ""),
        ("2026-11", ""),
        ("20261125 2", ""),
        ("\u00b22026-11-25", ""),
    ],
)
def test_a_time_as_people_and_as_hudi_write_it(text: str, instant: str) -> None:
    assert instant_of(text) == instant


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_now_then_and_changed_since(lake: Lake, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    options = {"hoodie.datasource.write.table.type": kind, "hoodie.table.cdc.enabled": "true"}
    first = lake.land(rows(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1")), **options)
    lake.land(rows(("a", 2, "2")), **options)
    lake.land(rows(("b", 2, "1")), operation="delete", **options)
    lake.land(rows(("d", 2, "1")), **options)

    def shown(**wanted: Any) -> list[tuple[Any, ...]]:
        found = show_rows(lake.spark, lake.state("raw.events"), Wanted(**wanted))
        assert len(found.rows) <= wanted.get("limit", 20)
        return [tuple(map(str, row)) for row in found.rows]

    assert shown(columns=("id", "ts")) == [("a", "2"), ("c", "1"), ("d", "2")]
    assert shown(columns=("ts",)) == [("2",), ("1",), ("2",)], "by a key that is not shown"
    assert shown(columns=("id", "ts"), at=first) == [("a", "1"), ("b", "1"), ("c", "1")]
    assert shown(columns=("id", "_change"), since=first) == [("a", "changed"), ("b", "deleted"), ("d", "new")]
    assert shown(columns=("id",), since=first, where="_hoodie_is_deleted") == [("b",)]
    assert shown(columns=("id", "_change"), since=before_the_newest(lake.state("raw.events"))) == [("d", "new")]
    assert {row[0] for row in shown(columns=("_change",), since="20200101000000000")} == {"new"}, "from the very begin"
    assert shown(where="amount > 1", columns=("id", "amount")) == [("a", "2.00")]
    assert shown(since=lake.state("raw.events").commits[-1].completed) == []
    found = show_rows(lake.spark, lake.state("raw.events"), Wanted(limit=1))
    assert (len(found.rows), found.more, found.columns) == (1, True, ("id", "ts", "amount", "day"))
    monkeypatch.setattr("freshet.run.show._SORTED_BYTES", 0)
    assert shown(columns=("id",)) == [("a",), ("c",), ("d",)], "those that are found, sorted among themselves"
    with pytest.raises(DataError, match="BAD_CONDITION"):
        show_rows(lake.spark, lake.state("raw.events"), Wanted(where="nothing = 1"))
    with pytest.raises(DataError, match="BAD_CONDITION"):
        show_rows(lake.spark, lake.state("raw.events"), Wanted(columns=("id) FROM x --",)))


def test_what_is_not_kept_any_more_is_refused(lake: Lake) -> None:
    lake.pipeline()
    for ts in range(1, 6):
        lake.land(rows(("a", ts, "1")), **{"hoodie.clean.commits.retained": "1"})
    first = lake.state("raw.events").commits[0].completed
    with pytest.raises(StateError, match="VERSION_CLEANED"):
        show_rows(lake.spark, lake.state("raw.events"), Wanted(at=first))
