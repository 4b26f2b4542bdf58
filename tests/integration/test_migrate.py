"""``freshet migrate``: a table gets a successor, loaded beside it, compared with it, and put in its place by its DDL."""

from __future__ import annotations

from tests.kit.commands import freshet, refused
from tests.kit.lake import RECORD_INDEX, Lake, rows

CDC = ",\n  'hoodie.table.cdc.enabled' = 'true'"
RENAMED = "SELECT id, ts, amount AS price, day FROM <SRC>"


def declare(lake: Lake, *changes: tuple[str, str], name: str = "copy") -> str:
    """Change the DDL as a user does; returns its text."""
    file = lake.project_root / f"ddl/{name}.sql"
    text = file.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    file.write_text(text)
    return text


def test_a_table_gets_a_successor_and_goes_on_in_it(lake: Lake) -> None:
    """Kind: what a table cannot become in place. Members: its type, partitions, a column's name, an index, change data."""
    lake.pipeline(table_type="mor")
    lake.pipeline("after", source="derived.copy")
    lake.land([*rows(("a", 1, "1"), ("b", 1, "1")), *rows(("c", 1, "1"), day="2026-01-06")])
    lake.run_ok()
    lake.run_ok("after")
    old, position = lake.files(), lake.position()
    # What is new in the source waits for the new table.
    lake.land(rows(("a", 2, "2"), ("d", 2, "2")))
    lake.pipeline(sql=RENAMED, properties=CDC, hoodie=RECORD_INDEX)
    declare(lake, ("amount DECIMAL", "price DECIMAL"), ("PARTITIONED BY (day)\n", ""))
    assert "freshet migrate copy" in refused(lake, "run", "copy")["next"]

    shown = freshet(lake, "migrate", "copy", "--rename", "amount=price", "--dry-run")
    assert {one["code"] for one in shown["differences"]} == {
        "TABLE_TYPE_CHANGED",
        "PARTITIONING_CHANGED",
        "SETTING_CHANGED",
        "INDEX_CHANGED",
        "SCHEMA_CHANGED",
        "COLUMN_ADDED",
    }
    assert (shown["after"], shown["location"], shown["upto"], shown["loaded"]) == (
        lake.path("derived.copy__m2"),
        "{{ var.root }}/derived/copy__m2",
        position,
        False,
    )
    done = freshet(lake, "migrate", "copy", "--rename", "amount=price")
    assert (done["switched"], done["differs"]) == (True, False)
    assert "LOCATION '{{ var.root }}/derived/copy__m2'" in (lake.project_root / "ddl/copy.sql").read_text()
    assert lake.files() == old, "it stays as it was"
    state = lake.state("derived.copy__m2")
    assert (state.config.table_type, state.config.records_changes, state.config.partition_by) == ("COPY_ON_WRITE", True, ())
    assert [row[0] for row in lake.rows("derived.copy__m2", "id")] == ["a", "b", "c"]

    # Its checkpoint goes on from where the load has read, and its index knows the rows.
    (run,) = freshet(lake, "run", "copy")["runs"]
    assert (run["outcome"], run["inserts"], run["updates"]) == ("committed", 1, 1)
    assert [(row[0], row[1]) for row in lake.rows("derived.copy__m2", "id", "ts")] == [("a", 2), ("b", 1), ("c", 1), ("d", 2)]
    assert freshet(lake, "migrate", "copy")["switched"] is False, "nothing is left to do"

    # Whoever reads it by its path is told what to write, and holds the old table until then.
    (reader,) = done["readers"]
    assert reader["edit"].startswith(f'write "{lake.path("derived.copy__m2")}" in pipelines/after.yml:')
    assert reader["command"] == "freshet run after --full-refresh"
    assert refused(lake, "migrate", "copy", "--drop-old")["code"] == "OLD_TABLE_READ"
    lake.pipeline(
        "after",
        sql="SELECT id, ts, price AS amount, day FROM <SRC>",
        source="derived.copy__m2",
        hoodie={"hoodie.datasource.query.incremental.format": "latest_state"},
    )
    assert refused(lake, "run", "after")["code"] == "CHECKPOINT_OF_ANOTHER_TABLE"
    freshet(lake, "run", "after", "--full-refresh")
    assert len(lake.rows("derived.after")) == 4
    assert freshet(lake, "migrate", "copy", "--drop-old")["deleted"] == [lake.path("derived.copy")]
    assert not (lake.root / "derived/copy").exists()
    assert freshet(lake, "run", "copy")["runs"][0]["outcome"] == "idle"


def test_rows_that_the_source_has_no_more_are_copied(lake: Lake) -> None:
    """Kind: a recompute that is not what stands. Members: rows that are missing, that differ, a load that is given up."""
    lake.pipeline()
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 1, "1"), day="2026-01-05"), "insert_overwrite_table")
    position = lake.position()
    lake.pipeline(sql="SELECT id, ts, amount + 1 AS price, day FROM <SRC>")
    text = declare(lake, ("amount DECIMAL(10,2)", "price DECIMAL(12,2)"))
    # The version that the old table has read holds both; from the newest one a row is gone.
    error = refused(lake, "migrate", "copy", "--rename", "amount=price", code=7)
    assert (error["code"], error["details"]["only_old"], error["details"]["columns"]) == ("MIGRATION_DIFFERS", 0, {"price": 2})
    assert (lake.project_root / "ddl/copy.sql").read_text() == text
    assert refused(lake, "migrate", "copy", "--copy")["code"] == "MIGRATION_OF_OTHER_FILES"
    # Where the files arrive switched, such a comparison is lost as little.
    place = "LOCATION '{{ var.root }}/derived/copy__m2'\n"
    declare(lake, ("TBLPROPERTIES", f"{place}TBLPROPERTIES"))
    for _ in range(2):
        assert refused(lake, "run", "copy")["code"] == "MIGRATION_NOT_DONE"
        assert refused(lake, "migrate", "copy", "--rename", "amount=price", code=7)["code"] == "MIGRATION_DIFFERS"
    assert freshet(lake, "migrate", "copy", "--abandon")["deleted"] == [lake.path("derived.copy__m2")]
    declare(lake, (place, ""))

    assert refused(lake, "migrate", "copy", "--copy", "--rename", "x=price")["code"] == "UNKNOWN_COLUMN"
    done = freshet(lake, "migrate", "copy", "--copy", "--rename", "amount=price")
    assert (done["switched"], done["differs"]) == (True, False)
    assert [str(row[0]) for row in lake.rows("derived.copy__m2", "price")] == ["1.00", "1.00"]
    assert lake.position("derived.copy__m2") == position
    assert lake.run_ok().outcome == "committed"
    # Put back by hand, the file is refused as before.
    declare(lake, ("LOCATION '{{ var.root }}/derived/copy__m2'\n", ""))
    assert refused(lake, "run", "copy")["code"] == "SCHEMA_CHANGED"
