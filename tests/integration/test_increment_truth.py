"""An increment is the difference of two versions of its source, whatever wrote the source: cases from public problem reports.

Each test says which kind of source its case stands for. `test_increment_matrix.py` draws the whole kinds.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from freshet.errors import FreshetError
from tests.kit.lake import RECORD_INDEX, SCHEMA, Lake, Row, rows

CDC = {"hoodie.table.cdc.enabled": "true"}
MOR = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
GLOBAL = {
    "hoodie.index.type": "GLOBAL_SIMPLE",
    "hoodie.simple.index.update.partition.path": "true",
    "hoodie.global.simple.index.parallelism": "2",
}
TYPES = pytest.mark.parametrize("kind", [{}, MOR], ids=["cow", "mor"])
DELETES = {"columns": ", _hoodie_is_deleted BOOLEAN"}
SOFT = f"{SCHEMA}, _hoodie_is_deleted boolean"
ONE, TWO = "2026-01-05", "2026-01-06"


def failed(lake: Lake, name: str = "copy") -> FreshetError:
    error = lake.run(name).error
    assert error is not None
    return error


def copied(lake: Lake, name: str = "copy", key: str = "id", sql: str = "SELECT * FROM <SRC>", **more: Any) -> None:
    """Declare a copy of the source that passes deletes on, keyed as said."""
    lake.pipeline(name, sql, **{**DELETES, **more})
    ddl = lake.project_root / f"ddl/{name}.sql"
    ddl.write_text(ddl.read_text().replace("primaryKey = 'id'", f"primaryKey = '{key}'"))


def places(lake: Lake, table: str = "derived.copy") -> list[Row]:
    return lake.rows(table, "id", "day", "ts")


class TestDeletedRows:
    @TYPES
    def test_a_null_within_the_key_is_a_value_like_others(self, lake: Lake, kind: dict[str, str]) -> None:
        """Kind: keys that an equality of columns does not find again: nulls, empty texts, texts that look like joined keys."""
        options = {**CDC, **kind, "hoodie.datasource.write.recordkey.field": "a,b", "hoodie.index.type": "SIMPLE"}
        schema = "a string, b string, ts bigint, day string, _hoodie_is_deleted boolean"
        alive: list[Row] = [(a, b, 1, ONE, False) for a, b in (("x", None), ("", "x"), ("y", "y"), ("z", "z"), ("b:y", "q"))]
        copied(lake, sql="SELECT concat(a, '/', coalesce(b, '-')) AS id, ts, 1.5 AS amount, day, _hoodie_is_deleted FROM <SRC>")
        lake.land(alive, schema=schema, **options)
        lake.run_ok()
        lake.land([("z", "z", 2, ONE, True)], schema=schema, **options)
        lake.run_ok()
        assert [row[0] for row in places(lake)] == ["/x", "b:y/q", "x/-", "y/y"]

    @TYPES
    def test_one_key_in_two_partitions_is_two_rows(self, lake: Lake, kind: dict[str, str]) -> None:
        """Kind: the partition is part of what a row is known by, by an index that is not global, and so in the target's key."""
        options = {**CDC, **kind}
        copied(lake, key="id,day")
        both = [(key, 1, Decimal(1), day, False) for key in "ab" for day in (ONE, TWO)]
        lake.land(both, schema=SOFT, **options)
        lake.run_ok()
        lake.land([("a", 2, Decimal(1), ONE, True), ("b", 2, Decimal(2), TWO, False)], schema=SOFT, **options)
        lake.run_ok()
        assert places(lake) == [("a", TWO, 1), ("b", ONE, 1), ("b", TWO, 2)]

    @pytest.mark.parametrize(
        ("kind", "names"), [({}, ("by_both", "by_id")), (MOR, ("by_place", "unordered"))], ids=["cow", "mor"]
    )
    def test_a_row_that_moved_is_gone_where_it_was_and_there_where_it_is(
        self,
        lake: Lake,
        kind: dict[str, str],
        names: tuple[str, ...],
    ) -> None:
        """Kind: moves, by every target: its key holds the partition, or not, or its partition alone does, or it has none.

        Whatever the ordering field says of the two: the run's instant is the same for both.
        """
        options = {**CDC, **kind, **GLOBAL}
        index = {"hoodie": RECORD_INDEX}
        targets: dict[str, dict[str, Any]] = {
            "by_both": {"key": "id,day"},
            "by_id": index,
            "by_place": {},
            "unordered": {"sql": "SELECT id, <SRC_INSTANT> AS ts, amount, day, _hoodie_is_deleted FROM <SRC>", **index},
        }
        for name in names:
            copied(lake, name, **targets[name])
        lake.land([(key, 1, Decimal(1), ONE, False) for key in "abc"], schema=SOFT, **options)
        for name in names:
            lake.run_ok(name)
        lake.land([("a", 2, Decimal(1), TWO, False), ("c", 2, Decimal(1), ONE, True)], schema=SOFT, **options)
        expected = [row[:2] for row in places(lake, "raw.events")]
        assert expected == [("a", TWO), ("b", ONE)]
        for name in names:
            lake.run_ok(name)
            assert [row[:2] for row in places(lake, f"derived.{name}")] == expected, name

    def test_a_table_without_a_key_has_one_for_each_row(self, lake: Lake) -> None:
        """Kind: what the table's settings tell of the key: none, several, one that no column holds."""
        path = lake.path("raw.events")
        lake.spark.sql(
            "CREATE TABLE keyless (id string, ts bigint, amount decimal(10,2), day string) USING hudi "
            f"PARTITIONED BY (day) TBLPROPERTIES (type = 'cow', 'hoodie.table.cdc.enabled' = 'true') LOCATION '{path}'"
        )
        try:
            copied(lake)
            lake.spark.sql(f"INSERT INTO keyless VALUES ('a', 1, 1, '{ONE}'), ('b', 1, 1, '{ONE}'), ('b', 2, 1, '{TWO}')")
            lake.run_ok()
            lake.spark.sql(f"DELETE FROM keyless WHERE day = '{TWO}' OR id = 'a'")
            lake.spark.sql("UPDATE keyless SET ts = 5 WHERE id = 'b'")
            lake.run_ok()
            assert places(lake) == [("b", ONE, 5)]
        finally:
            lake.spark.sql("DROP TABLE keyless")

    @pytest.mark.parametrize(("kind", "partition"), [({}, "meta.day"), (MOR, "day")], ids=["cow", "mor"])
    def test_a_key_within_a_struct(self, lake: Lake, kind: dict[str, str], partition: str) -> None:
        """Kind: fields of structs as key, as partition, as both."""
        options = {
            **CDC,
            **kind,
            "hoodie.datasource.write.recordkey.field": "meta.id",
            "hoodie.index.type": "SIMPLE",
            "hoodie.datasource.write.partitionpath.field": partition,
        }
        schema = "meta struct<id: string, day: string>, ts bigint, day string, _hoodie_is_deleted boolean"
        copied(lake, sql="SELECT meta.id, ts, 1.5 AS amount, meta.day, _hoodie_is_deleted FROM <SRC>")
        lake.land([((key, ONE), 1, ONE, False) for key in "abc"], schema=schema, **options)
        lake.run_ok()
        lake.land([(("a", ONE), 2, ONE, True), (("b", ONE), 2, ONE, False)], schema=schema, **options)
        lake.run_ok()
        assert places(lake) == [("b", ONE, 2), ("c", ONE, 1)]


