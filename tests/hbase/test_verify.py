"""``freshet index verify`` and ``rebuild``: what is wrong with an index is told and mended, a lost one is made anew."""

from __future__ import annotations

import pytest

from freshet.dev.hbase.look import HBase
from freshet.events.event import Event
from freshet.hudi.timeline import TimelineState
from freshet.index.ops.check import verify_index
from tests.kit.commands import freshet, many, refused
from tests.kit.hbase import Admin, HBaseLake
from tests.kit.lake import RECORD_INDEX, rows

CLEAN = {"missing": 0, "stale": 0, "orphaned": 0}


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_three_kinds_of_damage_are_found_told_and_mended(hlake: HBaseLake, table_type: str) -> None:
    hlake.pipeline(table_type=table_type)
    hlake.land(many(40))
    hlake.run_ok()
    hlake.land([*many(5, ts=2), *rows(("k000006", 2, "2"), day="2026-01-06")])
    hlake.run_ok()
    assert freshet(hlake, "index", "verify", "copy")["found"] == CLEAN
    places = hlake.places()
    with Admin(hlake) as admin:
        admin.delete("k000001")
        admin.put("k000002", partition="2026-01-09", file=places["k000002"][1])
        admin.put("k000003", partition="2026-01-05", file="00000000-dead-beef-0000-000000000000-0")
        admin.put("nobody", partition="2026-01-05", file=places["k000002"][1])
    found = freshet(hlake, "index", "verify", "copy", code=7)
    assert (found["found"], found["agrees"], found["repaired"]) == ({"missing": 1, "stale": 2, "orphaned": 1}, False, 0)
    told = {text.split()[0] + text.split()[1]: text for text in found["samples"]}
    assert set(told) == {"missing:k000001", "stale:k000002", "stale:k000003", "orphaned:nobody"}
    assert all(part in told["stale:k000002"] for part in ("'2026-01-05'", "'2026-01-09'", places["k000002"][1]))
    assert "00000000-dead-beef-0000-000000000000-0" in told["stale:k000003"]
    # A share of the keys, by their hash: the same ones each time.
    some = [freshet(hlake, "index", "verify", "copy", "--sample", "0.5", code=code)["found"] for code in _codes(hlake, 0.5)]
    assert some[0] == some[1]
    assert all(some[0][kind] <= found["found"][kind] for kind in CLEAN)

    mended = freshet(hlake, "index", "verify", "copy", "--repair")
    assert (mended["found"], mended["repaired"], mended["agrees"]) == (found["found"], 4, True)
    assert freshet(hlake, "index", "verify", "copy")["found"] == CLEAN
    hlake.agree()
    # What was mended is what updates go by.
    hlake.land(rows(*((f"k00000{n}", 9, "9") for n in (1, 2, 3)), ("nobody", 9, "9")))
    hlake.run_ok()
    after = hlake.places()
    assert {key: after[key] for key in places} == places
    hlake.agree()


def _codes(lake: HBaseLake, sample: float) -> tuple[int, int]:
    code = 0 if lake.verify(sample=sample).agrees else 7
    return code, code


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_record_index_is_compared_and_made_anew(hlake: HBaseLake, table_type: str) -> None:
    hlake.pipeline(table_type=table_type, hoodie=RECORD_INDEX)
    hlake.land(many(20))
    hlake.run_ok()
    hlake.land([*many(5, ts=2), *rows(("k000006", 2, "2"), day="2026-01-06")])
    hlake.run_ok()
    clean = freshet(hlake, "index", "verify", "copy")
    assert (clean["found"], clean["rows"], clean["index"]) == (CLEAN, 20, "RECORD_INDEX")

    # Another writer that keeps no record index adds a row, and the table then says that it has none.
    hlake.land(
        rows(("new", 1, "1")),
        "upsert",
        "derived.copy",
        **{
            "hoodie.metadata.enable": "true",
            "hoodie.index.type": "GLOBAL_SIMPLE",
            "hoodie.metadata.record.index.enable": "false",
            "hoodie.datasource.write.table.type": "MERGE_ON_READ" if table_type == "mor" else "COPY_ON_WRITE",
        },
    )
    error = refused(hlake, "index", "verify", "copy")
    assert (error["code"], "--repair" in error["next"]) == ("INDEX_MISSING", True)
    mended = freshet(hlake, "index", "verify", "copy", "--repair")
    assert mended["agrees"]
    assert freshet(hlake, "index", "verify", "copy")["found"] == CLEAN
    places = hlake.places()
    hlake.land(rows(("new", 5, "5"), ("k000003", 5, "5"), day="2026-01-09"))
    hlake.run_ok()
    assert len(hlake.places()) == len(places) == 21
    assert [row[3] for row in hlake.rows() if row[0] in ("new", "k000003")] == ["2026-01-09"] * 2


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_lost_index_is_made_anew_from_the_rows(hlake: HBaseLake, table_type: str) -> None:
    hlake.pipeline(table_type=table_type)
    hlake.land(many(30))
    hlake.run_ok()
    hlake.land(rows(("k000003", 2, "2"), day="2026-01-06"))
    hlake.run_ok()
    position, places = hlake.position(), hlake.places()
    with Admin(hlake) as admin:
        admin.drop()
    hlake.land(rows(("k000003", 3, "3"), ("k000004", 3, "3"), ("n", 3, "3"), day="2026-01-07"))
    for words in (("run", "copy"), ("index", "verify", "copy")):
        error = refused(hlake, *words)
        assert (error["code"], "freshet index rebuild copy" in error["next"]) == ("INDEX_MISSING", True)
    assert (hlake.position(), hlake.places()) == (position, places)
    done = freshet(hlake, "index", "rebuild", "copy")
    assert done["entries"] == 30
    assert hlake.position() == position
    run = freshet(hlake, "run", "copy")["runs"][0]
    assert run["outcome"] == "committed"
    assert len(hlake.places()) == 31
    assert {row[0] for row in hlake.rows() if row[3] == "2026-01-07"} == {"k000003", "k000004", "n"}
    assert freshet(hlake, "index", "verify", "copy")["found"] == CLEAN


