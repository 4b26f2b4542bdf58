"""What a table's own timeline tells."""

from __future__ import annotations

from freshet.site.tables import parts_of, services_of, vector_of
from freshet.sources.hudi.position import HudiPosition
from tests.kit.memory import a_checkpoint, a_commit, a_spec, a_table_state, a_target, an_instant, at


def test_a_position_in_parts() -> None:
    hudi = HudiPosition(instant=at(10), table="/lake/raw/trips", basis="completed").as_json()
    assert dict(parts_of(hudi)) == {"table": "/lake/raw/trips", "instant": at(10), "basis": "completed"}
    topics = {"of": "orders", "topics": {"orders": {"id": "x", "offsets": {"0": 12, "1": 40}}, "empty": {"offsets": {}}}}
    assert dict(parts_of(topics)) == {"of": "orders", "topics orders id": "x", "topics orders offsets": "0: 12, 1: 40"}


def test_the_vector_begins_with_the_main_source() -> None:
    (main,) = vector_of(a_spec(), a_target((15, a_checkpoint(10))))
    assert (main.input, main.table, main.kind) == ("<SRC>", "raw.trips", "hudi")
    assert vector_of(a_spec(), a_table_state([a_commit(15)])) == ()


def test_services_by_what_the_timeline_has() -> None:
    """A compaction and a clustering end as commits, and bring no row."""
    mor = a_table_state(
        [
            a_commit(10, action="deltacommit", files=(("a.parquet", 100),), base_files=1, base_bytes=100),
            a_commit(20, operation="COMPACT"),
            a_commit(30, action="deltacommit", files=((".a.log.1", 50),)),
            a_commit(40, action="replacecommit", operation="CLUSTER"),
            a_commit(50, action="replacecommit", operation="INSERT_OVERWRITE"),
        ],
        other=[an_instant(60, action="clean"), an_instant(65, action="rollback")],
        table_type="MERGE_ON_READ",
    )
    found = services_of(mor, "")
    assert found.last == {"compaction": at(20), "clustering": at(40), "cleaning": at(60), "rollback": at(65)}
    assert (found.debt, found.commits) == (1, 5)
    assert (found.files, found.bytes) == (1, 50), "the newest commit that wrote files, and brought rows"
    cow = services_of(a_table_state([a_commit(10), a_commit(20)]), "table services")
    assert (cow.last, cow.debt, cow.files, cow.running) == ({}, None, 0, "table services")
