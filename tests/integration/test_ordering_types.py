"""Ordering fields of every type: the newer row wins and a delete deletes, before a compaction and after it; or it is refused.

What was tried on Hudi 1.0.2 (a delete by ``_hoodie_is_deleted``; a row that moves under a global index is such a delete):

| ordering field | COPY_ON_WRITE | MERGE_ON_READ | MERGE_ON_READ with deletes |
| --- | --- | --- | --- |
| TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BOOLEAN, TIMESTAMP | right | right | right |
| DECIMAL | right | right | no reader can read the table, a compaction fails (ClassCastException) |
| DATE | right | right | every write with a delete fails (UnresolvedUnionException) |
| BINARY | an older row wins where a byte is above 7F | no reader can read the table | the same |
| TIMESTAMP_NTZ | no row can be written | the same | the same |

Times before 1900 and dates before 1582 are ordered right, and a compaction of them needs Spark's calendar to be set.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from freshet.errors import SpecError
from freshet.hudi.timeline import TimelineState
from freshet.run.service import run_services
from tests.kit.lake import Lake, Row, rows

# Each list in ascending order, across zero, across 1970, across a calendar.
VALUES = {
    "TINYINT": ("-10", "-1", "5", "20"),
    "SMALLINT": ("-1000", "-1", "5", "2000"),
    "INT": ("-1000", "-1", "5", "2000"),
    "BIGINT": ("-1000", "-1", "5", "2000"),
    "FLOAT": ("-10.5", "-1.5", "0.25", "1e10"),
    "DOUBLE": ("-10.5", "-1.5", "0.25", "1e10"),
    "STRING": ("", "a", "b", "z"),
    "BOOLEAN": ("false", "true"),
    "DATE": ("1500-01-05", "1969-12-31", "2026-01-05", "2026-01-06"),
    "TIMESTAMP": (
        "1800-01-01 00:00:00",
        "1969-12-31 23:59:59.999999",
        "2026-01-05 10:11:12.345678",
        "2026-01-05 10:11:12.345679",
    ),
    "DECIMAL(5,2)": ("-300", "-1", "0.5", "300"),
    "DECIMAL(38,10)": ("-300", "-1", "0.5", "300"),
}
REFUSED = ("DATE", "DECIMAL(5,2)", "DECIMAL(38,10)")
TABLES = ("cow", "mor", "mor deletes")
CELLS = [(kind, table) for kind in VALUES for table in TABLES if table != "mor deletes" or kind not in REFUSED]
FEW = [("TIMESTAMP", "mor deletes"), ("DECIMAL(5,2)", "mor"), ("DATE", "mor"), ("DECIMAL(38,10)", "cow")]
FULL = bool(os.environ.get("FRESHET_FULL"))
DDL = """\
CREATE TABLE derived.copy (
  id STRING NOT NULL,
  at {kind} NOT NULL,
  what STRING{mark},
  day STRING NOT NULL
) USING hudi PARTITIONED BY (day)
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'at', type = '{type}')
"""


def pipeline(lake: Lake, kind: str, table: str, **hoodie: Any) -> None:
    """Write a pipeline whose row is ``key,number of the value,what,deleted`` in the event's ``id``."""
    texts = ", ".join(f"'{text}'" for text in VALUES.get(kind, ("00", "7F", "80", "FF")))
    value = f"element_at(array({texts}), CAST(split(id, ',')[1] AS INT) + 1)"
    value = f"unhex({value})" if kind == "BINARY" else f"CAST({value} AS {kind})"
    deletes = table != "mor"
    mark = ", CAST(split(id, ',')[3] AS BOOLEAN) AS _hoodie_is_deleted" * deletes
    lake.pipeline(
        sql=f"SELECT split(id, ',')[0] AS id, {value} AS at, split(id, ',')[2] AS what{mark}, day FROM <SRC>",
        hoodie={"hoodie.compact.inline.max.delta.commits": 3, **hoodie},
    )
    lake.write_file("ddl/copy.sql", DDL.format(kind=kind, type=table[:3], mark=",\n  _hoodie_is_deleted BOOLEAN" * deletes))


