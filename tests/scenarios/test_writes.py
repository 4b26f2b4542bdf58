"""How rows reach the target beside whole-row upserts: named columns, changelogs, whole partitions, the whole table."""

from __future__ import annotations

from decimal import Decimal

from tests.kit.lake import Lake, Row

NOTES = "id string, ts bigint, note string, noted_at bigint, day string"
DAY = "2026-01-05"
COLUMNS = ",\n  note STRING, noted_at BIGINT, priced_at BIGINT"
OWN_NOTES = "write: {strategy: merge, columns: [note, noted_at], ordering: noted_at%s}\n"


def land_notes(lake: Lake, *notes: tuple[str, int, str | None, int]) -> None:
    lake.land([(*note, DAY) for note in notes], table="raw.notes", schema=NOTES)


def events(*items: tuple[str, int, str]) -> list[Row]:
    return [(key, ts, Decimal(amount), DAY) for key, ts, amount in items]


def two_owners(lake: Lake, table_type: str, when_not_matched: str = "insert") -> None:
    """Write two pipelines that own disjoint columns of one table: amounts by the one, notes by the other."""
    ddl = {"columns": COLUMNS, "table_type": table_type, "properties": ""}
    lake.pipeline("amounts", "SELECT id, ts, amount, ts AS priced_at, day FROM <SRC>",
                  top="write: {strategy: merge, columns: [amount, priced_at], ordering: priced_at}\n", **ddl)
    lake.pipeline("notes", "SELECT id, ts, note, noted_at, day FROM <SRC>", source="raw.notes",
                  top=OWN_NOTES % f", when_not_matched: {when_not_matched}", **ddl)
    for name in ("amounts", "notes"):
        file = lake.project_root / f"ddl/{name}.sql"
        file.write_text(file.read_text().replace(f"derived.{name}", "derived.both"))


def test_two_pipelines_own_columns_of_one_table(lake: Lake) -> None:
    lake.land(events(("a", 1, "1.00"), ("b", 1, "2.00")))
    land_notes(lake, ("a", 1, "first", 5), ("new", 1, "only a note", 5))
    two_owners(lake, "mor")
    for name in ("amounts", "notes"):
        lake.run_ok(name)
    table = "derived.both", "id", "amount", "note"
    assert lake.rows(*table) == [("a", Decimal("1.00"), "first"), ("b", Decimal("2.00"), None), ("new", None, "only a note")]

    # Each goes on from its own checkpoint, and a newer row of the one is no reason to refuse the other's older one.
    lake.land(events(("a", 50, "9.00")))
    lake.run_ok("amounts")
    land_notes(lake, ("a", 2, "second", 6))
    lake.run_ok("notes")
    land_notes(lake, ("a", 3, "late and older", 4), ("b", 3, "b's", 7))
    lake.run_ok("notes")
    assert lake.rows(*table) == [
        ("a", Decimal("9.00"), "second"), ("b", Decimal("2.00"), "b's"), ("new", None, "only a note"),
    ]
    assert [lake.run_ok(name).outcome for name in ("amounts", "notes")] == ["idle", "idle"]


def test_a_row_without_a_counterpart_may_be_dropped(lake: Lake) -> None:
    lake.land(events(("a", 1, "1.00")))
    land_notes(lake, ("a", 1, "first", 5), ("new", 1, "only a note", 5))
    two_owners(lake, "cow", "ignore")
    for name in ("amounts", "notes"):
        lake.run_ok(name)
    assert lake.rows("derived.both", "id", "note") == [("a", "first")]


CHANGES = "id string, ts bigint, amount decimal(10,2), note string, changed array<string>, day string"


Change = tuple[str, int, str | None, str | None, list[str] | None]


def land_changes(lake: Lake, *changes: Change) -> None:
    batch = [(key, ts, amount and Decimal(amount), note, changed, DAY) for key, ts, amount, note, changed in changes]
    lake.land(batch, table="raw.changes", schema=CHANGES)


