"""The first load by ``freshet index bootstrap``: no key is looked up, and what comes after finds every row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from freshet.errors import StateError
from freshet.events.event import Event
from freshet.hudi.timeline import TimelineState
from freshet.index.hbase.building import Layout
from freshet.index.ops.make import bootstrap_index
from tests.kit.commands import ended, freshet, kill_when, many, refused, start
from tests.kit.hbase import DELETES, Admin, HBaseLake
from tests.kit.lake import rows

RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.metadata.record.index.min.filegroup.count": 1,
    "hoodie.metadata.record.index.max.filegroup.count": 1,
}
WITH_DELETES = "SELECT id, ts, amount, id LIKE 'gone%' AS _hoodie_is_deleted, day FROM <SRC>"
# What a transformer makes of one event: the same key in two partitions, and the older of them last.
TWICE = (
    "SELECT id, ts, amount, day FROM <SRC> UNION ALL "
    "SELECT id, ts - 1, amount + 100, '2026-02-02' FROM <SRC> UNION ALL "
    "SELECT id, ts + 1, amount + 10, '2026-03-03' FROM <SRC> WHERE id = 'b'"
)


@pytest.mark.parametrize("index", ["HBASE", "RECORD_INDEX"])
@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_first_load_and_what_comes_after_it(hlake: HBaseLake, table_type: str, index: str) -> None:
    hlake.pipeline(table_type=table_type, hoodie=RECORD_INDEX if index == "RECORD_INDEX" else None)
    hlake.land(rows(("a", 1, "1"), ("b", 1, "1"), ("ü", 1, "1"), ("c" * 900, 1, "1")))
    hlake.land(rows(("d", 1, "1"), day="2026-01-06"))
    hlake.write_file("transformers/copy.sql", TWICE)
    done = freshet(hlake, "index", "bootstrap", "copy")
    assert (done["done"], done["index"], done["rows"]) == ("bootstrapped", index, 5)
    # Of rows with one key the one with the highest ordering value was written, wherever the others wanted to lie.
    assert [(row[0], row[1], row[3]) for row in hlake.rows()] == [
        ("a", 1, "2026-01-05"),
        ("b", 2, "2026-03-03"),
        ("c" * 900, 1, "2026-01-05"),
        ("d", 1, "2026-01-06"),
        ("ü", 1, "2026-01-05"),
    ]
    if index == "HBASE":
        assert done["entries"] == 5
        hlake.agree()
    assert freshet(hlake, "index", "verify", "copy")["agrees"]
    assert "nothing to do" in freshet(hlake, "index", "bootstrap", "copy")["done"]

    # An update, an older row that loses, a key that moves, a new key; the checkpoint stands behind the load.
    hlake.write_file("transformers/copy.sql", "SELECT id, ts, amount, day FROM <SRC>")
    before = hlake.places()
    hlake.land([*rows(("a", 5, "5")), *rows(("b", 1, "77"), day="2026-03-03")])
    hlake.land([*rows(("ü", 5, "5"), day="2026-01-06"), *rows(("n", 5, "5"))])
    run = freshet(hlake, "run", "copy")["runs"][0]
    assert run["outcome"] == "committed"
    assert [(row[0], row[1], row[3]) for row in hlake.rows()] == [
        ("a", 5, "2026-01-05"),
        ("b", 2, "2026-03-03"),
        ("c" * 900, 1, "2026-01-05"),
        ("d", 1, "2026-01-06"),
        ("n", 5, "2026-01-05"),
        ("ü", 5, "2026-01-06"),
    ]
    after = hlake.places()
    assert {key: after[key] for key in before if key != "ü"} == {key: place for key, place in before.items() if key != "ü"}, (
        "an update goes to the file group that the index names"
    )
    assert freshet(hlake, "index", "verify", "copy")["agrees"]
    assert freshet(hlake, "run", "copy")["runs"][0]["outcome"] == "idle"


@pytest.mark.parametrize("index", ["HBASE", "RECORD_INDEX"])
def test_an_older_row_of_another_partition_loses(hlake: HBaseLake, index: str) -> None:
    hlake.pipeline(hoodie=RECORD_INDEX if index == "RECORD_INDEX" else None)
    hlake.land(rows(("a", 5, "5")))
    freshet(hlake, "index", "bootstrap", "copy")
    hlake.land(rows(("a", 1, "1"), day="2026-01-06"))
    hlake.run_ok()
    assert [(row[0], row[1], row[3]) for row in hlake.rows()] == [("a", 5, "2026-01-05")]


@pytest.mark.parametrize("words", [("index", "bootstrap", "copy"), ("run", "copy")])
def test_ended_between_the_rows_and_their_record_index(hlake: HBaseLake, words: tuple[str, ...]) -> None:
    hlake.pipeline(hoodie=RECORD_INDEX)
    hlake.land(many(20))
    project = hlake.project("copy")

    def end(event: Event) -> None:
        if event.message.startswith("making the record index"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        bootstrap_index(project, project.pipelines[0], TimelineState(), end, Layout())
    assert len(hlake.rows()) == 20
    assert refused(hlake, "index", "verify", "copy")["code"] == "INDEX_MISSING"
    hlake.land(rows(("k000007", 2, "2"), ("new", 2, "2"), day="2026-01-07"))
    freshet(hlake, *words)
    assert freshet(hlake, "index", "verify", "copy")["agrees"]
    hlake.run_ok()
    assert [row[3] for row in hlake.rows() if row[0] in ("new", "k000007")] == ["2026-01-07"] * 2
    assert len(hlake.rows()) == 21
    assert freshet(hlake, "index", "verify", "copy")["agrees"]


def test_no_key_is_looked_up_during_the_load(hlake: HBaseLake) -> None:
    hlake.pipeline(columns=DELETES, sql=WITH_DELETES)
    hlake.land([*many(300), *rows(("gone1", 1, "1"))])
    project = hlake.project("copy")
    seen: list[tuple[int, int]] = []

    with Admin(hlake) as admin:
        # A table that stands already, so that there is something that counts.
        admin.create_by_hand()

        def listen(event: Event) -> None:
            if event.message.startswith("counting the keys"):
                seen.append(admin.requests())

        done = bootstrap_index(project, project.pipelines[0], TimelineState(), listen, Layout())
        assert seen == [(0, 0)]
        assert done.rows == done.entries == 300
        assert len(hlake.rows()) == 300, "a row that is marked as deleted is not written"
        # The counters do count: an update is looked up.
        before = admin.requests()
        hlake.land([*many(10, ts=2), *rows(("gone1", 2, "1"))])
        hlake.run_ok()
        assert admin.requests()[0] - before[0] >= 11
    hlake.agree()


def test_a_bad_row_fails_the_first_load_and_nothing_is_published(hlake: HBaseLake) -> None:
    hlake.pipeline(top="checks:\n- {name: paid, severity: fail, where: amount < 0}\n")
    hlake.land(rows(("a", 1, "-1"), ("b", 1, "1")))
    error = refused(hlake, "index", "bootstrap", "copy", code=7)
    assert error["code"] == "CHECK_FAILED"
    assert TimelineState().table(hlake.spec().target.ref) is None or not hlake.state().commits
    with Admin(hlake) as admin:
        assert not admin.exists()
    hlake.land(rows(("a", 2, "1")))
    assert freshet(hlake, "index", "bootstrap", "copy")["entries"] == 2
    hlake.agree()


def test_a_codec_that_the_cluster_lacks_is_named(hlake: HBaseLake) -> None:
    hlake.pipeline()
    with hlake.cluster() as cluster, pytest.raises(StateError, match="cannot compress by zstd") as refusal:
        cluster.create([], {}, "ZSTD")
    assert (refusal.value.code, "--compression gz" in refusal.value.next_step) == ("HBASE_CODEC", True)
    with Admin(hlake) as admin:
        assert not admin.exists()


def test_hfiles_follow_from_the_size_and_regions_from_the_hfiles(hlake: HBaseLake) -> None:
    hlake.pipeline()
    hlake.land(many(25_000), "bulk_insert")
    done = freshet(hlake, "index", "bootstrap", "copy", "--hfile-mb", "1", "--compression", "none", "--encoding", "prefix")
    assert done["entries"] == 25_000
    assert 2 <= done["hfiles"] <= 8
    with Admin(hlake) as admin:
        assert admin.family() == ("NONE", "PREFIX", 3, "ROW")
        regions = admin.regions()
        assert [files for _, files in regions] == [1] * done["hfiles"], "a region an HFile, none split while loaded"
    assert regions[0][0] == b""
    keys = sorted(hlake.entries())
    assert len(keys) == 25_000
    assert all(first.decode() in keys for first, _ in regions[1:])
    none = freshet(hlake, "index", "rebuild", "copy", "--hfile-mb", "1", "--compression", "none", "--encoding", "none")
    assert (none["hfiles"] > done["hfiles"], none["bytes"] > done["bytes"]) == (True, True)
    with Admin(hlake) as admin:
        assert admin.family()[:2] == ("NONE", "NONE")
    small = freshet(hlake, "index", "rebuild", "copy")
    assert small["bytes"] < done["bytes"] / 2
    with Admin(hlake) as admin:
        assert (len(admin.regions()), admin.family()[:2]) == (1, ("GZ", "FAST_DIFF"))


def test_hfiles_are_written_with_the_projects_hadoop_settings(hlake: HBaseLake) -> None:
    hlake.pipeline()
    hlake.land(many(3))
    # HBase's writer of bloom filters, whom nobody else asks for, takes no word for a number: the tasks that write HFiles
    # know what the project sets.
    process = start(hlake, "index", "bootstrap", "copy", settings=["spark.spark.hadoop.io.storefile.bloom.error.rate=low"])
    error = ended(process, code=1)["error"]
    assert (error["code"], '"low"' in error["message"]) == ("INDEX_NOT_WRITTEN", True)
    assert freshet(hlake, "index", "bootstrap", "copy")["entries"] == 3
    hlake.agree()


def test_a_target_with_other_commits_is_refused(hlake: HBaseLake) -> None:
    hlake.pipeline()
    hlake.land(many(3))
    hlake.land(many(3), "upsert", "derived.copy", **{"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.metadata.enable": "true"})
    error = refused(hlake, "index", "bootstrap", "copy")
    assert (error["code"], "freshet index rebuild copy" in error["next"]) == ("TARGET_NOT_EMPTY", True)
    hlake.pipeline(hoodie={"hoodie.index.type": "BUCKET"})
    error = refused(hlake, "index", "bootstrap", "copy")
    assert (error["code"], "freshet index migrate --to bucket copy" in error["next"]) == ("TARGET_NOT_EMPTY", True)


def loading(lake: HBaseLake, admin: Admin) -> bool:
    """The bulk insert is under way."""
    return any((lake.root / "derived/copy/.hoodie/timeline").glob("*.inflight"))


def writing(lake: HBaseLake, admin: Admin) -> bool:
    """An HFile is being written, and beside it the table was made."""
    return admin.exists() and any((lake.root / "derived/copy/.hoodie/.freshet_index").rglob("unfinished/*"))


def building(lake: HBaseLake, admin: Admin) -> bool:
    """An HFile is whole, and none is loaded."""
    return admin.exists() and any((lake.root / "derived/copy/.hoodie/.freshet_index").rglob("hfiles/_s/*"))


def loaded(lake: HBaseLake, admin: Admin) -> bool:
    """The HFiles are in the index table, which is not ready yet."""
    return admin.exists() and admin.hfiles() > 0


@pytest.mark.parametrize(
    ("point", "then"),
    [
        (loading, ""),
        (writing, "INDEX_BUILDING"),
        (building, "INDEX_BUILDING"),
        (loaded, "INDEX_BUILDING"),
    ],
)
def test_killed_anywhere_and_repeated(hlake: HBaseLake, point: Callable[[HBaseLake, Admin], bool], then: str) -> None:
    hlake.pipeline()
    hlake.land(many(20_000), "bulk_insert")
    process = start(hlake, "index", "bootstrap", "copy")
    with Admin(hlake) as admin:
        # Loaded it is for a moment only, which a busy machine misses.
        kill_when(lambda: point(hlake, admin) or (point is loaded and process.poll() == 0), process)
    if then:
        # A moment too late it was done; up to its last step, by which the table is marked as ready, both are the same.
        with hlake.cluster() as cluster:
            cluster.set_state("building")
    hlake.land(rows(("k000007", 2, "2"), ("new", 2, "2"), day="2026-01-07"))
    if then:
        error = refused(hlake, "run", "copy", code=4)
        assert (error["code"], "freshet index rebuild copy" in error["next"]) == (then, True)
    else:
        assert not hlake.state().commits
    done = freshet(hlake, "index", "bootstrap", "copy")
    # A load that was killed is begun anew, with what has come since.
    assert (done["done"], done["entries"]) == ("bootstrapped", 20_000 if then else 20_001)
    assert not (hlake.root / "derived/copy/.hoodie/.freshet_index").exists()
    assert hlake.run_ok().outcome == ("committed" if then else "idle")
    assert freshet(hlake, "index", "verify", "copy")["found"] == {"missing": 0, "stale": 0, "orphaned": 0}
    places = hlake.places()
    assert (len(places), places["k000007"][0], places["new"][0]) == (20_001, "2026-01-07", "2026-01-07")