class History:
    """What was written, one commit after the other, and what must stand then."""

    def __init__(self, lake: Lake, kind: str, table: str) -> None:
        self.lake, self.deletes = lake, table != "mor"
        self.stands: dict[str, str] = {}
        self.steps = [(low, low + 1) for low in range(len(VALUES[kind]) - 1)]
        self.commits = 0

    def write(self, *changes: tuple[str, int, str, bool]) -> None:
        self.commits += 1
        landed: list[Row] = rows(
            *((f"{key},{value},{what},{str(gone).lower()}", self.commits, "1") for key, value, what, gone in changes)
        )
        self.lake.land(landed)
        self.lake.run_ok()

    def begin(self, names: str) -> None:
        """Insert keys that the next change meets: with a lower value, or with a higher one."""
        first = [
            (f"{name}{kind}{low}", low if kind in "uc" else high, "old", False)
            for name in names
            for low, high in self.steps
            for kind in "uldc"
            if self.deletes or kind in "ul"
        ]
        self.write(*first)
        self.stands |= {key: "old" for key, *_ in first}
        self.holds()

    def change(self, name: str) -> None:
        """Write a newer row (u), a late one (l), a delete that is late (d), and one that is not (c)."""
        changes = [
            (f"{name}{kind}{low}", high if kind in "uc" else low, "new", kind in "dc")
            for low, high in self.steps
            for kind in "uldc"
            if self.deletes or kind in "ul"
        ]
        self.write(*changes)
        self.stands |= {key: "new" for key, *_ in changes if key[1] == "u"}
        for key, *_ in changes:
            if key[1] == "c":
                del self.stands[key]
        self.holds()

    def holds(self) -> None:
        found = self.lake.rows("derived.copy", "id", "what")
        assert dict(found) == self.stands
        assert len(found) == len(self.stands)


@pytest.mark.parametrize(("kind", "table"), CELLS if FULL else FEW)
def test_the_newer_row_wins_and_a_delete_deletes(lake: Lake, kind: str, table: str) -> None:
    pipeline(lake, kind, table)
    history = History(lake, kind, table)
    history.begin("xy")
    history.change("x")
    # With this commit comes the compaction.
    last = len(VALUES[kind]) - 1
    history.write(("z", last, "old", False))
    history.stands["z"] = "old"
    history.holds()
    compacted = [i for i in lake.state().commits if i.action == "commit"]
    assert bool(compacted) == (table != "cow") or table == "cow"
    history.change("y")


@pytest.mark.parametrize("kind", ["TIMESTAMP", "DATE"])
def test_a_service_compacts_times_of_another_calendar(lake: Lake, kind: str) -> None:
    pipeline(lake, kind, "mor", **{"hoodie.compact.inline": "false"})
    history = History(lake, kind, "mor")
    history.begin("x")
    history.change("x")
    done = run_services(lake.spec(), TimelineState(), ("compact",), lake.events.append).done
    assert done["compact"] != "nothing to do"
    history.holds()


@pytest.mark.parametrize("kind", [*REFUSED, "BINARY", "TIMESTAMP_NTZ"])
def test_what_hudi_cannot_do_is_refused(lake: Lake, kind: str) -> None:
    pipeline(lake, kind, "mor deletes")
    with pytest.raises(SpecError) as refused:
        lake.spec()
    assert {problem.code for problem in refused.value.problems} == {
        "UNSUPPORTED_TYPE" if kind == "TIMESTAMP_NTZ" else "ORDERING_TYPE"
    }


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        ("DECIMAL(5,2)", "mor deletes"),
        ("DATE", "mor deletes"),
        ("BINARY", "cow"),
        ("BINARY", "mor"),
    ][: None if FULL else 2],
)
def test_what_is_refused_does_fail(
    lake: Lake,
    kind: str,
    table: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where this one fails, a newer Hudi can do more. That a row moves under a record index did fail, too, before freshet
    merged it by a class of its own; it is refused like a move under HBase, which Hudi merges.
    """
    monkeypatch.setattr("freshet.project.rules.column_types.TypeRules.types", lambda *_: None)
    pipeline(lake, kind, table)
    lake.land([("k,1,old,false", 1, None, "2026-01-05")])
    lake.run_ok()
    lake.land([("k,2,new,true", 2, None, "2026-01-05")])
    if lake.run().error is not None:
        return
    try:
        found = lake.rows("derived.copy", "what")
    except (PySparkException, Py4JJavaError):
        return
    assert found != ([] if table != "mor" else [("new",)])
