"""Whose index is it, and is it whole? What a run does before it writes through an HBASE index."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from freshet.run.result import RunResult
from tests.kit.hbase import Admin, HBaseLake
from tests.kit.lake import rows

FIRST = rows(("a", 1, "1"), ("b", 1, "1"))


def by_hand(hlake: HBaseLake, family: str, versions: int) -> None:
    """Make the index table as somebody might in HBase's shell."""
    hbase = hlake.spark._jvm.org.apache.hudi.org.apache.hadoop.hbase  # type: ignore[union-attr]
    with hlake.cluster() as cluster:
        conf = hbase.HBaseConfiguration.create()
        for key, value in cluster.settings.items():
            conf.set(key, value)
        connection = hbase.client.ConnectionFactory.createConnection(conf)
        try:
            made = hbase.client.ColumnFamilyDescriptorBuilder.newBuilder(family.encode()).setMaxVersions(versions).build()
            table = hbase.client.TableDescriptorBuilder.newBuilder(hbase.TableName.valueOf(cluster.spec.table))
            connection.getAdmin().createTable(table.setColumnFamily(made).build())
        finally:
            connection.close()


def run_refused(hlake: HBaseLake, name: str = "copy") -> RunResult:
    """Run a pipeline that has rows to read, and hold its table to what it was."""
    table = f"derived.{name}"
    exists = (hlake.root / table.replace(".", "/") / ".hoodie").exists()
    before = (hlake.rows(table), hlake.position(table), hlake.state(table).instants) if exists else None
    hlake.land(rows(("a", 9, "9"), ("z", 9, "9")))
    done = hlake.run(name)
    assert done.outcome == "failed"
    assert (hlake.root / table.replace(".", "/") / ".hoodie").exists() == exists
    assert before == ((hlake.rows(table), hlake.position(table), hlake.state(table).instants) if exists else None)
    return done


def error_of(hlake: HBaseLake, name: str = "copy") -> tuple[str, str]:
    """Return the code of the error that a run ends with, and the command that the user is told."""
    error = run_refused(hlake, name).error
    assert error is not None
    return error.code, error.next_step


@pytest.fixture
def filled(hlake: HBaseLake) -> HBaseLake:
    """A target with two rows and their entries."""
    hlake.pipeline()
    hlake.land(FIRST)
    hlake.run_ok()
    return hlake


def test_the_first_run_makes_the_table_in_regions_that_keep_three_versions(filled: HBaseLake) -> None:
    with Admin(filled) as admin:
        assert [first for first, _ in admin.regions()] == [b"", *(bytes([n]) for n in range(0x10, 0x80, 0x10))]
        assert admin.family() == ("GZ", "FAST_DIFF", 3, "ROW")
    with filled.cluster() as cluster:
        table = cluster.describe()
    assert table is not None
    assert (table.dataset, table.state) == (filled.path("derived.copy"), "ready")


def test_an_index_that_is_gone_or_replaced_is_refused_until_it_is_rebuilt(filled: HBaseLake) -> None:
    with Admin(filled) as admin:
        admin.drop()
    assert error_of(filled) == ("INDEX_MISSING", "Make the index from the table's rows: freshet index rebuild copy")
    by_hand(filled, "_s", 3)
    code, then = error_of(filled)
    assert (code, "freshet index rebuild copy" in then) == ("INDEX_REPLACED", True)

    assert filled.rebuild().entries == 2
    filled.run_ok()
    assert filled.rows() == rows(("a", 9, "9"), ("b", 1, "1"), ("z", 9, "9"))
    filled.agree()


def test_an_index_that_is_being_made_is_waited_for(filled: HBaseLake) -> None:
    with filled.cluster() as cluster:
        cluster.set_state("building")
    done = run_refused(filled)
    assert done.error is not None
    assert (done.error.code, done.error.exit_code) == ("INDEX_BUILDING", 4)
    with filled.cluster() as cluster:
        cluster.set_state("ready")
    filled.run_ok()
    filled.agree()


def test_the_index_of_another_dataset_is_left_alone(filled: HBaseLake) -> None:
    theirs = filled.entries()
    filled.pipeline("other", hoodie={"hoodie.index.hbase.table": filled.index_table("copy")})
    assert error_of(filled, "other")[0] == "INDEX_OF_ANOTHER_TABLE"
    # Entries without freshet's note, as another tool's.
    with Admin(filled) as admin:
        admin.drop()
    by_hand(filled, "_s", 3)
    with Admin(filled) as admin:
        admin.put("x", partition="2026-01-05", file="f")
    assert error_of(filled, "other")[0] == "INDEX_OF_ANOTHER_TABLE"
    assert set(theirs) == {"a", "b"}
    assert set(filled.entries()) == {"x"}


@pytest.mark.parametrize(("family", "versions"), [("_s", 1), ("other", 3)])
def test_a_table_that_cannot_be_an_index_is_refused(hlake: HBaseLake, family: str, versions: int) -> None:
    hlake.pipeline()
    by_hand(hlake, family, versions)
    assert error_of(hlake)[0] == "INDEX_TABLE_UNFIT"


def test_a_table_made_by_hand_is_taken_by_a_first_run(hlake: HBaseLake) -> None:
    hlake.pipeline()
    by_hand(hlake, "_s", 3)
    hlake.land(FIRST)
    hlake.run_ok()
    hlake.agree()
    with Admin(hlake) as admin:
        assert len(admin.regions()) == 1, "it is still the one that was made by hand"
    hlake.land(rows(("a", 2, "2")))
    hlake.run_ok()
    assert hlake.rows() == rows(("a", 2, "2"), ("b", 1, "1"))


def test_an_empty_table_made_by_hand_is_no_index_of_rows_that_stand(hlake: HBaseLake) -> None:
    hlake.pipeline(hoodie={"hoodie.index.type": "RECORD_INDEX"})
    hlake.land(FIRST)
    hlake.run_ok()
    hlake.pipeline()
    by_hand(hlake, "_s", 3)
    assert error_of(hlake)[0] == "INDEX_CHANGED"


@contextmanager
def silent() -> Iterator[int]:
    """Give a port that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield int(listening.getsockname()[1])


# With its own retries HBase's client would ask for twenty minutes.
@pytest.mark.timeout(180)
@pytest.mark.parametrize("how", ["nobody listens", "nobody answers", "no such host", "no HBase there"])
def test_a_cluster_that_does_not_answer_is_said_quickly(filled: HBaseLake, how: str) -> None:
    with silent() as port:
        wrong: dict[str, object] = {
            "nobody listens": {"hoodie.index.hbase.zkport": 9},
            "nobody answers": {"hoodie.index.hbase.zkport": port},
            "no such host": {"hoodie.index.hbase.zkquorum": "no-such-host.invalid"},
            "no HBase there": {"hoodie.index.hbase.zknode.path": "/nothing"},
        }[how]  # type: ignore[assignment]
        filled.pipeline(hoodie=wrong)
        done = run_refused(filled)
    assert done.error is not None
    assert (done.error.code, done.error.exit_code) == ("HBASE_UNREACHABLE", 4)
    assert filled.index_table() in done.error.message
    filled.pipeline()
    filled.run_ok()
    filled.agree()