class TestOvertakers:
    """Kind: whatever began before the checkpoint and completed after it."""

    @TYPES
    def test_a_delete_that_was_overtaken(self, lake: Lake, kind: dict[str, str]) -> None:
        options = {**CDC, **kind}
        copied(lake)
        lake.land([(key, 1, Decimal(1), ONE, False) for key in "ab"], schema=SOFT, **options)
        lake.run_ok()
        timeline = lake.root / "raw/events/.hoodie/timeline"
        lake.land([("a", 2, Decimal(1), ONE, True), ("b", 2, Decimal(1), ONE, False)], schema=SOFT, **options)
        done = lake.state("raw.events").commits[-1].completed
        held = [file for file in timeline.iterdir() if done in file.name]
        for file in held:
            file.rename(file.parent / f"_held_{file.name}")
        # Of another partition: so two writers do not touch the same files.
        lake.land(
            [("c", 2, Decimal(1), TWO, False)],
            schema=SOFT,
            **{
                **options,
                "hoodie.clean.automatic": "false",
                "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
                "hoodie.cleaner.policy.failed.writes": "LAZY",
                "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
            },
        )
        lake.run_ok()
        assert [row[0] for row in places(lake)] == ["a", "b", "c"]
        after = str(int(lake.state("raw.events").commits[-1].completed) + 5)
        for file in held:
            name = file.name.split("_")
            (file.parent / f"_held_{file.name}").rename(file.parent / f"{name[0]}_{after}{name[1][17:]}")
        lake.run_ok()
        assert places(lake) == [("b", ONE, 2), ("c", TWO, 2)]
        # And what overtook may go as well, while the one that it overtook is new.
        lake.land([("c", 3, Decimal(1), TWO, True)], schema=SOFT, **options)
        lake.run_ok()
        assert [row[0] for row in places(lake)] == ["b"]