def test_a_changelog_changes_only_what_a_row_carries(lake: Lake) -> None:
    lake.pipeline(
        sql="SELECT id, ts, amount, note, changed, day FROM <SRC>", source="raw.changes", columns=",\n  note STRING",
        top="write: {strategy: partial_update, columns: [amount, note], changed_columns: changed}\n", table_type="mor",
    )
    land_changes(lake, ("a", 1, "1.00", "x", ["amount", "note"]), ("b", 1, "2.00", None, ["amount"]))
    lake.run_ok()
    # The source's own merge would keep one row of a key; two commits, read by one run, are two rows of the batch's history.
    land_changes(lake, ("a", 2, None, None, ["note"]), ("b", 2, None, "b's", ["note"]))
    lake.run_ok()
    land_changes(lake, ("a", 3, "7.00", None, ["amount"]), ("c", 1, None, "c's", ["note"]))
    lake.run_ok()
    land_changes(lake, ("a", 9, None, None, []))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "amount", "note") == [
        ("a", Decimal("7.00"), None), ("b", Decimal("2.00"), "b's"), ("c", None, "c's"),
    ]
    land_changes(lake, ("a", 10, None, "back", ["note"]))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "ts", "amount", "note")[0] == ("a", 10, Decimal("7.00"), "back")


def test_several_changes_of_a_key_in_one_batch_each_keep_their_column(lake: Lake) -> None:
    lake.pipeline(
        sql="""SELECT id, ts + n AS ts, if(n = 0, amount, null) AS amount, if(n = 1, 'n1', null) AS note, day
               FROM <SRC> LATERAL VIEW explode(array(0, 1)) x AS n""",
        columns=",\n  note STRING", top="write: {strategy: partial_update, columns: [amount, note]}\n",
    )
    lake.land(events(("a", 1, "1.00")))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "ts", "amount", "note") == [("a", 2, Decimal("1.00"), "n1")]


def test_a_full_outer_join_overwrites_the_table_and_nulls_no_column(lake: Lake) -> None:
    lake.land(events(("a", 1, "1.00"), ("b", 1, "2.00")))
    lake.pipeline("copy", "SELECT id, ts, amount FROM <SRC>",
                  top="write: {strategy: full_outer_join, columns: [amount]}\n", columns="")
    ddl = lake.project_root / "ddl/copy.sql"
    ddl.write_text("""CREATE TABLE derived.copy (id STRING NOT NULL, ts BIGINT NOT NULL, amount DECIMAL(10,2), grade STRING)
        USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts')""")
    lake.run_ok()
    # Somebody else's column, which no increment of this pipeline knows.
    lake.land([("a", 1, Decimal("1.00"), "gold"), ("b", 1, Decimal("2.00"), "blue")], table="derived.copy",
              schema="id string, ts bigint, amount decimal(10,2), grade string",
              **{"hoodie.datasource.write.partitionpath.field": ""})
    lake.land(events(("a", 5, "9.00"), ("c", 5, "3.00")))
    result = lake.run_ok()
    assert lake.rows("derived.copy", "id", "ts", "amount", "grade") == [
        ("a", 5, Decimal("9.00"), "gold"), ("b", 1, Decimal("2.00"), "blue"), ("c", 5, Decimal("3.00"), None),
    ]
    assert lake.state().commits[-1].action == "replacecommit"
    assert lake.position() == result.checkpoint == lake.state("raw.events").commits[-1].completed


def test_a_run_replaces_the_partitions_that_its_rows_belong_to(lake: Lake) -> None:
    lake.pipeline(
        sql="SELECT r.id, r.ts, r.amount, r.day FROM rest r WHERE r.amount < 5",
        top="inputs: {rest: {table: raw.events, read: affected_partitions, on: {day: day}}}\n",
        hoodie={"hoodie.datasource.write.operation": "insert_overwrite"},
    )
    sql = lake.project_root / "transformers/copy.sql"
    sql.write_text("WITH changed AS (SELECT DISTINCT day FROM <SRC>) "
                   "SELECT r.id, r.ts, r.amount, r.day FROM rest r JOIN changed c ON c.day = r.day WHERE r.amount < 5")
    lake.land(events(("a", 1, "1.00"), ("b", 1, "2.00")))
    lake.land([("z", 1, Decimal("1.00"), "2026-01-06")])
    lake.run_ok()
    # b leaves the table by no delete: its partition is computed anew without it, and the other day is not touched.
    lake.land(events(("b", 2, "7.00")))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "day") == [("a", DAY), ("z", "2026-01-06")]
    assert lake.state().info(lake.state().commits[-1]).partitions == (DAY,)
