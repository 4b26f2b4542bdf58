"""``freshet index migrate``: a table that stands gets another index, and neither rows, checkpoint nor readers notice."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.kit.commands import freshet, many, refused
from tests.kit.hbase import Admin, HBaseLake
from tests.kit.lake import RECORD_INDEX, rows

BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 2}
SETTINGS: Mapping[str, Mapping[str, object] | None] = {"bucket": BUCKET, "record_index": RECORD_INDEX, "hbase": None}
DAYS = ("2026-01-05", "2026-01-06")


class Story:
    """A table and its downstream reader, followed through changes of its index."""

    def __init__(self, lake: HBaseLake, table_type: str) -> None:
        self.lake, self.table_type, self.ts = lake, table_type, 1
        self.expected: dict[str, tuple[int, str]] = {}

    def declare(self, index: str, **more: object) -> None:
        """Write the pipeline with an index."""
        self.lake.pipeline(table_type=self.table_type, hoodie={**(SETTINGS[index] or {}), **more})

    def land(self, *keys: int, day: str = DAYS[0]) -> None:
        """Land a commit that updates or inserts these keys."""
        self.ts += 1
        batch = rows(*((f"k{key:06d}", self.ts, "2") for key in keys), day=day)
        self.lake.land(batch)
        self.expected |= {row[0]: (row[1], row[3]) for row in batch}

    def check(self) -> None:
        """Hold the table and what its reader made of it against what was landed."""
        wanted = sorted((key, ts, day) for key, (ts, day) in self.expected.items())
        assert self.lake.rows("derived.copy", "id", "ts", "day") == wanted
        assert len(self.lake.places()) == len(wanted)
        assert self.lake.run("down").error is None
        assert self.lake.rows("derived.down", "id", "ts", "day") == wanted

    def migrate(self, to: str, **more: object) -> None:
        """Change the files and the table, with a commit waiting in the source."""
        position = self.lake.position()
        self.declare(to, **more)
        assert refused(self.lake, "run", "copy")["code"] == "INDEX_CHANGED"
        done = freshet(self.lake, "index", "migrate", "copy", "--to", to)
        assert done["done"] == "migrated"
        assert self.lake.position() == position
        again = freshet(self.lake, "index", "migrate", "copy", "--to", to)
        assert "nothing to do" in again["done"]
        run = freshet(self.lake, "run", "copy")["runs"][0]
        assert (run["outcome"], self.lake.position() > position) == ("committed", True)
        self.check()


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_an_index_after_the_other(hlake: HBaseLake, table_type: str) -> None:
    story = Story(hlake, table_type)
    story.declare("bucket")
    hlake.pipeline("down", source="derived.copy", hoodie={"hoodie.index.type": "RECORD_INDEX"})
    hlake.land(many(30))
    story.expected = {f"k{n:06d}": (1, DAYS[0]) for n in range(30)}
    hlake.run_ok()
    story.check()

    story.land(1, 2, 100)
    story.migrate("hbase")
    story.land(2, 3, 101, day=DAYS[1])
    story.migrate("record_index")
    assert freshet(hlake, "index", "verify", "copy")["agrees"]
    story.land(3, 4, 102)
    story.migrate("hbase")
    assert freshet(hlake, "index", "verify", "copy")["agrees"]
    # Back to buckets: the pipeline promises that from now on no key moves.
    story.land(5, 6, 103)
    story.migrate("bucket")
    story.land(7, 8, 104)
    story.migrate("bucket", **{"hoodie.bucket.index.num.buckets": 3})
    buckets = {file[:8] for partition, file in hlake.places().values() if partition == DAYS[0]}
    assert buckets == {"00000000", "00000001", "00000002"}


def test_what_the_files_do_not_say_is_refused(hlake: HBaseLake) -> None:
    hlake.pipeline()
    hlake.land(many(3))
    assert refused(hlake, "index", "migrate", "copy", "--to", "hbase")["code"] == "TARGET_MISSING"
    hlake.run_ok()
    assert refused(hlake, "index", "migrate", "copy", "--to", "record_index")["code"] == "INDEX_NOT_DECLARED"


def test_a_key_that_stands_twice_is_named(hlake: HBaseLake) -> None:
    hlake.pipeline(hoodie=BUCKET)
    hlake.land(many(5))
    hlake.run_ok()
    # The promise of a stable partition is broken: a bucket index does not find the row in the other partition.
    hlake.land(rows(("k000003", 2, "2"), day=DAYS[1]))
    hlake.run_ok()
    hlake.pipeline()
    error = refused(hlake, "index", "migrate", "copy", "--to", "hbase")
    assert (error["code"], "k000003" in error["message"]) == ("KEY_TWICE", True)
    with Admin(hlake) as admin:
        assert not admin.exists()
    hlake.pipeline(hoodie=BUCKET)
    hlake.land(rows(("z", 3, "3")))
    assert hlake.run_ok().outcome == "committed", "the table is as it was"