class TestTakenBack:
    @pytest.mark.parametrize(("kind", "how"), [({}, "one of two"), ({}, "two"), (MOR, "two"), (MOR, "savepoint")])
    def test_commits_that_were_read_and_taken_back_are_refused(self, lake: Lake, kind: dict[str, str], how: str) -> None:
        """Kind: commits that a rollback or a restore took back after they were read; one that nobody read is no matter."""
        lake.pipeline()
        lake.land(rows(("a", 1, "1")), **kind)
        call = lake.spark.sql
        call("DROP TABLE IF EXISTS taken")
        call(f"CREATE TABLE taken USING hudi LOCATION '{lake.path('raw.events')}'")
        if how == "savepoint":
            first = lake.state("raw.events").commits[-1].requested
            call(f"CALL create_savepoint(table => 'taken', commit_time => '{first}')").collect()
        lake.land(rows(("bad", 1, "1")), **kind)
        lake.run_ok()
        lake.land(rows(("unread", 1, "1")), **kind)
        *_, bad, unread = (i.requested for i in lake.state("raw.events").commits)
        if how == "savepoint":
            call(f"CALL rollback_to_savepoint(table => 'taken', instant_time => '{first}')").collect()
        else:
            call(f"CALL rollback_to_instant(table => 'taken', instant_time => '{unread}')").collect()
            assert lake.run_ok().outcome == "idle"
            if how == "two":
                call(f"CALL rollback_to_instant(table => 'taken', instant_time => '{bad}')").collect()
        lake.land(rows(("b", 1, "1")), **kind)
        if how == "one of two":
            lake.run_ok()
            assert [row[0] for row in lake.rows()] == ["a", "b", "bad"]
        else:
            error = failed(lake)
            assert error.code == ("SOURCE_RESTORED" if how == "savepoint" else "SOURCE_ROLLED_BACK")
            # The way out that the error names.
            lake.set_checkpoint(error.details["standing"])
            lake.run_ok()
            assert [row[0] for row in lake.rows()] == ["a", "b", "bad"]


