"""What may stand in a source's timeline: services, pending and rolled-back commits, cleaning, archiving, change data."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from freshet.errors import FreshetError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY
from tests.kit.lake import SCHEMA, Lake, rows

RECORD_INDEX = {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true"}
MOR = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
CDC = {"hoodie.table.cdc.enabled": "true"}
SHORT_HISTORY = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}
FALLBACK = {"hoodie.datasource.read.incr.fallback.fulltablescan.enable": "true"}


def failed(lake: Lake) -> FreshetError:
    error = lake.run().error
    assert error is not None
    return error


@pytest.mark.parametrize(
    "options",
    [
        {**RECORD_INDEX, "hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"},
        {**MOR, "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
    ],
    ids=["clustering", "compaction"],
)
def test_table_services_neither_hide_nor_repeat_rows(lake: Lake, options: dict[str, str]) -> None:
    lake.pipeline(hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 1})
    for key in "abc":
        lake.land(rows((key, 1, "1"), ("same", ord(key), "1")), **options)
    source = lake.state("raw.events")
    assert len(source.commits) > len(source.data_commits) == 3
    results = [lake.run_ok(), lake.run_ok()]
    assert [r.outcome for r in results] == ["committed", "idle"]
    lake.land(rows(("d", 1, "1")), **options)
    lake.land(rows(("a", 2, "2")), **options)
    results = [lake.run_ok() for _ in range(3)]
    assert [(r.outcome, r.inserts, r.updates) for r in results] == [("committed", 1, 0), ("committed", 0, 1), ("idle", 0, 0)]
    assert [r[:2] for r in lake.rows()] == [("a", 2), ("b", 1), ("c", 1), ("d", 1), ("same", ord("c"))]


@pytest.mark.parametrize(("service", "options"), [("run_clustering", RECORD_INDEX), ("run_compaction", MOR)])
def test_a_pending_service_in_the_source_is_read_past(lake: Lake, service: str, options: dict[str, str]) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")), **options)
    # An update, so that a MERGE_ON_READ table has a log to compact.
    lake.land(rows(("a", 2, "2"), ("b", 1, "1")), **options)
    lake.run_ok()
    lake.spark.sql(
        f"CALL {service}(op => 'schedule', path => '{lake.path('raw.events')}', "
        "options => 'hoodie.compact.inline.max.delta.commits=1')"
    ).collect()
    assert any(
        name in p.name
        for p in (lake.root / "raw/events/.hoodie/timeline").glob("*.requested")
        for name in ("clustering", "compaction")
    )
    assert lake.run_ok().outcome == "idle"
    lake.land(rows(("c", 1, "1")), **options)
    assert lake.plan().window.rows == 1
    lake.run_ok()
    assert lake.rows() == rows(("a", 2, "2"), ("b", 1, "1"), ("c", 1, "1"))


def test_a_failed_commit_of_the_source_is_not_read(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    timeline = lake.root / "raw/events/.hoodie/timeline"
    (timeline / "20990101000000000.commit.requested").touch()
    (timeline / "20990101000000000.inflight").touch()
    assert lake.run_ok().outcome == "idle"


def test_a_commit_that_began_first_and_ended_last_is_read_once(lake: Lake) -> None:
    lake.pipeline(hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 1})
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("b", 1, "1")))
    lake.land(rows(("c", 1, "1")))
    _complete_last(lake, index=1)
    source = lake.state("raw.events")
    assert [i.requested for i in source.data_commits] != sorted(i.requested for i in source.data_commits)
    assert [lake.run_ok().inserts for _ in range(3)] == [1, 1, 0]
    assert [r[0] for r in lake.rows()] == ["a", "b", "c"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", pytest.param("MERGE_ON_READ", marks=pytest.mark.nightly)])
def test_a_commit_that_appears_behind_the_checkpoint_is_read_once(lake: Lake, table_type: str) -> None:
    """A clock that is behind, an hour that comes twice, completions out of order: see tests/unit/plan/test_late.py."""
    options = {"hoodie.datasource.write.table.type": table_type}
    lake.pipeline()
    lake.land(rows(("a", 1, "1")), **options)
    lake.land(rows(("b", 1, "1"), day="2026-01-06"), **options)
    timeline = Path(lake.path("raw.events")) / ".hoodie/timeline"
    late = lake.state("raw.events").commits[-1]
    hidden = timeline / f"{late.requested}_{late.completed}.{late.action}"
    lake.land(rows(("c", 1, "1"), day="2026-01-07"), **options)
    held = hidden.rename(lake.root / "held")
    lake.run_ok()
    assert [r[0] for r in lake.rows()] == ["a", "c"]
    held.rename(hidden)
    upto = lake.position()
    results = [lake.run_ok(), lake.run_ok()]
    assert [(r.outcome, r.inserts, r.checkpoint) for r in results] == [("committed", 1, upto), ("idle", 0, upto)]
    assert [r[0] for r in lake.rows()] == ["a", "b", "c"]
    assert any("COMMIT_IN_THE_PAST" in e.message for e in lake.events if e.name == "notice")


def test_a_target_written_by_a_clock_ahead_is_refused(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    _complete_last(lake, index=0, table="derived.copy", late="29990101000000000")
    lake.land(rows(("b", 1, "1")))
    assert failed(lake).code == "CLOCK_BEHIND"
    assert lake.rows() == rows(("a", 1, "1"))


def _complete_last(lake: Lake, index: int, table: str = "raw.events", late: str = "") -> None:
    """Rename a completed commit as if it had completed after all others."""
    source = lake.state(table)
    early = sorted(source.commits, key=lambda i: i.requested)[index]
    timeline = Path(lake.path(table)) / ".hoodie/timeline"
    late = late or str(int(source.commits[-1].completed) + 5)
    for dot, suffix in (("", ""), (".", ".crc")):
        name = f"{dot}{early.requested}_{early.completed}.{early.action}{suffix}"
        if (timeline / name).exists():
            (timeline / name).rename(timeline / name.replace(early.completed, late))


def test_a_source_cleaned_beyond_the_checkpoint_is_an_error_or_a_declared_full_scan(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")), **SHORT_HISTORY)
    lake.run_ok()
    for ts in range(2, 9):
        lake.land(rows(("a", ts, str(ts)), ("b", ts, str(ts))), **SHORT_HISTORY)
    assert failed(lake).code == "CHECKPOINT_EXPIRED"
    assert lake.rows() == rows(("a", 1, "1"))

    lake.pipeline(hoodie=FALLBACK)
    assert lake.plan().window.kind == "whole_table"
    lake.run_ok()
    assert lake.rows() == rows(("a", 8, "8"), ("b", 8, "8"))
    assert lake.position() == lake.state("raw.events").data_commits[-1].completed
    assert lake.run_ok().outcome == "idle"


def test_a_checkpoint_within_the_history_is_no_gap(lake: Lake) -> None:
    lake.pipeline()
    for ts in range(1, 9):
        lake.land(rows(("a", ts, str(ts)), (f"k{ts}", ts, "1")), **SHORT_HISTORY)
        lake.run_ok()
    assert len(lake.rows()) == 9
    assert lake.rows()[0][:2] == ("a", 8)


def delete(lake: Lake, *keys: str, ts: int, source_type: str) -> None:
    """Delete from the source as its table type can: a delete operation leaves a MERGE_ON_READ log that Hudi 1.0 cannot read."""
    options = {**CDC, "hoodie.datasource.write.table.type": source_type}
    gone = rows(*((key, ts, "1") for key in keys))
    if source_type == "COPY_ON_WRITE":
        lake.land(gone, "delete", **options)
    else:
        lake.land([(*row, True) for row in gone], schema=f"{SCHEMA}, _hoodie_is_deleted boolean", **options)


@pytest.mark.parametrize("target_type", ["cow", "mor"])
@pytest.mark.parametrize("source_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_deletes_of_a_source_that_records_changes_pass_on(lake: Lake, source_type: str, target_type: str) -> None:
    options = {**CDC, "hoodie.datasource.write.table.type": source_type}
    soft = source_type == "MERGE_ON_READ"

    def land(*items: tuple[str, int, str]) -> None:
        found = [(*row, False) for row in rows(*items)] if soft else rows(*items)
        lake.land(found, schema=f"{SCHEMA}, _hoodie_is_deleted boolean" if soft else SCHEMA, **options)

    lake.pipeline(
        sql="SELECT *, upper(id) AS name FROM <SRC>",
        columns=", _hoodie_is_deleted BOOLEAN, name STRING",
        table_type=target_type,
    )
    land(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1"), ("d", 1, "1"))
    lake.run_ok()
    delete(lake, "a", ts=2, source_type=source_type)
    lake.run_ok()
    assert [r[0] for r in lake.rows()] == ["b", "c", "d"]
    # One window: b goes and comes back, c goes, e comes and goes, d only changes.
    delete(lake, "b", "c", ts=3, source_type=source_type)
    land(("b", 4, "4"), ("e", 4, "1"), ("d", 4, "4"))
    delete(lake, "e", ts=5, source_type=source_type)
    lake.run_ok()
    assert [r[:3] for r in lake.rows("derived.copy", "id", "ts", "name")] == [("b", 4, "B"), ("d", 4, "D")]


def test_the_last_row_of_a_file_deleted_by_an_upsert(lake: Lake) -> None:
    # Of which Hudi 1.0.2 shows no change data.
    def land(*items: tuple[str, int, bool]) -> None:
        found = [(key, ts, Decimal(1), "2026-01-05", gone) for key, ts, gone in items]
        lake.land(found, schema=f"{SCHEMA}, _hoodie_is_deleted boolean", **CDC)

    lake.pipeline(sql="SELECT * FROM <SRC>", columns=", _hoodie_is_deleted BOOLEAN")
    land(*((key, 1, False) for key in "abcd"))
    lake.run_ok()
    for number, key in enumerate("abcd"):
        land((key, 2 + number, True))
        lake.run_ok()
        assert [row[0] for row in lake.rows()] == list("abcd"[number + 1 :])


def test_all_rows_of_a_source_deleted_at_once(lake: Lake) -> None:
    lake.pipeline(
        sql="SELECT id, ts, amount, coalesce(day, 'none') AS day, _hoodie_is_deleted FROM <SRC>",
        columns=", _hoodie_is_deleted BOOLEAN",
    )
    # Partitions whose paths are not their values.
    everything = [row for day in ("2026-01-05", "x=100%/y", None) for row in rows(("a", 1, "1"), ("b", 1, "-12.5"), day=day)]
    lake.land(everything, **CDC)
    lake.run_ok()
    lake.land(everything, "delete", **CDC)
    lake.run_ok()
    assert lake.rows() == []


def test_deletes_need_a_place_in_the_ddl_or_a_word_that_they_are_ignored(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")), **CDC)
    assert failed(lake).code == "DELETES_NOT_DECLARED"
    lake.pipeline(hoodie={"hoodie.datasource.query.incremental.format": "latest_state"})
    lake.run_ok()
    lake.land(rows(("a", 1, "1")), "delete", **CDC)
    lake.run_ok()
    assert lake.rows() == rows(("a", 1, "1"))
    assert any(e.name == "notice" and "DELETES_NOT_SEEN" in e.message for e in lake.events)


def test_deletes_without_change_data_are_noticed(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "1")), "delete")
    lake.run_ok()
    assert any(e.name == "notice" and "DELETES_NOT_SEEN" in e.message for e in lake.events)


def test_a_checkpoint_is_found_behind_commits_that_carry_none(lake: Lake) -> None:
    lake.pipeline()
    last = lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    for key in "xyz":
        lake.land(rows((key, 1, "1")), table="derived.copy")
    assert lake.position() == last
    lake.land(rows(("b", 1, "1")))
    lake.run_ok()
    assert [r[0] for r in lake.rows()] == ["a", "b", "x", "y", "z"]


def test_a_checkpoint_is_found_in_the_archive(lake: Lake) -> None:
    lake.pipeline()
    last = lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    for ts in range(8):
        lake.land(rows(("x", ts, "1")), table="derived.copy", **SHORT_HISTORY)
    assert all(CHECKPOINT_KEY not in lake.state().info(i).extra for i in lake.state().commits)
    assert lake.position() == last
    assert lake.run_ok().outcome == "idle"


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_table_of_hoodiestreamer_goes_on_here_and_back(lake: Lake, version: str) -> None:
    first = lake.land(rows(("a", 1, "1")))
    requested = lake.state("raw.events").commits[-1].requested
    key, value = (STREAMER_V1_KEY, requested) if version == "v1" else (STREAMER_V2_KEY, first)
    lake.land(
        rows(("a", 1, "1")),
        table="derived.copy",
        **{
            key: value,
            "hoodie.datasource.write.commitmeta.key.prefix": key.split(".")[0],
        },
    )
    last = lake.land(rows(("b", 2, "2")))
    lake.pipeline(missing=None)
    assert lake.run_ok().inserts == 1
    assert lake.rows() == rows(("a", 1, "1"), ("b", 2, "2"))
    # What HoodieStreamer would look up when it takes the table back.
    state = lake.state()
    assert state.info(state.commits[-1]).extra[STREAMER_V2_KEY] == last


def test_a_table_of_other_buckets_is_not_taken_over(lake: Lake) -> None:
    lake.land(rows(*((f"k{i}", 1, "1") for i in range(20))), table="derived.copy", **{"hoodie.bucket.index.num.buckets": "4"})
    lake.land(rows(("a", 1, "1")))
    lake.pipeline()
    assert failed(lake).code == "INDEX_CHANGED"
