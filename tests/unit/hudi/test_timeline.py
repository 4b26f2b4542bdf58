"""Reading a timeline from files as Hudi 1.0 lays them out, written here by hand."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi import actions
from freshet.hudi.checkpoint import encode
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from tests.kit.memory import a_checkpoint, at
from tests.kit.timeline import OF_A_PIPELINE, HandMade, clean, commit, rollback_plan


@pytest.fixture
def lake(tmp_path: Path) -> HandMade:
    return HandMade(tmp_path)


def look(lake: HandMade) -> Any:
    found = TimelineState().table(lake.ref)
    assert found is not None
    return found


def test_base_files_are_counted_and_logs_are_not(lake: HandMade) -> None:
    lake.done(10, commit(path="2026-08-01/0-a_0-1-0_1.parquet", fileSizeInBytes=500))
    lake.done(20, commit(path="2026-08-01/.0-a_2.log.1_0-1-0", fileSizeInBytes=700), "deltacommit")
    table = look(lake)
    assert [(table.info(i).base_files, table.info(i).base_bytes) for i in table.commits] == [(1, 500), (0, 0)]


def test_properties_are_read_escapes_included(lake: HandMade) -> None:
    config = look(lake).config
    assert config.table_type == "MERGE_ON_READ"
    assert config.record_key == ("city", "trip_id")
    assert config.partition_by == ("day", "hour")
    assert config.ordering_field == "updated_at"
    assert config.records_changes


def test_a_plain_table_has_no_partitions_no_ordering_and_no_change_data(tmp_path: Path) -> None:
    config = look(HandMade(tmp_path, "hoodie.table.version=8\nhoodie.table.recordkey.fields=id\n")).config
    assert (config.table_type, config.record_key, config.partition_by, config.ordering_field, config.records_changes) == (
        "COPY_ON_WRITE",
        ("id",),
        (),
        "",
        False,
    )


def test_completed_actions_are_listed_and_pending_ones_are_not(lake: HandMade) -> None:
    lake.done(10, commit())
    lake.done(20, commit(), "deltacommit")
    lake.put(f"{at(30)}.commit.requested")
    lake.put(f"{at(30)}.inflight")
    lake.put(f"{at(40)}.deltacommit.inflight")
    lake.put(f"{at(50)}.compaction.requested")
    lake.put(f"{at(50)}.compaction.inflight")
    lake.put(f"{at(9)}.compaction.requested")
    lake.put("20260801101501.compaction.requested")
    lake.put(f".{at(9)}_{at(10)}.commit.crc")
    (lake.timeline / "history").mkdir()
    assert look(lake).compacting == (at(50), "20260801101501")
    assert {(i.requested, i.completed, i.action) for i in look(lake).instants} == {
        (at(9), at(10), "commit"),
        (at(19), at(20), "deltacommit"),
    }


def test_a_rollback_of_a_commit_that_has_completed_is_told(lake: HandMade) -> None:
    lake.done(10, commit())
    for moment, rolled_back in ((20, at(9)), (30, at(15))):
        lake.put(f"{at(moment)}.rollback.requested", rollback_plan(rolled_back))
    lake.put(f"{at(40)}.rollback.requested", b"no plan")
    assert look(lake).load_overtaken() == ((at(20), at(9)),)
    lake.put(f"{at(20)}_{at(25)}.rollback")
    assert look(lake).load_overtaken() == ()


def test_commit_metadata_is_read(lake: HandMade) -> None:
    lake.done(10, commit({"schema": "{}", **encode(a_checkpoint(5))}, numInserts=3, numUpdateWrites=2, numDeletes=1))
    table = look(lake)
    info = table.info(table.commits[0])
    assert (info.operation, info.inserts, info.updates, info.deletes, info.rows) == ("UPSERT", 3, 2, 1, 6)
    assert info.file_ids == ("2026-08-01/00000001-aa-0",)
    assert info.partitions == ("2026-07-31", "2026-08-01")
    assert table.latest_checkpoint() == a_checkpoint(5)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a commit file that nobody completes no longer than it takes to see that."""
    monkeypatch.setattr(actions, "WAITS", (0.01,))


@pytest.mark.parametrize("seen", [0, 20, 743, 1000])
def test_commit_file_that_is_still_being_written_is_waited_for(lake: HandMade, seen: int) -> None:
    whole = commit(encode(a_checkpoint(5)))
    assert len(whole) > 1000
    lake.done(10, whole[:seen])
    threading.Timer(0.03, lake.done, (10, whole)).start()
    assert look(lake).latest_checkpoint() == a_checkpoint(5)


@pytest.mark.usefixtures("impatient")
def test_commit_file_that_stays_cut_off_is_named(lake: HandMade) -> None:
    lake.done(10, commit()[:800])
    with pytest.raises(StateError, match="no whole Avro file") as caught:
        look(lake).latest_checkpoint()
    assert caught.value.code == "TIMELINE_UNREADABLE"


@pytest.mark.parametrize("left", [None, "", "#half"])
def test_properties_that_are_being_rewritten_stand_in_their_backup(lake: HandMade, left: str | None) -> None:
    path = lake.timeline.parent / "hoodie.properties"
    path.rename(path.with_name("hoodie.properties.backup"))
    if left is not None:
        path.write_text(left)
    assert look(lake).config.record_key