class TestPartitionColumns:
    @pytest.mark.parametrize(("kind", "hive"), [({}, "true"), (MOR, "false")], ids=["cow", "mor"])
    def test_escaped_values_are_the_rows_own(self, lake: Lake, kind: dict[str, str], hive: str) -> None:
        """Kind: every value that a path escapes, read as increment, look-back and affected partition."""
        options = {
            **CDC,
            **kind,
            "hoodie.datasource.write.partitionpath.urlencode": "true",
            "hoodie.datasource.write.hive_style_partitioning": hive,
        }
        days = ("50%", "a/b", "x=y", "10:30", "plain", "50%25")
        joined = (
            "SELECT s.id, s.ts, a.n AS amount, hex(s.day) AS day, s._hoodie_is_deleted, b.n FROM <SRC> s "
            "LEFT JOIN (SELECT day, count(*) AS n FROM same GROUP BY day) a ON a.day = s.day "
            "LEFT JOIN (SELECT day, count(*) AS n FROM recent GROUP BY day) b ON b.day = s.day"
        )
        copied(lake, key="id,day", sql="SELECT id, ts, amount, hex(day) AS day, _hoodie_is_deleted FROM <SRC>")
        inputs = (
            "inputs:\n  same: {table: raw.events, read: affected_partitions, on: {day: day}}\n"
            "  recent: {table: raw.events, read: incremental, lookback: 1h}\n"
        )
        copied(lake, "joined", sql=joined, columns=", _hoodie_is_deleted BOOLEAN, n BIGINT", top=inputs)
        lake.land([(f"k{n}", 1, Decimal(1), day, False) for n, day in enumerate(days)], schema=SOFT, **options)
        lake.run_ok()
        lake.run_ok("joined")
        lake.land([(f"k{n}", 2, Decimal(1), day, day == "x=y") for n, day in enumerate(days)], schema=SOFT, **options)
        lake.run_ok()
        lake.run_ok("joined")
        expected = [(f"k{n}", day.encode().hex().upper(), 2) for n, day in enumerate(days) if day != "x=y"]
        assert places(lake) == expected
        assert lake.rows("derived.joined", "id", "amount", "n") == [(key, Decimal(1), 1) for key, _, _ in expected]

    @pytest.mark.parametrize(
        ("kind", "hive", "form"),
        [({}, "false", "yyyy/MM/dd"), ({}, "true", "yyyy-MM-dd"), (MOR, "true", "yyyy/MM/dd"), (MOR, "false", "yyyy-MM-dd")],
    )
    def test_a_path_that_is_computed_is_not_the_value(self, lake: Lake, kind: dict[str, str], hive: str, form: str) -> None:
        """Kind: key generators whose path is not the column's value, with and without slashes: times as text and as numbers."""
        options = {
            **CDC,
            **kind,
            "hoodie.datasource.write.hive_style_partitioning": hive,
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
            "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd HH:mm:ss",
            "hoodie.keygen.timebased.output.dateformat": form,
        }
        copied(lake, key="id,day", sql="SELECT id, ts, amount, replace(day, ':', '-') AS day, _hoodie_is_deleted FROM <SRC>")
        moment, other = "2026-01-05 10:11:12", "2026-01-05 11:00:00"
        lake.land([(key, 1, Decimal(1), moment, False) for key in "abc"], schema=SOFT, **options)
        lake.run_ok()
        lake.land(
            [("a", 2, Decimal(1), moment, False), ("b", 2, Decimal(1), moment, True), ("d", 2, Decimal(1), other, False)],
            schema=SOFT,
            **options,
        )
        lake.run_ok()
        shown = moment.replace(":", "-")
        assert places(lake) == [("a", shown, 2), ("c", shown, 1), ("d", other.replace(":", "-"), 2)]


