"""Runs through an HBASE index: which file groups they write, where a moved row lies, what is deleted and what loses."""

from __future__ import annotations

import pytest

from freshet.index.hbase.entries import hbase_entries
from tests.kit.commands import freshet
from tests.kit.hbase import DELETES, HBaseLake
from tests.kit.lake import Row, rows

TYPES = ("cow", "mor")
DAYS = ("2026-01-05", "2026-01-06", "2026-01-07")
# Each run's new rows go to a file group of their own.
APART = {"hoodie.parquet.small.file.limit": "0", "hoodie.merge.small.file.group.candidates.limit": "0"}
# A negative amount deletes its key.
DELETING = "SELECT id, ts, amount, day, amount < 0 AS _hoodie_is_deleted FROM <SRC>"


def moved(key: str, ts: int, day: str, amount: str = "1") -> list[Row]:
    """Return one row of a day: the raw table keeps one for each day of a key."""
    return rows((key, ts, amount), day=day)


def commits(hlake: HBaseLake) -> dict[str, str]:
    """Return the commit that each key's entry names."""
    with hlake.cluster() as cluster:
        return {row.key: row.commit for row in hbase_entries(hlake.spark, cluster).collect()}


def written(hlake: HBaseLake) -> set[str]:
    """Return the file ids that the newest commit wrote, by its own metadata."""
    state = hlake.state()
    return {one.rpartition("/")[2] for one in state.info(state.commits[-1]).file_ids}


@pytest.mark.parametrize("kind", TYPES)
def test_updates_go_where_the_index_says_and_new_keys_alone_write_to_it(hlake: HBaseLake, kind: str) -> None:
    hlake.pipeline(table_type=kind, hoodie=APART)
    for head in ("a", "b", "c"):
        hlake.land(rows(*((f"{head}{n}", 1, "1") for n in range(20))))
        hlake.run_ok()
    before, first = hlake.places(), commits(hlake)
    assert len({before[key] for key in ("a0", "b0", "c0")}) == 3, "a file group for each run's keys"
    assert hlake.entries() == before

    hlake.land(rows(("a3", 2, "9"), ("c7", 2, "9"), ("d1", 2, "9")))
    done = hlake.run_ok()
    assert (done.updates, done.inserts) == (2, 1)
    after, second = hlake.places(), commits(hlake)
    assert {key: after[key] for key in before} == before
    assert written(hlake) == {before["a3"][1], before["c7"][1], after["d1"][1]}
    assert {key: second[key] for key in first} == first, "an update writes no entry"
    assert hlake.entries() == after
    assert [row for row in hlake.rows() if row[1] == 2] == rows(("a3", 2, "9"), ("c7", 2, "9"), ("d1", 2, "9"))
    assert hlake.verify().agrees


@pytest.mark.parametrize("kind", TYPES)
def test_a_key_that_moves_and_comes_back_is_one_row(hlake: HBaseLake, kind: str) -> None:
    hlake.pipeline(table_type=kind)
    hlake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    hlake.run_ok()
    for ts, day in enumerate((DAYS[1], DAYS[2], DAYS[0]), start=2):
        hlake.land(moved("a", ts, day))
        hlake.run_ok()
        assert hlake.rows() == moved("a", ts, day) + rows(("b", 1, "1"))
        assert hlake.places()["a"][0] == day
        hlake.agree()


@pytest.mark.parametrize("kind", TYPES)
def test_of_a_key_in_two_partitions_of_one_batch_the_newest_is_kept(hlake: HBaseLake, kind: str) -> None:
    hlake.pipeline(table_type=kind)
    hlake.land(moved("a", 1, DAYS[0]) + moved("a", 3, DAYS[1]) + moved("a", 2, DAYS[2]))
    hlake.run_ok()
    assert hlake.rows() == moved("a", 3, DAYS[1])
    hlake.land(moved("a", 5, DAYS[2]) + moved("a", 4, DAYS[0]))
    hlake.run_ok()
    assert hlake.rows() == moved("a", 5, DAYS[2])
    hlake.agree()