def test_no_table_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert TimelineState().table(TableRef("x", str(tmp_path / "absent"))) is None
    assert TimelineState().table(TableRef("x", str(tmp_path))) is None
    assert TimelineState().table(TableRef("x", str(tmp_path / "file"))) is None


def test_file_uri_is_the_local_path(lake: HandMade) -> None:
    lake.done(10, commit())
    found = TimelineState().table(TableRef("raw.trips", f"file://{lake.ref.path}"))
    assert found is not None
    assert len(found.commits) == 1


@pytest.mark.parametrize(
    "properties",
    [
        "hoodie.table.version=6\n",
        "hoodie.table.version=9\n",
        "hoodie.table.version=x\n",
        "hoodie.table.name=old\n",
    ],
)
def test_older_table_version_is_refused_with_the_way_to_upgrade(tmp_path: Path, properties: str) -> None:
    lake = HandMade(tmp_path, properties)
    with pytest.raises(StateError) as refused:
        TimelineState().table(lake.ref)
    assert refused.value.code == "TABLE_VERSION"
    assert "upgrade" in refused.value.next_step


def test_never_cleaned_retains_all(lake: HandMade) -> None:
    lake.done(10, commit())
    assert look(lake).retained_from == ""


def test_last_clean_says_what_is_retained(lake: HandMade) -> None:
    lake.done(20, clean(at(9)), "clean")
    lake.done(40, clean(at(29)), "clean")
    assert look(lake).retained_from == at(29)


def test_clean_by_file_versions_retains_what_follows_the_newest_deleted_file(lake: HandMade) -> None:
    lake.done(40, clean("", f"00000001-aa-0_0-1-1_{at(9)}.parquet", f".00000001-aa-0_{at(19)}.log.1_0-1-1"), "clean")
    assert look(lake).retained_from == at(19) + "+"


def test_a_later_clean_by_file_versions_does_not_bring_files_back(lake: HandMade) -> None:
    lake.done(30, clean("", f"00000001-aa-0_0-1-1_{at(19)}.parquet"), "clean")
    lake.done(40, clean("", f"00000002-bb-0_0-1-1_{at(9)}.parquet"), "clean")
    lake.done(50, clean(""), "clean")
    assert look(lake).retained_from == at(19) + "+"


def test_archive_is_read_by_its_manifest(lake: HandMade) -> None:
    lake.archive((10, "commit", commit(encode(a_checkpoint(5)))), (20, "clean", clean(at(9))), (30, "deltacommit", commit()))
    lake.done(40, commit())
    table = look(lake)
    assert [i.completed for i, _ in table.newest_first()] == [at(40), at(30), at(10)]
    assert table.latest_checkpoint() == a_checkpoint(5)
    assert [i.completed for i in table.archived("")] == [at(10), at(30)]


def test_commit_archived_between_the_listing_and_the_look_is_found_in_the_archive(lake: HandMade) -> None:
    lake.done(10, commit(encode(a_checkpoint(5))))
    table = look(lake)
    next(lake.timeline.glob("*.commit")).unlink()
    lake.archive((10, "commit", commit(encode(a_checkpoint(5)))))
    assert table.info(table.commits[0]).operation == "UPSERT"
    assert table.latest_checkpoint() == a_checkpoint(5)


def test_every_call_looks_anew(lake: HandMade) -> None:
    state = TimelineState()
    lake.done(10, commit())
    before = state.table(lake.ref)
    lake.done(20, commit())
    after = state.table(lake.ref)
    assert before is not None
    assert after is not None
    assert (len(before.commits), len(after.commits)) == (1, 2)


def test_archive_gives_only_what_completed_after_the_time_asked_for(lake: HandMade) -> None:
    lake.archive((10, "commit", commit()), (20, "commit", commit()), (30, "commit", commit()))
    assert [i.completed for i, _ in look(lake).load_archived(at(10))] == [at(20), at(30)]
    assert look(lake).load_archived(at(30)) == ()
    assert [(i.requested, i.completed, i.action) for i in look(lake).archived(at(20))] == [(at(29), at(30), "commit")]


SWITCHES = {
    "hoodie.table.cdc.enabled": "records_changes",
    "hoodie.datasource.write.hive_style_partitioning": "hive_style",
    "hoodie.datasource.write.partitionpath.urlencode": "url_encoded",
    "hoodie.populate.meta.fields": "meta_fields",
}


@pytest.mark.parametrize(
    ("text", "is_on"),
    [
        ("true", True),
        ("TRUE", True),
        ("True", True),
        (" true ", True),
        ("false", False),
        ("FALSE", False),
        ("False", False),
        ("", False),
        ("yes", False),
        ("1", False),
    ],
)
def test_a_switch_is_on_where_java_says_so(tmp_path: Path, text: str, is_on: bool) -> None:
    """Kind: Boolean.parseBoolean knows "true" in whatever case, and a Spark SQL user writes TRUE."""
    lines = "".join(f"{key}={text}\n" for key in SWITCHES)
    config = look(HandMade(tmp_path, f"{OF_A_PIPELINE}{lines}")).config
    assert {name: getattr(config, name) for name in SWITCHES.values()} == dict.fromkeys(SWITCHES.values(), is_on)


def test_what_a_switch_is_where_the_table_lacks_it(tmp_path: Path) -> None:
    config = look(HandMade(tmp_path, OF_A_PIPELINE)).config
    assert [getattr(config, name) for name in SWITCHES.values()] == [False, False, False, True]