class TestWholeRows:
    """Kind: rows of MERGE_ON_READ whose log does not hold what a reader sees: parts, losers, payloads, deletes."""

    def test_rows_that_a_merge_logged_in_parts(self, lake: Lake) -> None:
        path = lake.path("raw.events")
        lake.spark.sql(
            "CREATE TABLE parts (id string, ts bigint, amount decimal(10,2), v string, n int, day string) USING hudi "
            f"PARTITIONED BY (day) TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts') LOCATION '{path}'"
        )
        try:
            lake.pipeline(sql="SELECT id, ts, amount, day, v, n FROM <SRC>", columns=", v STRING, n INT")
            lake.spark.sql(f"INSERT INTO parts VALUES ('a', 1, 1.5, 'old', 1, '{ONE}'), ('b', 1, 1.5, 'old', 1, '{ONE}')")
            lake.run_ok()
            for ts, changes in ((3, "t.v = 'new'"), (4, "t.n = 7")):
                lake.spark.sql(
                    f"MERGE INTO parts t USING (SELECT 'a' AS id, {ts}L AS ts, '{ONE}' AS day) s ON t.id = s.id "
                    f"WHEN MATCHED THEN UPDATE SET t.ts = s.ts, {changes}"
                )
                lake.run_ok()
                assert lake.rows("derived.copy", "id", "ts", "amount", "v", "n") == lake.rows(
                    "raw.events", "id", "ts", "amount", "v", "n"
                )
            assert [row[0] for row in lake.rows("derived.copy", "v")] == ["new", "old"]
        finally:
            lake.spark.sql("DROP TABLE parts")

    @pytest.mark.parametrize(
        ("kind", "payload"),
        [
            (MOR, ""),
            (MOR, "PartialUpdateAvroPayload"),
            (MOR, "OverwriteNonDefaultsWithLatestAvroPayload"),
            ({}, "PartialUpdateAvroPayload"),
        ],
    )
    def test_what_became_of_a_row_and_not_what_was_written(self, lake: Lake, kind: dict[str, str], payload: str) -> None:
        options = {**CDC, **kind}
        if payload:
            options["hoodie.datasource.write.payload.class"] = f"org.apache.hudi.common.model.{payload}"
        copied(
            lake,
            sql="SELECT id, <SRC_INSTANT> AS ts, amount, day, _hoodie_is_deleted, ts AS version FROM <SRC>",
            columns=", _hoodie_is_deleted BOOLEAN, version BIGINT",
        )
        lake.land([(key, 10, Decimal(1), ONE, False) for key in "abc"], schema=SOFT, **options)
        lake.run_ok()
        lake.land(
            [("a", 5, Decimal(5), ONE, False), ("b", 11, None, ONE, False), ("c", 12, Decimal(2), ONE, True)],
            schema=SOFT,
            **options,
        )
        lake.run_ok()
        assert lake.rows("derived.copy", "id", "version", "amount") == lake.rows("raw.events", "id", "ts", "amount")

    @pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
    def test_rows_that_their_logs_hold_whole(self, lake: Lake, mode: str) -> None:
        """Kind: what a logged row loses against: a base file's, an older log's, a deleted one; by time, and by commit.

        The logs alone are read, and compaction, other types of ordering, parts of rows and payloads are read as before.
        """
        options = {**MOR, "hoodie.write.record.merge.mode": mode}
        by_time = mode == "EVENT_TIME_ORDERING"
        lake.pipeline(
            sql="SELECT id, <SRC_INSTANT> AS ts, amount, day, ts AS version FROM <SRC>",
            columns=", version BIGINT",
            hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 2},
        )
        lake.land([(key, 10, Decimal(1), ONE, False) for key in "abcde"], schema=SOFT, **options)
        lake.run_ok()
        steps: list[list[Row]] = [
            [("a", 5, Decimal(2), ONE, False), ("b", 11, Decimal(2), ONE, False), ("new", 1, Decimal(2), TWO, False)],
            [("c", 20, Decimal(3), ONE, False), ("d", 30, Decimal(3), ONE, True)],
            [("c", 15, Decimal(4), ONE, False), ("d", 25, Decimal(4), ONE, False), ("a", 6, Decimal(4), ONE, False)],
        ]
        first = ""
        for number, step in enumerate(steps if by_time else steps[-1:]):
            done = lake.land(step, schema=SOFT, **options)
            first = first or done
            window = lake.plan().window
            assert window.logs is not None
            assert window.logs.since == (first if by_time else done)
            lake.run_ok()
            # Nobody is told of the one that was deleted, nor of the one that came too late for that.
            assert [row for row in lake.rows("derived.copy", "id", "version", "amount") if row[0] != "d" * (number > 0)] == (
                lake.rows("raw.events", "id", "ts", "amount")
            )

    def test_a_late_row_of_a_deleted_key_is_what_the_source_shows(self, lake: Lake) -> None:
        """Kind: a key that its index has forgotten: what comes late for it is a new row, or hidden still."""
        options = {**CDC, **MOR, **RECORD_INDEX, "hoodie.metadata.record.index.enable": "true"}
        copied(
            lake,
            sql="SELECT id, <SRC_INSTANT> AS ts, amount, day, _hoodie_is_deleted, ts AS version FROM <SRC>",
            columns=", _hoodie_is_deleted BOOLEAN, version BIGINT",
        )
        lake.land([(key, 10, Decimal(1), ONE, False) for key in "abc"], schema=SOFT, **options)
        lake.run_ok()
        # Of two windows, and of one.
        lake.land([("a", 20, Decimal(1), ONE, True)], schema=SOFT, **options)
        lake.run_ok()
        lake.land([("a", 15, Decimal(2), ONE, False), ("b", 20, Decimal(2), ONE, True)], schema=SOFT, **options)
        lake.land([("b", 15, Decimal(3), ONE, False)], schema=SOFT, **options)
        lake.run_ok()
        assert lake.rows("derived.copy", "id", "version", "amount") == lake.rows("raw.events", "id", "ts", "amount")