def test_an_index_moves_to_another_cluster(hlake: HBaseLake, second: HBase) -> None:
    hlake.pipeline()
    hlake.land(many(20))
    hlake.run_ok()
    there = second.hoodie
    done = freshet(hlake, "index", "rebuild", "copy", "--to", f"{there['hoodie.index.hbase.zkquorum']}:{second.port}")
    assert (done["entries"], str(second.port) in done["done"]) == (20, True)
    # The files still name the old one, whose entries nobody keeps any longer.
    hlake.land(rows(("k000001", 2, "2"), ("n", 2, "2"), day="2026-01-06"))
    error = refused(hlake, "run", "copy")
    assert error["code"] == "INDEX_REPLACED"
    assert len(hlake.places()) == 20
    hlake.pipeline(hoodie=there)
    run = freshet(hlake, "run", "copy")["runs"][0]
    assert (run["outcome"], run["inserts"], run["moves"]) == ("committed", 1, 1)
    assert len(hlake.places()) == 21
    hlake.agree()
    assert freshet(hlake, "index", "verify", "copy")["found"] == CLEAN
    # And back, to a table that has stood there since.
    hlake.pipeline()
    hlake.land(rows(("k000002", 3, "3"), day="2026-01-07"))
    assert refused(hlake, "run", "copy")["code"] == "INDEX_REPLACED"
    freshet(hlake, "index", "rebuild", "copy")
    hlake.run_ok()
    hlake.agree()


def test_no_run_writes_while_an_index_is_made(hlake: HBaseLake) -> None:
    from freshet.index.hbase.building import Layout
    from freshet.index.ops.make import rebuild_index

    hlake.pipeline()
    hlake.land(many(20))
    hlake.run_ok()
    hlake.land(rows(("n", 2, "2")))
    codes: list[str] = []

    def listen(event: Event) -> None:
        # From the beginning of the load on, another machine that shares no lease file asks.
        if event.message.startswith("loading"):
            codes.append(refused(hlake, "run", "copy", code=4)["code"])

    project = hlake.project("copy")
    rebuild_index(project, project.pipelines[0], TimelineState(), listen, Layout())
    assert codes == ["ALREADY_RUNNING"]
    # And one whose making was killed stays closed.
    with hlake.cluster() as cluster:
        cluster.set_state("building")
    error = refused(hlake, "run", "copy", code=4)
    assert (error["code"], error["retryable"], "freshet index rebuild copy" in error["next"]) == ("INDEX_BUILDING", True, True)
    assert refused(hlake, "index", "verify", "copy", code=4)["code"] == "INDEX_BUILDING"
    freshet(hlake, "index", "rebuild", "copy")
    hlake.run_ok()
    hlake.agree()


def test_a_bucket_index_has_nothing_to_verify(hlake: HBaseLake) -> None:
    hlake.pipeline(hoodie={"hoodie.index.type": "BUCKET"})
    hlake.land(many(3))
    assert refused(hlake, "index", "verify", "copy")["code"] == "NO_GLOBAL_INDEX"
    assert refused(hlake, "index", "rebuild", "copy")["code"] == "NO_HBASE_INDEX"
    hlake.pipeline()
    assert refused(hlake, "index", "verify", "copy")["code"] == "TARGET_MISSING"
    project = hlake.project("copy")
    with pytest.raises(Exception, match="TARGET_MISSING"):
        verify_index(project, project.pipelines[0], TimelineState(), hlake.events.append)
