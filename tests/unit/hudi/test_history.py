"""What a table's files tell of its history besides its commits: what has begun, what was deleted, what was taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.sources.hudi.look.versions import is_kept
from freshet.sources.hudi.reads import Version
from tests.kit.memory import at
from tests.kit.timeline import HandMade, clean, commit

GROUP, OTHER = "00000001-aa-0", "00000002-bb-0"


@pytest.fixture
def lake(tmp_path: Path) -> HandMade:
    return HandMade(tmp_path)


def look(lake: HandMade) -> TableState:
    found = TimelineState().table(lake.ref)
    assert found is not None
    return found


def test_what_has_begun_and_not_completed_table_services_left_out(lake: HandMade) -> None:
    lake.done(10, commit())
    for name in (
        f"{at(9)}.commit.requested",
        f"{at(9)}.inflight",
        f"{at(20)}.commit.requested",
        f"{at(30)}.inflight",
        f"{at(40)}.deltacommit.inflight",
        f"{at(50)}.replacecommit.requested",
        f"{at(60)}.compaction.requested",
        f"{at(70)}.clustering.inflight",
        f"{at(80)}.rollback.requested",
        f"{at(90)}.clean.requested",
    ):
        lake.put(name)
    assert look(lake).pending == (at(20), at(30), at(40), at(50))


def test_files_that_cleans_deleted_by_their_groups(lake: HandMade) -> None:
    lake.done(40, clean("", f"{GROUP}_0-1-1_{at(9)}.parquet", f".{GROUP}_{at(19)}.log.1_0-1-1"), "clean")
    lake.done(50, clean(""), "clean")
    assert sorted(look(lake).load_cleaned()) == [(f"2026-08-01/{GROUP}", moment) for moment in (at(9), at(19))]


def test_a_version_is_whole_where_each_deleted_file_had_a_newer_one_by_then(lake: HandMade) -> None:
    """The commits write GROUP at 9, 19 and 29; a clean that keeps two versions deletes the oldest one after the third."""
    for completed in (10, 20, 30):
        lake.done(completed, commit())
    lake.done(40, clean("", f"{GROUP}_0-1-1_{at(9)}.parquet"), "clean")
    table = look(lake)
    assert table.retained_from.endswith("+")
    assert [is_kept(table, Version(at(moment))) for moment in (10, 20, 30)] == [False, True, True]
    lake.done(50, clean("", f"{OTHER}_0-1-1_{at(15)}.parquet"), "clean")
    assert [is_kept(look(lake), Version(at(moment))) for moment in (12, 20)] == [False, False]


def test_groups_of_several_partitions_may_have_one_id(lake: HandMade) -> None:
    """Writers that do not wait for each other name a bucket alike in all partitions: ``00000000-0000-...`` and so on."""
    for completed, partition in ((10, "d=1"), (20, "d=2"), (30, "d=1")):
        lake.done(completed, commit(partition=partition, path=f"{partition}/.{GROUP}_{at(completed - 1)}.log.1_0-1-1"))
    lake.done(40, clean("", f"{GROUP}_0-1-1_{at(9)}.parquet", partition="d=1"), "clean")
    table = look(lake)
    assert [table.info(i).log_ids for i in table.commits] == [(f"d={n}/{GROUP}",) for n in (1, 2, 1)]
    assert [is_kept(table, Version(at(moment))) for moment in (20, 30)] == [False, True]


def test_a_schema_with_a_history(lake: HandMade) -> None:
    assert not look(lake).has_schema_history()
    (lake.timeline.parent / ".schema").mkdir()
    (lake.timeline.parent / f".schema/{at(9)}_{at(10)}.schemacommit").touch()
    assert look(lake).has_schema_history()


@pytest.mark.parametrize(
    ("more", "plain", "encoded", "meta"),
    [
        ("hoodie.table.keygenerator.type=SIMPLE\n", True, False, True),
        ("hoodie.table.keygenerator.type=COMPLEX\nhoodie.datasource.write.partitionpath.urlencode=true\n", True, True, True),
        ("hoodie.table.keygenerator.type=TIMESTAMP\nhoodie.populate.meta.fields=false\n", False, False, False),
        ("hoodie.table.keygenerator.type=CUSTOM\n", False, False, True),
        ("", False, False, True),
    ],
)
def test_what_paths_and_rows_tell(tmp_path: Path, more: str, plain: bool, encoded: bool, meta: bool) -> None:
    config = look(HandMade(tmp_path, f"hoodie.table.version=8\nhoodie.table.recordkey.fields=id\n{more}")).config
    assert (config.plain_paths, config.url_encoded, config.meta_fields) == (plain, encoded, meta)