@pytest.mark.parametrize("kind", TYPES)
def test_a_delete_takes_the_entry_and_the_key_may_come_back(hlake: HBaseLake, kind: str) -> None:
    hlake.pipeline(sql=DELETING, columns=DELETES, table_type=kind)
    hlake.land(rows(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1")))
    hlake.run_ok()
    hlake.land(rows(("a", 2, "-1"), ("b", 2, "-1")))
    assert hlake.run_ok().deletes == 2
    assert set(hlake.entries()) == {"c"}
    assert hlake.rows("derived.copy", "id") == [("c",)]
    # One into its old partition, one into another.
    hlake.land(rows(("a", 3, "3")) + moved("b", 3, DAYS[1], "3"))
    hlake.run_ok()
    assert hlake.rows("derived.copy", "id", "ts", "day") == [("a", 3, DAYS[0]), ("b", 3, DAYS[1]), ("c", 1, DAYS[0])]
    hlake.agree()
    assert hlake.verify().agrees


@pytest.mark.parametrize("kind", TYPES)
def test_the_lower_ordering_value_loses(hlake: HBaseLake, kind: str) -> None:
    # The ordering field of the target is the amount, so that the source hands older rows on.
    hlake.pipeline(sql="SELECT id, CAST(amount AS BIGINT) AS ts, amount, day FROM <SRC>", table_type=kind)
    hlake.land(rows(("a", 1, "5"), ("b", 1, "5")))
    hlake.run_ok()
    hlake.land(rows(("a", 2, "3"), ("b", 2, "7")))
    hlake.run_ok()
    assert hlake.rows("derived.copy", "id", "ts") == [("a", 5), ("b", 7)]


@pytest.mark.parametrize("kind", TYPES)
def test_the_lower_ordering_value_loses_in_another_partition_too(hlake: HBaseLake, kind: str) -> None:
    hlake.pipeline(sql="SELECT id, CAST(amount AS BIGINT) AS ts, amount, day FROM <SRC>", table_type=kind)
    hlake.land(rows(("a", 1, "5"), ("b", 1, "5")))
    hlake.run_ok()
    hlake.land(moved("a", 2, DAYS[1], "3") + moved("b", 2, DAYS[1], "7"))
    hlake.run_ok()
    assert hlake.rows("derived.copy", "id", "ts", "day") == [("a", 5, DAYS[0]), ("b", 7, DAYS[1])]
    hlake.agree()


@pytest.mark.parametrize("kind", TYPES)
def test_services_leave_the_index_right(hlake: HBaseLake, kind: str) -> None:
    hlake.pipeline(table_type=kind, hoodie=APART)
    for head in ("a", "b"):
        hlake.land(rows(*((f"{head}{n}", 1, "1") for n in range(10))))
        hlake.run_ok()
    hlake.land(rows(("a3", 2, "2"), ("b3", 2, "2")))
    hlake.run_ok()
    before, whole = hlake.places(), hlake.rows()
    if kind == "mor":
        assert freshet(hlake, "service", "copy", "--only", "compact")["done"]["compact"] != "nothing to do"
        assert (hlake.places(), hlake.rows()) == (before, whole)
        hlake.agree()
    assert freshet(hlake, "service", "copy", "--only", "cluster")["done"]["cluster"] != "nothing to do"
    # One new file group in place of the two; each row's entry names it.
    assert {file for _, file in hlake.places().values()}.isdisjoint(file for _, file in before.values())
    assert hlake.rows() == whole
    hlake.agree()

    hlake.land(rows(("a3", 3, "3"), ("b7", 3, "3"), ("new", 3, "3")) + moved("a4", 3, DAYS[1]))
    hlake.run_ok()
    kept = [row for row in whole if row[0] not in ("a3", "a4", "b7")]
    new = rows(("a3", 3, "3"), ("b7", 3, "3"), ("new", 3, "3")) + moved("a4", 3, DAYS[1])
    assert hlake.rows() == sorted([*kept, *new], key=str)
    hlake.agree()


def test_the_operation_delete_takes_rows_and_entries(hlake: HBaseLake) -> None:
    """Several at once, one that stands in another partition than the batch says, and one that is not there."""
    hlake.pipeline()
    hlake.land(rows(*((key, 1, "1") for key in "abcdef")))
    hlake.run_ok()
    hlake.pipeline(hoodie={"hoodie.datasource.write.operation": "delete"})
    hlake.land(rows(("a", 2, "1"), ("b", 2, "1"), ("c", 2, "1"), ("zz", 2, "1")) + moved("d", 2, DAYS[1]))
    hlake.run_ok()
    assert [row[0] for row in hlake.rows()] == ["e", "f"]
    hlake.agree()
    hlake.land(rows(("e", 3, "1")))
    hlake.run_ok()
    assert [row[0] for row in hlake.rows()] == ["f"]
    hlake.agree()
    hlake.pipeline()
    hlake.land(rows(("a", 4, "4"), ("f", 4, "4")))
    hlake.run_ok()
    assert hlake.rows() == rows(("a", 4, "4"), ("f", 4, "4"))
    hlake.agree()