def test_a_source_without_meta_fields_is_refused(lake: Lake) -> None:
    """Kind: tables whose rows do not tell their commit."""
    lake.pipeline()
    lake.land(rows(("a", 1, "1")), **{"hoodie.populate.meta.fields": "false"})
    assert failed(lake).code == "NO_META_FIELDS"


class TestReadAgain:
    """Kind: a window that is read again ends with what the source has now, whatever the target has seen since."""

    @pytest.mark.parametrize(("kind", "how"), [({}, "set"), ({}, "reset"), (MOR, "set")])
    def test_rows_that_were_deleted_meanwhile(self, lake: Lake, kind: dict[str, str], how: str) -> None:
        options = {**CDC, **kind}
        copied(lake, hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 1})
        first = lake.land([("a", 1, Decimal(1), ONE, False), ("x", 1, Decimal(1), ONE, False)], schema=SOFT, **options)
        lake.run_ok()
        lake.land([("b", 1, Decimal(1), ONE, False), ("c", 1, Decimal(1), TWO, False)], schema=SOFT, **options)
        lake.run_ok()
        lake.land([("b", 2, Decimal(1), ONE, True)], schema=SOFT, **options)
        lake.set_checkpoint(first if how == "set" else None)
        # Nothing of it is forgotten by a second one.
        lake.set_checkpoint(first if how == "set" else None)
        lake.run_ok(drain=True)
        assert places(lake) == [("a", ONE, 1), ("c", TWO, 1), ("x", ONE, 1)]
        # Deleted before the checkpoint was set back, and read again as alive; then as usual.
        lake.land([("x", 2, Decimal(1), ONE, True)], schema=SOFT, **options)
        lake.run_ok()
        lake.set_checkpoint(first if how == "set" else None)
        lake.run_ok(drain=True)
        assert places(lake) == [("a", ONE, 1), ("c", TWO, 1)]
        checkpoint = lake.state().latest_checkpoint()
        assert checkpoint is not None
        assert checkpoint.seen is None

    def test_a_full_scan_that_cannot_tell_what_was_deleted_is_refused(self, lake: Lake) -> None:
        """Kind: the checkpoint has expired, and so has the version that it stands for; by hand all is read, and said."""
        options = {**CDC, "hoodie.clean.commits.retained": "1"}
        copied(lake, hoodie={"hoodie.datasource.read.incr.fallback.fulltablescan.enable": "true"})
        lake.land([(key, 1, Decimal(1), ONE, False) for key in "ab"], schema=SOFT, **options)
        lake.run_ok()
        for ts in (2, 3):
            lake.land([("a", ts, Decimal(1), ONE, False), ("b", ts, Decimal(1), ONE, True)], schema=SOFT, **options)
        before = lake.files()
        assert failed(lake).code == "VERSION_CLEANED"
        assert lake.files() == before
        lake.set_checkpoint(None)
        lake.run_ok()
        assert places(lake) == [("a", ONE, 3), ("b", ONE, 1)]
        assert any(e.name == "notice" and "DELETES_NOT_SEEN" in e.message for e in lake.events)
